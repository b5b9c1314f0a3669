"""Look-ups against a plain scan, and the exact arithmetic under them."""

import math
from fractions import Fraction
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rules.arena.lookups import build_book
from rules.arena.numbers import nearest_integer, total
from rules.arena.symbols import resolve, spellings
from rules.arena.transcendentals import exp
from rules.arena.types import Candle, CoinRows, Interval
from tests.rules.arena.strategies import DAY_S, HOUR_S, START_S, candles, funding

SPAN_S = 3 * DAY_S
SEEDS = st.integers(0, 2**32)
TIMES = st.integers(START_S - HOUR_S, START_S + SPAN_S + HOUR_S)
INTERVALS = st.sampled_from(Interval)


def rows_of(seed: int) -> CoinRows:
    random = Random(seed)
    span = (START_S, START_S + SPAN_S)
    return CoinRows(candles(random, HOUR_S, *span), candles(random, 300, *span), funding(random, *span))


@given(SEEDS, INTERVALS, TIMES, TIMES, TIMES, TIMES)
def test_an_index_is_the_open_less_the_funding_summed_left_to_right(
    seed: int, interval: Interval, from_s: int, to_s: int, as_of_s: int, time_s: int
) -> None:
    rows = rows_of(seed)
    book = build_book({"BTC": rows}, interval, ["BTC"], from_s, to_s, as_of_s)
    found: Candle | None = None
    for row in rows.candles(interval):
        if from_s <= row.time_s <= min(to_s, as_of_s) and row.time_s >= time_s:
            found = row if row.time_s - time_s < interval.step_s else None
            break
    assert book.find("BTC", time_s) == found
    if found is None:
        assert book.index("BTC", time_s) is None
        return
    paid = 0.0
    for payment in rows.funding:
        if from_s - HOUR_S <= payment.time_s <= min(to_s, found.time_s):
            paid += payment.rate
    assert book.index("BTC", time_s) == found.open * exp(-paid)
    assert book.price("BTC", time_s) == found.open


@given(SEEDS, INTERVALS, TIMES, TIMES)
def test_there_and_back_is_no_move(seed: int, interval: Interval, one_s: int, other_s: int) -> None:
    far_s = START_S + 2 * SPAN_S
    book = build_book({"BTC": rows_of(seed)}, interval, ["BTC"], START_S, far_s, far_s)
    there, back = book.move("BTC", one_s, other_s), book.move("BTC", other_s, one_s)
    assert (there is None) == (back is None)
    if there is not None and back is not None:
        assert math.isclose((1 + there) * (1 + back), 1, rel_tol=1e-15)


def test_an_open_of_zero_has_no_move() -> None:
    rows = CoinRows([Candle(0, 0.0, 0.0, 0.0, 0.0), Candle(HOUR_S, 5.0, 5.0, 5.0, 5.0)])
    book = build_book({"BTC": rows}, Interval.HOURLY, ["BTC"], 0, DAY_S, DAY_S)
    assert (book.move("BTC", 0, HOUR_S), book.move("BTC", HOUR_S, 0)) == (None, None)
    assert (book.price("ETH", 0), book.index("ETH", 0), book.move("ETH", 0, 1)) == (None, None, None)


@given(st.floats(-1e18, 1e18))
def test_the_nearest_integer_has_ties_toward_plus_infinity(value: float) -> None:
    assert nearest_integer(value) == math.floor(Fraction(value) + Fraction(1, 2))


def test_the_largest_double_under_a_half_rounds_to_zero() -> None:
    assert nearest_integer(0.49999999999999994) == 0
    assert [nearest_integer(value) for value in (2.5, -2.5, -0.5)] == [3, -2, 0]


def test_a_sum_runs_left_to_right_without_compensation() -> None:
    assert total([1e16, 1.0, -1e16]) == 0.0
    assert total([0.1] * 10) == 0.9999999999999999


def test_outer_space_is_what_javascript_trims() -> None:
    known = spellings(["BTC"])
    assert resolve("\ufeff\u2003btc\u00a0", known) == "BTC"
    assert resolve("\x1cbtc", known) is None
