"""Market facts that both rulebooks read: candles, funding rates and the units of time."""

from __future__ import annotations

from dataclasses import dataclass

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
FIVE_MINUTES_MS = 5 * MINUTE_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
WEEK_MS = 7 * DAY_MS


@dataclass(frozen=True, slots=True)
class Candle:
    """One OHLCV candle: open time in ms since the epoch, prices and volume as doubles."""

    open_time_ms: int
    open: float
    high: float
    low: float
    close: float
    volume: float


@dataclass(frozen=True, slots=True)
class FundingRate:
    """One settled funding rate and the time in ms at which the venue says it was charged."""

    time_ms: int
    rate: float
