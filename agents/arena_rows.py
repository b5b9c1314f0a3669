"""The rows of one venue series, grown as event time goes on: final ones are asked for once, the newest ones again.

What a row looks like depends on when the venue is asked, and a score must not. So each row carries the moment from
which it counts, and a view as of E holds exactly what the venue showed 120 s after E, whenever it was asked since; only
of a candle that still forms as of E no more than time and open may be relied on.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from rules.arena.types import Candle, Funding

GRACE_S: Final = 120
"""What the venue is given to show the numbers of a moment before they are asked for."""

Row = TypeVar("Row", Candle, Funding)


@dataclass(frozen=True, slots=True)
class Span:
    """Row times to ask for, both ends inclusive, in unix seconds; they lie in one chunk."""

    from_s: int
    to_s: int


@dataclass(frozen=True, slots=True)
class Shown(Generic[Row]):
    """A row and the first moment, in ms, as of which it counts; that is its own time unless it came late."""

    row: Row
    from_ms: int


class SeriesRows(Generic[Row]):
    """Rows of one series in ascending time, no time twice, complete over [start, complete] in event time."""

    def __init__(self, step_s: int, chunk_s: int) -> None:
        """Take the seconds between rows and the length of the aligned chunks in which they are asked for (A18)."""
        self._step_s = step_s
        self._chunk_s = chunk_s
        self._rows: list[Row] = []
        self._late_ms: dict[int, int] = {}
        self._start_s: int | None = None
        self._complete_s = 0

    def missing(self, from_s: int, to_s: int, as_of_s: int) -> list[Span]:
        """Return what must be asked for before rows from_s <= t <= min(to_s, as_of_s) can be viewed as of a moment."""
        chunk_start_s = from_s // self._chunk_s * self._chunk_s
        start_s = self._start_s
        if start_s is None:
            return self._chunks(chunk_start_s, as_of_s)
        spans = self._chunks(chunk_start_s, start_s - 1)
        newest_s = min(to_s, as_of_s) // self._step_s * self._step_s
        if not self._holds(newest_s, as_of_s):
            # a row is final once its end plus one step has passed (Rule A18)
            spans += self._chunks(max(start_s, self._floor(self._complete_s) - self._step_s), as_of_s)
        return spans

    def take(self, span: Span, shown: Iterable[Shown[Row]], as_of_s: int) -> None:
        """Put an answer in the place of a span's rows; rows outside the span or after the moment are left out.

        Spans are taken in ascending order; a time that comes twice keeps its later row (Rule A18).
        """
        last_s = min(span.to_s, as_of_s)
        fresh = {each.row[0]: each for each in shown if span.from_s <= each.row[0] <= last_s}
        low = bisect_left(self._rows, span.from_s, key=_time)
        high = bisect_right(self._rows, last_s, lo=low, key=_time)
        for row in self._rows[low:high]:
            self._late_ms.pop(row[0], None)
        self._rows[low:high] = [fresh[time_s].row for time_s in sorted(fresh)]
        self._late_ms.update({time_s: each.from_ms for time_s, each in fresh.items() if each.from_ms > time_s * 1_000})
        self._start_s = span.from_s if self._start_s is None else min(self._start_s, span.from_s)
        if last_s == as_of_s:
            self._complete_s = max(self._complete_s, as_of_s)

    def view(self, as_of_s: int) -> Sequence[Row]:
        """Return the rows as of a moment; later ones may follow them."""
        end = bisect_right(self._rows, as_of_s, key=_time)
        # only the newest rows can be late: none comes more than a step after its time
        newest = self._rows[max(0, end - 2) : end]
        hidden = {row[0] for row in newest if self._late_ms.get(row[0], 0) > as_of_s * 1_000}
        if not hidden:
            return self._rows
        return [row for row in self._rows[:end] if row[0] not in hidden]

    def forget_before(self, time_s: int) -> None:
        """Let go of whole chunks that end by a time."""
        start_s = time_s // self._chunk_s * self._chunk_s
        if self._start_s is not None and self._start_s < start_s:
            end = bisect_left(self._rows, start_s, key=_time)
            for row in self._rows[:end]:
                self._late_ms.pop(row[0], None)
            del self._rows[:end]
            self._start_s = start_s

    def _holds(self, newest_s: int, as_of_s: int) -> bool:
        """Tell whether an answer can change nothing up to this row: it is final, or forms and its open is known."""
        closes_s = newest_s + self._step_s
        if closes_s <= self._complete_s:
            return True
        place = bisect_left(self._rows, newest_s, key=_time)
        known = place < len(self._rows) and self._rows[place][0] == newest_s
        return known and closes_s > as_of_s

    def _floor(self, time_s: int) -> int:
        return time_s // self._step_s * self._step_s

    def _chunks(self, from_s: int, to_s: int) -> list[Span]:
        spans: list[Span] = []
        while from_s <= to_s:
            chunk_end_s = (from_s // self._chunk_s + 1) * self._chunk_s
            spans.append(Span(from_s, chunk_end_s - 1))
            from_s = chunk_end_s
        return spans


def _time(row: Candle | Funding) -> int:
    return row[0]
