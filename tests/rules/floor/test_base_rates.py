"""Base rates of metrics and of pairs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.floor.metric import funding_reading, metric_baseline, metric_reading, value_at
from rules.floor.relative import relative_baseline
from rules.floor.rounding import r6
from rules.floor.sources import Source
from rules.floor.terms import Metric
from rules.market import DAY_MS, HOUR_MS, Candle, FundingRate

_FUNDING = Source("hyperliquid", "BTC", "funding")
_FLOOR = Source("floor", "all", "calls_per_day")
_POSTED_MS = 400 * DAY_MS + 1_234


def _plain_base_rate(rows: list[tuple[int, float]], level: float, horizon_ms: int, valid_ms: int) -> tuple[int, int]:
    windows = hits = 0
    for start_ms in range(0, _POSTED_MS, HOUR_MS):
        end_ms = start_ms + horizon_ms
        if start_ms < _POSTED_MS - 180 * DAY_MS or end_ms > _POSTED_MS:
            continue
        inside = [value for time_ms, value in rows if end_ms - valid_ms < time_ms <= end_ms]
        windows += bool(inside)
        hits += bool(inside) and inside[-1] > level
    return hits, windows


@given(
    st.lists(st.tuples(st.integers(0, 200), st.floats(-1, 1)), min_size=1, max_size=60, unique_by=lambda row: row[0])
)
def test_the_base_rate_counts_windows_as_the_rule_words_it(rows: list[tuple[int, float]]) -> None:
    series = sorted((_POSTED_MS - hours * HOUR_MS - 7, value) for hours, value in rows)
    horizon_ms = 5 * HOUR_MS + 300_000
    b = metric_baseline(
        metric_reading(series, HOUR_MS), Metric(0.1, "above"), _FUNDING, _POSTED_MS, _POSTED_MS + horizon_ms
    )
    hits, windows = _plain_base_rate(series, 0.1, horizon_ms, 2 * HOUR_MS)
    assert b == (None if windows < 24 else r6(min(max((hits + 0.5) / (windows + 1), 0.02), 0.98)))


def test_a_floor_metric_looks_back_half_as_far() -> None:
    old = [(_POSTED_MS - day * DAY_MS, 9.0 if day > 90 else 1.0) for day in range(179, 0, -1)]
    reading = metric_reading(old, DAY_MS)
    terms = Metric(5.0, "above")
    chain = metric_baseline(reading, terms, Source("chain", "ethereum", "tvl"), _POSTED_MS, _POSTED_MS + DAY_MS)
    floor = metric_baseline(reading, terms, _FLOOR, _POSTED_MS, _POSTED_MS + DAY_MS)
    assert chain is not None
    assert floor is not None
    assert floor < 0.05 < chain


def test_a_series_without_values_has_no_baseline() -> None:
    empty = metric_reading([], HOUR_MS)
    assert metric_baseline(empty, Metric(0.0, "above"), _FUNDING, _POSTED_MS, _POSTED_MS + HOUR_MS) is None


def test_a_late_rate_counts_for_its_hour_once_it_has_come() -> None:
    reading = funding_reading([FundingRate(9 * HOUR_MS + 3, 1.0), FundingRate(10 * HOUR_MS + 887_000, 2.0)])
    assert value_at(reading, 10 * HOUR_MS, known_by_ms=10 * HOUR_MS + 120_000) == 1.0
    assert value_at(reading, 10 * HOUR_MS, known_by_ms=10 * HOUR_MS + 887_000) == 2.0
    assert value_at(reading, 12 * HOUR_MS, known_by_ms=13 * HOUR_MS) is None


@pytest.mark.parametrize(("time_ms", "hour"), [(HOUR_MS // 2 - 1, 0), (HOUR_MS // 2, 1)])
def test_funding_times_round_to_the_nearest_hour_half_up(time_ms: int, hour: int) -> None:
    assert funding_reading([FundingRate(time_ms, 0.0)]).times_ms == (hour * HOUR_MS,)


def _closes(closes: list[float]) -> list[Candle]:
    return [Candle(place * HOUR_MS, close, close, close, close, 1.0) for place, close in enumerate(closes)]


def _pair(wins: int, windows: int) -> tuple[list[Candle], list[Candle]]:
    own = [100.0]
    for place in range(windows):
        own.append(own[-1] * (1.01 if place < wins else 0.99))
    return _closes(own), _closes([100.0] * (windows + 1))


@pytest.mark.parametrize(
    ("wins", "windows", "b"),
    [(22, 40, 0.5), (23, 40, 0.575), (18, 40, 0.5), (17, 40, 0.425), (23, 23, 0.5), (24, 24, 0.98)],
)
def test_a_pair_speaks_only_when_more_than_five_points_off(wins: int, windows: int, b: float) -> None:
    own, versus = _pair(wins, windows)
    now_ms = (windows + 1) * HOUR_MS
    assert relative_baseline(own, versus, now_ms, now_ms + HOUR_MS) == b


def test_a_pair_with_a_horizon_longer_than_its_history_is_even() -> None:
    own, versus = _pair(30, 30)
    now_ms = 31 * HOUR_MS
    assert relative_baseline(own, versus, now_ms, now_ms + 30 * DAY_MS) == 0.5
