"""Realized volatility σ per √hour: the plain sum, and a rolling recursion that agrees with it (Rule F6)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, repeat

from rules.floor.constants import VOLATILITY_DECAY, VOLATILITY_RETURNS, VOLATILITY_RETURNS_MIN
from rules.market import HOUR_MS, Candle

_WEIGHTS = tuple(VOLATILITY_DECAY**age for age in range(VOLATILITY_RETURNS))
_WEIGHT_SUMS = (0.0, *accumulate(_WEIGHTS))
_LEAVING_WEIGHT = VOLATILITY_DECAY**VOLATILITY_RETURNS
_ROUNDING = 2.0**-52
_ERROR_MAX = 1e-11  # two digits inside the 1e-9 that the rule asks for
_ERROR_OF_PLAIN_SUM = VOLATILITY_RETURNS * _ROUNDING


def squared_returns(candles_1h: Sequence[Candle], posted_at_ms: int) -> list[float]:
    """Return up to 720 squared hourly log returns, newest first, of hourly candles in ascending order.

    Only candles with volume that closed at or before `posted_at_ms` count; a return over g hours counts as
    g squared returns of r²/g. Rule F6.
    """
    squares: list[float] = []
    end = bisect_right(candles_1h, posted_at_ms - HOUR_MS, key=lambda candle: candle.open_time_ms)
    newer: Candle | None = None
    for candle in islice(reversed(candles_1h), len(candles_1h) - end, None):
        if candle.volume <= 0:
            continue
        if newer is not None:
            squares.extend(_squares_between(candle, newer))
            if len(squares) >= VOLATILITY_RETURNS:
                break
        newer = candle
    return squares[:VOLATILITY_RETURNS]


def volatility(candles_1h: Sequence[Candle], posted_at_ms: int) -> float | None:
    """Return σ per √hour as the plain weighted sum, None with fewer than 168 returns or σ = 0. Rule F6.

    `candles_1h` are the pinned venue's hourly candles in ascending order; 30 days and an hour of them are enough.
    """
    squares = squared_returns(candles_1h, posted_at_ms)
    return _sigma(_weighted_sum(squares), len(squares))


@dataclass(frozen=True, slots=True)
class RollingVolatility:
    """σ kept candle by candle: the weighted sum of the last 720 squared returns, oldest first in `squares`.

    `error` bounds the rounding error gathered in `weighted_sum`; once it could be seen the sum is taken anew.
    """

    last_open_time_ms: int | None = None
    last_close: float = 0.0
    squares: tuple[float, ...] = ()
    weighted_sum: float = 0.0
    error: float = 0.0

    def add(self, candle: Candle) -> RollingVolatility:
        """Take in the next closed hourly candle; a filler or one that is not newer changes nothing. Rule F6."""
        if candle.volume <= 0:
            return self
        if self.last_open_time_ms is None:
            return replace(self, last_open_time_ms=candle.open_time_ms, last_close=candle.close)
        if candle.open_time_ms <= self.last_open_time_ms:
            return self
        older = Candle(self.last_open_time_ms, 0.0, 0.0, 0.0, self.last_close, 1.0)
        squares = list(self.squares)
        total, error = self.weighted_sum, self.error
        for square in _squares_between(older, candle):
            squares.append(square)
            leaving = 0.0
            if len(squares) > VOLATILITY_RETURNS:
                leaving = _LEAVING_WEIGHT * squares.pop(0)
            error = VOLATILITY_DECAY * error + 2 * _ROUNDING * (total + square)
            total = square + VOLATILITY_DECAY * total - leaving
            if error > _ERROR_MAX * total:
                total = _weighted_sum(squares[::-1])
                error = _ERROR_OF_PLAIN_SUM * total
        return RollingVolatility(candle.open_time_ms, candle.close, tuple(squares), total, error)

    def sigma(self) -> float | None:
        """Return σ per √hour, None with fewer than 168 returns or σ = 0. Rule F6."""
        return _sigma(self.weighted_sum, len(self.squares))


def _squares_between(older: Candle, newer: Candle) -> Iterable[float]:
    log_return = math.log(newer.close / older.close)
    gap_ms = newer.open_time_ms - older.open_time_ms
    if gap_ms == HOUR_MS:
        return (log_return * log_return,)
    gap_hours = gap_ms // HOUR_MS
    return repeat(log_return * log_return / gap_hours, min(gap_hours, VOLATILITY_RETURNS))


def _weighted_sum(squares_newest_first: Sequence[float]) -> float:
    total = 0.0
    for weight, square in zip(_WEIGHTS, squares_newest_first, strict=False):
        total += weight * square
    return total


def _sigma(weighted_sum: float, count: int) -> float | None:
    if count < VOLATILITY_RETURNS_MIN or weighted_sum <= 0:
        return None
    sigma = math.sqrt(weighted_sum / _WEIGHT_SUMS[count])
    return sigma if sigma > 0 else None
