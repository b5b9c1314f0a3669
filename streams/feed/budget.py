"""How many requests the feed may send: a sliding minute of the passed-in time."""

from collections import deque

MINUTE_MS = 60_000


class RequestBudget:
    """At most `per_minute` requests in any minute; the venue allows a weight of 1200, 20 or more each (H4)."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._spent_at_ms: deque[int] = deque()

    def spend(self, now_ms: int) -> bool:
        """Take one request from the budget at `now_ms`; False when the minute's are used up."""
        while self._spent_at_ms and self._spent_at_ms[0] <= now_ms - MINUTE_MS:
            self._spent_at_ms.popleft()
        if len(self._spent_at_ms) >= self._per_minute:
            return False
        self._spent_at_ms.append(now_ms)
        return True
