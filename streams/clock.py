"""One clock for everything that waits: the wall's, or one that a driver steps."""

import asyncio
import heapq
import itertools
import time
from typing import Protocol


class Clock(Protocol):
    """Tell the time and wait for a time, in milliseconds since the Unix epoch (UTC)."""

    def now_ms(self) -> int:
        """Return the current time in ms."""
        ...

    async def sleep_until(self, at_ms: int) -> None:
        """Return as soon as the clock shows `at_ms` or later."""
        ...


class WallClock:
    """The machine's own clock, for live operation."""

    def now_ms(self) -> int:
        """Return the wall clock's time in ms."""
        return time.time_ns() // 1_000_000

    async def sleep_until(self, at_ms: int) -> None:
        """Wait until the wall clock shows `at_ms`; return at once when that is past."""
        left_ms = at_ms - self.now_ms()
        if left_ms > 0:
            await asyncio.sleep(left_ms / 1000)
            await self.sleep_until(at_ms)


class SteppedClock:
    """A clock that moves only when its driver says so; nothing that waits on it touches the wall clock."""

    def __init__(self, start_ms: int) -> None:
        self._now_ms = start_ms
        self._order = itertools.count()
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []

    def now_ms(self) -> int:
        """Return the simulated time in ms."""
        return self._now_ms

    async def sleep_until(self, at_ms: int) -> None:
        """Wait until the driver has moved the clock to `at_ms`; return at once when that is past."""
        if at_ms <= self._now_ms:
            return
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (at_ms, next(self._order), woken))
        await woken

    async def advance(self, to_ms: int) -> None:
        """Move to `to_ms`, waking sleepers in the order of their times.

        Each sleeper sees the time that it asked for and runs until its next await before the next one wakes;
        what it then awaits elsewhere (a socket, a broker) is not waited for.
        Raises ValueError when `to_ms` lies before the current time.
        """
        if to_ms < self._now_ms:
            raise ValueError(f"to_ms {to_ms} is before the clock's time {self._now_ms}: time never goes back")
        while self._sleepers and self._sleepers[0][0] <= to_ms:
            at_ms, _, woken = heapq.heappop(self._sleepers)
            self._now_ms = max(self._now_ms, at_ms)
            if not woken.done():
                woken.set_result(None)
                await asyncio.sleep(0)
        self._now_ms = max(self._now_ms, to_ms)
