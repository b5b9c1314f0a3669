"""The natural window of the event that a deadline falls on, and its closing tenth (Rule F5)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rules.floor.constants import WINDOW_CLOSING_DIVISOR
from rules.market import DAY_MS, WEEK_MS

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONDAY = 0


def moment(time_ms: int) -> datetime:
    """Return ms since the epoch as a UTC datetime; raises OverflowError beyond the year 9999."""
    return _EPOCH + timedelta(milliseconds=time_ms)


def week_start_ms(time_ms: int) -> int:
    """Return the Monday 00:00 UTC at or before a time, in ms. Rule F7."""
    days = time_ms // DAY_MS
    return (days - moment(days * DAY_MS).weekday()) * DAY_MS


def natural_window_ms(deadline_ms: int) -> int | None:
    """Return the length in ms of the window that ends at a deadline, None for a deadline inside a day. Rule F5."""
    if deadline_ms % DAY_MS:
        return None
    end = moment(deadline_ms)
    if end.day == 1:
        return (end - timedelta(days=1)).day * DAY_MS
    return WEEK_MS if end.weekday() == _MONDAY else DAY_MS


def is_window_closing(posted_at_ms: int, deadline_ms: int) -> bool:
    """Tell whether a post lies in the last tenth of its deadline's natural window. Rule F5."""
    window_ms = natural_window_ms(deadline_ms)
    return window_ms is not None and (deadline_ms - posted_at_ms) * WINDOW_CLOSING_DIVISOR < window_ms
