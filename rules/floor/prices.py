"""Prints, the price at posting S, the prints W of a window and their holes (Rules F4, F8)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from rules.floor.constants import HOLE_MS, PRICE_MAX_AGE_MS, PRINT_MS
from rules.market import Candle


@dataclass(frozen=True, slots=True)
class Hole:
    """A stretch of a window without a print, longer than ten minutes, in ms."""

    start_ms: int
    end_ms: int

    def overlaps(self, other: Hole) -> bool:
        """Tell whether two holes have more than a point in common."""
        return max(self.start_ms, other.start_ms) < min(self.end_ms, other.end_ms)


def last_print(candles: Sequence[Candle], time_ms: int) -> Candle | None:
    """Return the last print that ended at or before a time, from 5-minute candles in ascending order. Rule F4."""
    position = bisect_right(candles, time_ms - PRINT_MS, key=_open_time)
    while position > 0:
        position -= 1
        if candles[position].volume > 0:
            return candles[position]
    return None


def fresh_close(candles: Sequence[Candle], time_ms: int, max_age_ms: int = PRICE_MAX_AGE_MS) -> float | None:
    """Return the close of the last print at or before a time unless it is older than `max_age_ms`. Rules F4, F8."""
    found = last_print(candles, time_ms)
    if found is None or time_ms - (found.open_time_ms + PRINT_MS) > max_age_ms:
        return None
    return found.close


def price_at_posting(candles_5m: Sequence[Candle], posted_at_ms: int) -> float | None:
    """Return S, the close of the last print before a post, None when there is none or it is stale. Rule F4.

    `candles_5m` are closed 5-minute candles of the pinned venue in ascending order, fillers allowed.
    """
    return fresh_close(candles_5m, posted_at_ms)


def prints_inside(candles_5m: Sequence[Candle], posted_at_ms: int, deadline_ms: int) -> list[Candle]:
    """Return W: the prints that lie wholly inside a window, of candles in ascending order. Rule F4."""
    first = bisect_left(candles_5m, posted_at_ms, key=_open_time)
    end = bisect_right(candles_5m, deadline_ms - PRINT_MS, lo=first, key=_open_time)
    return [candle for candle in candles_5m[first:end] if candle.volume > 0]


def holes(prints: Sequence[Candle], posted_at_ms: int, deadline_ms: int) -> tuple[Hole, ...]:
    """Return the holes of a window, in order, from its prints W. Rule F8."""
    found: list[Hole] = []
    covered_until_ms = -(-posted_at_ms // PRINT_MS) * PRINT_MS
    for candle in prints:
        if candle.open_time_ms - covered_until_ms > HOLE_MS:
            found.append(Hole(covered_until_ms, candle.open_time_ms))
        covered_until_ms = candle.open_time_ms + PRINT_MS
    if not prints or deadline_ms - covered_until_ms > HOLE_MS:
        found.append(Hole(covered_until_ms, deadline_ms))
    return tuple(found)


def _open_time(candle: Candle) -> int:
    return candle.open_time_ms
