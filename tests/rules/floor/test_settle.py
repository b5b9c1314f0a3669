"""One attempt's decision: outcomes, holes, halts, second venue, retries and scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.floor.constants import GRACE_MS, RETRY_LIMIT_MS
from rules.floor.metric import funding_reading
from rules.floor.prices import Hole, fresh_close, holes, price_at_posting, prints_inside
from rules.floor.settle import CallFacts, Decision, VenueReading, decide, score
from rules.floor.terms import Close, Metric, Range, Relative, Terms, Touch
from rules.market import FIVE_MINUTES_MS, HOUR_MS, Candle, FundingRate

_POSTED_MS = 1_750_075_200_000
_DEADLINE_MS = _POSTED_MS + HOUR_MS
_ASKED_MS = _DEADLINE_MS + GRACE_MS


def _rows(closes: Sequence[float | None], start_ms: int = _POSTED_MS, spread: float = 0.0) -> list[Candle]:
    return [
        Candle(start_ms + place * FIVE_MINUTES_MS, close, close + spread, close - spread, close, 1.0)
        for place, close in enumerate(closes)
        if close is not None
    ]


def _facts(terms: Terms, price: float | None = 100.0) -> CallFacts:
    side = None
    if isinstance(terms, Touch) and price is not None:
        side = "up" if terms.level > price else "down"
    return CallFacts("HYPE", terms, side, _POSTED_MS, _DEADLINE_MS, price, price)  # type: ignore[arg-type]


def _decide(
    terms: Terms,
    closes: Sequence[float | None],
    second: Sequence[Candle] | None = None,
    others: Mapping[str, Sequence[float | None]] | None = None,
    asked_at_ms: int = _ASKED_MS,
    delisted_at_ms: int | None = None,
) -> Decision:
    own = _rows(closes)
    candles = {"HYPE": own, **{symbol: _rows(rows) for symbol, rows in (others or {}).items()}}
    reading = VenueReading(candles, own if second is None else second, {"HYPE": delisted_at_ms})
    return decide(_facts(terms), reading, asked_at_ms)


_FLAT: list[float | None] = [100.0] * 12


@pytest.mark.parametrize(
    ("terms", "last", "status", "value"),
    [
        (Touch(101.0), 101.0, "hit", 101.0),
        (Touch(101.0), 100.99, "miss", 100.99),
        (Touch(99.0), 99.0, "hit", 99.0),
        (Touch(99.0), 99.01, "miss", 99.01),
        (Close(101.0, "above"), 101.0, "miss", 101.0),
        (Close(101.0, "above"), 101.01, "hit", 101.01),
        (Close(99.0, "below"), 99.0, "miss", 99.0),
        (Close(99.0, "below"), 98.99, "hit", 98.99),
        (Range(99.0, 101.0), 100.5, "hit", (100.0, 100.5)),
        (Range(99.0, 101.0), 101.0, "miss", (100.0, 101.0)),
        (Range(99.0, 101.0), 99.0, "miss", (99.0, 100.0)),
    ],
)
def test_outcomes_at_their_edges(terms: Terms, last: float, status: str, value: object) -> None:
    decision = _decide(terms, [*_FLAT[:-1], last])
    assert (decision.status, decision.value, decision.second_value) == (status, value, last)
    assert decision.decided_at_ms == _ASKED_MS


def test_a_decision_before_the_grace_is_over_is_refused() -> None:
    with pytest.raises(ValueError, match=str(_ASKED_MS)):
        _decide(Touch(101.0), _FLAT, asked_at_ms=_ASKED_MS - 1)


def test_venues_half_a_percent_apart_agree_and_more_asks_again_then_voids() -> None:
    edge = _rows([100.5], _DEADLINE_MS - FIVE_MINUTES_MS)
    apart = _rows([100.51], _DEADLINE_MS - FIVE_MINUTES_MS)
    assert _decide(Touch(101.0), _FLAT, edge).status == "miss"
    waiting = _decide(Touch(101.0), _FLAT, apart, asked_at_ms=_ASKED_MS + RETRY_LIMIT_MS - 1)
    assert (waiting.status, waiting.reason) == ("ask_again", "venues_disagree")
    void = _decide(Touch(101.0), _FLAT, apart, asked_at_ms=_ASKED_MS + RETRY_LIMIT_MS)
    assert void == Decision("void", "venues_disagree", None, None, _ASKED_MS + RETRY_LIMIT_MS)


def test_a_venue_that_does_not_answer_asks_again_then_voids() -> None:
    facts = _facts(Touch(101.0))
    for reading in (VenueReading(None, _rows(_FLAT)), VenueReading({"HYPE": _rows(_FLAT)}, None)):
        assert decide(facts, reading, _ASKED_MS).reason == "source_unavailable"
        assert decide(facts, reading, _ASKED_MS).status == "ask_again"
        assert decide(facts, reading, _ASKED_MS + RETRY_LIMIT_MS).status == "void"


def test_a_second_venue_price_older_than_ten_minutes_is_no_answer() -> None:
    ten = _rows([100.0], _DEADLINE_MS - 3 * FIVE_MINUTES_MS)
    fifteen = _rows([100.0], _DEADLINE_MS - 4 * FIVE_MINUTES_MS)
    assert _decide(Touch(101.0), _FLAT, ten).status == "miss"
    assert _decide(Touch(101.0), _FLAT, fifteen).reason == "source_unavailable"


@pytest.mark.parametrize(
    ("missing", "reason"), [((0, 1), None), ((0, 1, 2), "data_gap"), ((4, 5), None), ((4, 5, 6), "data_gap")]
)
def test_ten_minutes_without_a_print_are_none_too_many(missing: tuple[int, ...], reason: str | None) -> None:
    rows = [None if place in missing else close for place, close in enumerate(_FLAT)]
    assert _decide(Touch(101.0), rows).reason == reason


def test_a_hole_at_the_deadline_and_an_empty_window_void() -> None:
    assert _decide(Touch(101.0), _FLAT[:-3]).reason == "data_gap"
    assert _decide(Touch(101.0), []).reason == "data_gap"


def test_a_hole_is_a_halt_only_while_every_reference_has_one_that_overlaps() -> None:
    hole: list[float | None] = [None if place in (4, 5, 6) else 1.0 for place in range(12)]
    later: list[float | None] = [None if place in (7, 8, 9) else 1.0 for place in range(12)]
    whole: list[float | None] = [1.0] * 12
    cases: list[tuple[dict[str, list[float | None]], str]] = [
        ({"BTC": hole, "ETH": hole, "SOL": hole}, "venue_halt"),
        ({"BTC": hole}, "venue_halt"),
        ({"BTC": hole, "ETH": whole}, "data_gap"),
        ({"BTC": hole, "ETH": later}, "data_gap"),
        ({"BTC": []}, "data_gap"),
        ({"DOGE": hole}, "data_gap"),
        ({}, "data_gap"),
    ]
    for others, reason in cases:
        assert _decide(Touch(101.0), hole, others=others).reason == reason, others


def test_a_delisting_up_to_the_deadline_voids_before_any_hole() -> None:
    assert _decide(Touch(101.0), [], delisted_at_ms=_DEADLINE_MS).reason == "delisted"
    assert _decide(Touch(101.0), _FLAT, delisted_at_ms=_DEADLINE_MS + 1).status == "miss"


def test_relative_compares_ratios_and_an_exact_tie_voids() -> None:
    for own, versus, status in ((101.0, 100.5, "hit"), (100.0, 100.5, "miss"), (101.0, 101.0, "void")):
        decision = _decide(Relative("ETH"), [*_FLAT[:-1], own], others={"ETH": [*_FLAT[:-1], versus]})
        assert decision.status == status
        assert decision.value == (None if status == "void" else pytest.approx(own / 100 - versus / 100))


def test_a_relative_call_voids_on_the_other_symbols_hole_or_delisting() -> None:
    reading = VenueReading({"HYPE": _rows(_FLAT), "ETH": _rows(_FLAT[:5])})
    assert decide(_facts(Relative("ETH")), reading, _ASKED_MS).reason == "data_gap"
    gone = replace(reading, delisted_at_ms={"ETH": _POSTED_MS})
    assert decide(_facts(Relative("ETH")), gone, _ASKED_MS).reason == "delisted"


def test_a_metric_settles_on_its_last_value_and_voids_without_one() -> None:
    def ask(rates: list[FundingRate] | None) -> Decision:
        reading = VenueReading(metric=None if rates is None else funding_reading(rates))
        return decide(_facts(Metric(1.0, "above"), None), reading, _ASKED_MS)

    assert ask([FundingRate(_DEADLINE_MS, 2.0)]) == Decision("hit", None, 2.0, None, _ASKED_MS)
    assert ask([FundingRate(_DEADLINE_MS, 1.0)]).status == "miss"
    assert ask([FundingRate(_DEADLINE_MS - 2 * HOUR_MS, 2.0)]).reason == "data_gap"
    assert ask(None).status == "ask_again"


def test_s_is_the_close_of_a_print_not_older_than_ten_minutes() -> None:
    rows = _rows([1.0, 2.0], 0)
    assert price_at_posting(rows, FIVE_MINUTES_MS - 1) is None
    assert price_at_posting(rows, FIVE_MINUTES_MS) == 1.0
    assert price_at_posting(rows, 2 * FIVE_MINUTES_MS + 600_000) == 2.0
    assert price_at_posting(rows, 2 * FIVE_MINUTES_MS + 600_001) is None
    filler = replace(rows[1], volume=0.0)
    assert fresh_close([rows[0], filler], 2 * FIVE_MINUTES_MS) == 1.0


def test_the_window_holds_only_prints_wholly_inside() -> None:
    rows = _rows([1.0, 2.0, 3.0], 0)
    assert [candle.close for candle in prints_inside(rows, 1, 3 * FIVE_MINUTES_MS - 1)] == [2.0]
    assert len(prints_inside(rows, 0, 3 * FIVE_MINUTES_MS)) == 3


@given(st.lists(st.booleans(), min_size=12, max_size=60), st.integers(0, FIVE_MINUTES_MS - 1))
def test_holes_are_the_stretches_without_prints_longer_than_ten_minutes(traded: list[bool], late_ms: int) -> None:
    posted_at_ms = _POSTED_MS - late_ms
    deadline_ms = _POSTED_MS + len(traded) * FIVE_MINUTES_MS
    rows = _rows([1.0 if there else None for there in traded])
    runs, start = [], 0
    for place, there in enumerate([*traded, True]):
        if there:
            if place - start > 2:
                runs.append(Hole(_POSTED_MS + start * FIVE_MINUTES_MS, _POSTED_MS + place * FIVE_MINUTES_MS))
            start = place + 1
    assert holes(prints_inside(rows, posted_at_ms, deadline_ms), posted_at_ms, deadline_ms) == tuple(runs)


_PROBABILITIES = st.floats(0.02, 0.98)


@given(_PROBABILITIES, _PROBABILITIES, st.booleans())
def test_a_score_is_positive_exactly_when_the_outcome_was_given_more_than_the_baseline(
    p: float, b: float, hit: bool
) -> None:
    gave, baseline_gave = (p, b) if hit else (1 - p, 1 - b)
    if math.isclose(gave, baseline_gave, rel_tol=1e-12):
        return
    assert (score(p, b, hit).score > 0) == (gave > baseline_gave)


@given(_PROBABILITIES, _PROBABILITIES, _PROBABILITIES)
def test_the_expected_score_is_highest_for_the_believed_probability(truth: float, said: float, b: float) -> None:
    def expected(p: float) -> float:
        return truth * score(p, b, True).score + (1 - truth) * score(p, b, False).score

    assert expected(truth) >= expected(said) - 1e-9


def test_a_copy_scores_half_gains_and_losses_alike() -> None:
    for hit in (True, False):
        assert score(0.7, 0.5, hit, 0.5).score == score(0.7, 0.5, hit).raw / 2
