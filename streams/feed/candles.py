"""When a candle is closed: frames that carry no closed flag, and HTTP rows, become one ordered series."""

from collections.abc import Iterable
from dataclasses import dataclass

from streams.venues.base import VenueCandle


@dataclass(frozen=True, slots=True)
class ClosingPolicy:
    """How long to wait for the venue before believing that a candle is over, in ms after its close."""

    settle_ms: int = 1_000
    """A candle's last update was seen 156 ms after its close (W1): a later candle closes it only after this."""

    grace_ms: int = 3_000
    """Without a later candle, the candle is asked for by HTTP after this (W1)."""

    absence_ms: int = 60_000
    """The venue fills empty candles in lazily (H5): one that HTTP still lacks after this is absent for good."""


class CandleCloser:
    """One coin's candles of one interval: each is closed exactly once, in the order of their times (W1, W2).

    A candle is closed when a later one has arrived, or when its close and a grace have passed and HTTP has it.
    The class decides only: it reads no clock and asks no venue.
    """

    def __init__(self, interval_ms: int, complete_through_ms: int, policy: ClosingPolicy) -> None:
        """Expect the candle that opens at `complete_through_ms` (a multiple of `interval_ms`) first."""
        if complete_through_ms % interval_ms:
            raise ValueError(f"complete_through_ms {complete_through_ms} is no multiple of {interval_ms}")
        self._interval_ms = interval_ms
        self._policy = policy
        self._pending: dict[int, VenueCandle] = {}
        self._newest_open_ms = -1
        self._watched_after_ms = -1
        self._shown: VenueCandle | None = None
        self._last_closed: VenueCandle | None = None
        self.complete_through_ms = complete_through_ms

    def watch(self, since_ms: int) -> None:
        """Note that frames are received without a gap since `since_ms` only.

        A candle that opened at or before it may have moved unseen: only HTTP can close it (W7).
        """
        self._watched_after_ms = since_ms

    def see(self, candle: VenueCandle) -> bool:
        """Take a frame's state; return False when it contradicts a candle that is closed already.

        A frame that goes back in trades or volume is older than what is known and changes nothing (W2).
        """
        self._newest_open_ms = max(self._newest_open_ms, candle.open_time_ms)
        if candle.open_time_ms < self.complete_through_ms:
            last = self._last_closed
            return last is None or candle.open_time_ms != last.open_time_ms or not _newer(candle, last)
        known = self._pending.get(candle.open_time_ms)
        if known is None or not _newer(known, candle):
            self._pending[candle.open_time_ms] = candle
        return True

    def close_by_frames(self, now_ms: int) -> list[VenueCandle]:
        """Return the candles that a later candle has closed by `now_ms` (W1), oldest first, each once."""
        closed = []
        while (
            self.complete_through_ms in self._pending
            and self.complete_through_ms < self._newest_open_ms
            and self.complete_through_ms > self._watched_after_ms
            and self._past_close_ms(now_ms) >= self._policy.settle_ms
        ):
            closed.append(self._close(self._pending[self.complete_through_ms]))
        return closed

    def needs_confirmation(self, now_ms: int) -> bool:
        """Tell whether the next candle is over by the grace, and no later candle has closed it."""
        return self._past_close_ms(now_ms) >= self._policy.grace_ms

    def confirm(self, rows: Iterable[VenueCandle], asked_at_ms: int) -> list[VenueCandle]:
        """Return the candles closed by HTTP rows asked for at `asked_at_ms`, oldest first, each once.

        `rows` cover the series from `complete_through_ms` on. A candle that they lack after the policy's
        `absence_ms` is absent and skipped; until then it may still be filled in (H5).
        """
        by_open = {row.open_time_ms: row for row in rows}
        closed = []
        while (past_ms := self._past_close_ms(asked_at_ms)) >= self._policy.grace_ms:
            open_ms = self.complete_through_ms
            row, seen = by_open.get(open_ms), self._pending.get(open_ms)
            patient = past_ms < self._policy.absence_ms
            if row is not None and not (seen is not None and _newer(seen, row) and patient):
                closed.append(self._close(row))
            elif seen is not None and not patient:
                closed.append(self._close(seen))
            elif not patient:
                self.complete_through_ms += self._interval_ms
            else:
                break
        return closed

    def forming(self) -> VenueCandle | None:
        """Return the next candle's latest state if it was not returned before, None otherwise."""
        candle = self._pending.get(self.complete_through_ms)
        if candle is None or candle == self._shown:
            return None
        self._shown = candle
        return candle

    def _past_close_ms(self, now_ms: int) -> int:
        return now_ms - self.complete_through_ms - self._interval_ms

    def _close(self, candle: VenueCandle) -> VenueCandle:
        self._pending.pop(candle.open_time_ms, None)
        self._last_closed = candle
        self.complete_through_ms += self._interval_ms
        return candle


def _newer(one: VenueCandle, other: VenueCandle) -> bool:
    """Tell whether `one` holds trades that `other` of the same interval lacks."""
    return one.trades > other.trades or one.volume > other.volume
