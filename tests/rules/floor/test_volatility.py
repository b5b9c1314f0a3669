"""σ: the plain sum, its invariances, and the rolling recursion."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.floor.volatility import RollingVolatility, squared_returns, volatility
from rules.market import HOUR_MS, Candle

_FAR_MS = 10**13
_RETURNS = st.lists(
    st.floats(-0.2, 0.2) | st.sampled_from([0.0, 1e-6, -3.0, 3.0]) | st.floats(-0.002, 0.002),
    min_size=168,
    max_size=1100,
)


def _hourly(returns: Sequence[float], gaps: Sequence[int] = ()) -> list[Candle]:
    time_ms, log_price = 0, math.log(100.0)
    logs = [Candle(0, 1.0, 1.0, 1.0, math.exp(log_price), 1.0)]
    for place, log_return in enumerate(returns):
        time_ms += HOUR_MS * (gaps[place] if place < len(gaps) else 1)
        log_price = max(min(log_price + log_return, 300.0), -300.0)
        price = math.exp(log_price)
        logs.append(Candle(time_ms, price, price, price, price, 1.0))
    return logs


def _roll(candles: Sequence[Candle]) -> RollingVolatility:
    rolling = RollingVolatility()
    for candle in candles:
        rolling = rolling.add(candle)
    return rolling


@settings(max_examples=60, deadline=None)
@given(_RETURNS, st.lists(st.integers(1, 40), max_size=60))
def test_the_rolling_recursion_agrees_with_the_plain_sum_to_1e_9(returns: list[float], gaps: list[int]) -> None:
    candles = _hourly(returns, gaps)
    plain = volatility(candles, _FAR_MS)
    rolling = _roll(candles).sigma()
    if plain is None:
        assert rolling is None
    else:
        assert rolling == pytest.approx(plain, rel=1e-9)


def test_the_rolling_recursion_survives_a_wild_return_leaving_the_window() -> None:
    candles = _hourly([150.0] + [1e-7 * (-1) ** place for place in range(900)])
    for end in (700, 721, 722, 723, 901):
        assert _roll(candles[:end]).sigma() == pytest.approx(volatility(candles[:end], _FAR_MS), rel=1e-9)


@given(st.lists(st.floats(-0.1, 0.1), min_size=168, max_size=200), st.floats(1e-6, 1e6))
def test_sigma_does_not_depend_on_the_unit_of_price(returns: list[float], factor: float) -> None:
    candles = _hourly(returns)
    scaled = [replace(candle, close=candle.close * factor) for candle in candles]
    plain = volatility(candles, _FAR_MS)
    if plain is None or plain < 1e-7:
        return
    assert volatility(scaled, _FAR_MS) == pytest.approx(plain, rel=1e-6)


@given(
    st.lists(st.floats(0.001, 0.1), min_size=168, max_size=200), st.lists(st.integers(1, 6), min_size=5, max_size=30)
)
def test_hours_without_trades_are_as_good_as_absent(returns: list[float], gaps: list[int]) -> None:
    absent = _hourly(returns, gaps)
    present = {candle.open_time_ms for candle in absent}
    fillers = [
        Candle(hour_ms, 7.0, 7.0, 7.0, 7.0, 0.0)
        for hour_ms in range(0, absent[-1].open_time_ms, HOUR_MS)
        if hour_ms not in present
    ]
    filled = sorted([*absent, *fillers], key=lambda candle: candle.open_time_ms)
    assert volatility(filled, _FAR_MS) == volatility(absent, _FAR_MS)
    assert _roll(filled) == _roll(absent)


def test_a_gap_counts_its_hours_and_keeps_its_variance() -> None:
    squares = squared_returns(_hourly([0.3, 0.1], [3, 1]), _FAR_MS)
    assert squares == pytest.approx([0.01, 0.03, 0.03, 0.03])


def test_a_gap_over_the_cut_gives_only_its_newest_part() -> None:
    squares = squared_returns(_hourly([0.5, 0.3, *[0.0] * 700], [1, 30]), _FAR_MS)
    assert len(squares) == 720
    assert squares[700:] == pytest.approx([0.003] * 20)


def test_constant_returns_give_their_size() -> None:
    assert volatility(_hourly([0.01, -0.01] * 400), _FAR_MS) == pytest.approx(0.01, rel=1e-12)


@pytest.mark.parametrize("make", [lambda c: volatility(c, _FAR_MS), lambda c: _roll(c).sigma()])
def test_fewer_than_168_returns_or_none_that_moved_give_no_sigma(
    make: Callable[[Sequence[Candle]], float | None],
) -> None:
    assert make(_hourly([0.01] * 167)) is None
    assert make(_hourly([0.01] * 168)) is not None
    assert make(_hourly([0.0] * 300)) is None
    assert make(_hourly([0.01, *[0.0] * 900])) is None


def test_a_candle_that_closes_after_posting_is_not_seen() -> None:
    candles = _hourly([0.01] * 168 + [0.5])
    closed_ms = candles[-1].open_time_ms + HOUR_MS
    assert volatility(candles, closed_ms - 1) == volatility(candles[:-1], _FAR_MS)
    assert volatility(candles, closed_ms) != volatility(candles[:-1], _FAR_MS)


def test_a_repeated_or_late_candle_changes_no_rolling_state() -> None:
    candles = _hourly([0.01, 0.02] * 100)
    rolling = _roll(candles)
    assert rolling.add(candles[-1]) is rolling
    assert rolling.add(candles[5]) is rolling
