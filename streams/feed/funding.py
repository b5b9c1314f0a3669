"""Which settled funding is known: hourly payments that come late, or never."""

from collections.abc import Iterable
from dataclasses import dataclass

from streams.venues.base import FundingRow

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class FundingPolicy:
    """When to ask for an hour's payment, in ms."""

    delay_ms: int = 3_000
    """Payments are stamped up to 438 ms after their hour as a rule (H2)."""

    retry_ms: int = 60_000
    """After a halt one came 14 minutes late (H2): ask again this long after an answer without it."""


class FundingTracker:
    """One coin's settled funding: each row is returned once, in time order.

    An hour is known when its row or a later one has come; an hour without a row is then missing for good (H2).
    """

    def __init__(self, complete_through_ms: int, policy: FundingPolicy) -> None:
        """Expect the payments of the hours after `complete_through_ms`, a whole hour."""
        self._policy = policy
        self._last_row_ms = complete_through_ms
        self._ask_at_ms = 0
        self.complete_through_ms = complete_through_ms

    @property
    def ask_from_ms(self) -> int:
        """Return the first time in ms that a row not yet returned can carry."""
        return self._last_row_ms + 1

    def due(self, now_ms: int) -> bool:
        """Tell whether the venue should be asked at `now_ms`."""
        next_hour_ms = self.complete_through_ms + HOUR_MS
        return now_ms >= max(next_hour_ms + self._policy.delay_ms, self._ask_at_ms)

    def take(self, rows: Iterable[FundingRow], asked_at_ms: int) -> list[FundingRow]:
        """Return the rows that are new among those the venue gave at `asked_at_ms`."""
        fresh = [row for row in rows if row.time_ms > self._last_row_ms]
        if fresh:
            self._last_row_ms = fresh[-1].time_ms
            self.complete_through_ms = self._last_row_ms // HOUR_MS * HOUR_MS
        self._ask_at_ms = asked_at_ms + self._policy.retry_ms
        return fresh
