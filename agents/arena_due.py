"""When open records are evaluated: a schedule in event time, each due time kept for as long as it has a reason."""

from typing import Final

from sortedcontainers import SortedDict

from rules.arena.numbers import HOUR_S

FIVE_MINUTES_S: Final = 300

Due = tuple[int, str]
"""A due time in unix seconds and the record that is due."""


def five_minutes_after(time_ms: int) -> int:
    """Return the first whole 5 minutes strictly after a time in ms, in seconds."""
    return (time_ms // (FIVE_MINUTES_S * 1_000) + 1) * FIVE_MINUTES_S


def hour_from(time_s: int) -> int:
    """Return the first whole hour at or after a time in seconds."""
    return -(-time_s // HOUR_S) * HOUR_S


class DueTimes:
    """Due times in order of time, then record; one that loses its last reason is not due any more."""

    def __init__(self) -> None:
        self._reasons: SortedDict[Due, set[str]] = SortedDict()

    def add(self, at_s: int, record: str, reason: str) -> None:
        """Make a record due; the same time, record and reason again changes nothing."""
        self._reasons.setdefault((at_s, record), set()).add(reason)

    def drop(self, at_s: int, record: str, reason: str) -> None:
        """Take one reason back; it need not be there."""
        reasons = self._reasons.get((at_s, record))
        if reasons is not None:
            reasons.discard(reason)
            if not reasons:
                del self._reasons[at_s, record]

    def first_s(self) -> int | None:
        """Return the earliest due time in seconds, None when nothing is due."""
        return int(self._reasons.peekitem(0)[0][0]) if self._reasons else None

    def pop(self) -> Due:
        """Remove and return the earliest due time and its record."""
        due: Due = self._reasons.popitem(0)[0]
        return due
