"""Series of funding rates, chain and floor metrics: the value at a moment, and base rates (Rules F4, F6, F8)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rules.floor.baseline import sealed_baseline
from rules.floor.constants import (
    BASE_RATE_LOOKBACK_FLOOR_MS,
    BASE_RATE_LOOKBACK_MS,
    BASE_RATE_WINDOWS_MIN,
    FLOOR_VENUE,
    FUNDING_PERIOD_MS,
    METRIC_PERIODS_VALID,
)
from rules.floor.sources import Source
from rules.floor.terms import Metric
from rules.market import HOUR_MS, FundingRate


@dataclass(frozen=True, slots=True)
class MetricReading:
    """A metric's values in ascending order of time; `known_at_ms` is when the source had sent each of them."""

    times_ms: tuple[int, ...]
    values: tuple[float, ...]
    known_at_ms: tuple[int, ...]
    period_ms: int


def funding_reading(rates: Iterable[FundingRate]) -> MetricReading:
    """Read a venue's hourly rates, ascending: times rounded to the nearest hour, half up. Rule F4."""
    rows = tuple(rates)
    return MetricReading(
        times_ms=tuple((rate.time_ms + HOUR_MS // 2) // HOUR_MS * HOUR_MS for rate in rows),
        values=tuple(rate.rate for rate in rows),
        known_at_ms=tuple(rate.time_ms for rate in rows),
        period_ms=FUNDING_PERIOD_MS,
    )


def metric_reading(rows: Iterable[tuple[int, float]], period_ms: int) -> MetricReading:
    """Read a chain or floor metric's (time in ms, value) rows, ascending, with its declared period. Rule F4."""
    pairs = tuple(rows)
    times_ms = tuple(time_ms for time_ms, _ in pairs)
    return MetricReading(times_ms, tuple(value for _, value in pairs), times_ms, period_ms)


def value_at(reading: MetricReading, time_ms: int, known_by_ms: int) -> float | None:
    """Return the last value at or before a time that was known in time, None when it is two periods old. Rule F8."""
    position = bisect_right(reading.times_ms, time_ms)
    while position > 0:
        position -= 1
        if reading.times_ms[position] <= time_ms - METRIC_PERIODS_VALID * reading.period_ms:
            return None
        if reading.known_at_ms[position] <= known_by_ms:
            return reading.values[position]
    return None


def lookback_ms(source: Source) -> int:
    """Return how far back in ms the base rate of a metric looks. Rule F6."""
    return BASE_RATE_LOOKBACK_FLOOR_MS if source.venue == FLOOR_VENUE else BASE_RATE_LOOKBACK_MS


def metric_baseline(
    reading: MetricReading, terms: Metric, source: Source, posted_at_ms: int, deadline_ms: int
) -> float | None:
    """Return b of a metric call as it is sealed, None with fewer than 24 windows. Rule F6."""
    horizon_ms = deadline_ms - posted_at_ms
    first_ms = -(-(posted_at_ms - lookback_ms(source)) // HOUR_MS) * HOUR_MS
    ends_ms = np.arange(first_ms, posted_at_ms - horizon_ms + 1, HOUR_MS, dtype=np.int64) + horizon_ms
    known = bisect_right(reading.known_at_ms, posted_at_ms)
    if known == 0 or len(ends_ms) == 0:
        return None
    times_ms = np.asarray(reading.times_ms[:known], dtype=np.int64)
    values = np.asarray(reading.values[:known], dtype=np.float64)
    last = np.searchsorted(times_ms, ends_ms, side="right") - 1
    counts = (last >= 0) & (times_ms[last] > ends_ms - METRIC_PERIODS_VALID * reading.period_ms)
    seen = values[last[counts]]
    windows = len(seen)
    if windows < BASE_RATE_WINDOWS_MIN:
        return None
    hits = int(np.count_nonzero(seen > terms.level if terms.direction == "above" else seen < terms.level))
    return sealed_baseline((hits + 0.5) / (windows + 1))
