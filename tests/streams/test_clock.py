"""The clocks: order of waking, and that stepping never waits for the wall."""

import asyncio
import time

import pytest

from streams.clock import SteppedClock, WallClock


async def test_sleepers_wake_in_the_order_of_their_times_and_see_their_own_time() -> None:
    clock = SteppedClock(1_000)
    woken: list[tuple[str, int]] = []

    async def sleep(name: str, at_ms: int) -> None:
        await clock.sleep_until(at_ms)
        woken.append((name, clock.now_ms()))

    tasks = [asyncio.create_task(sleep(name, at)) for name, at in (("late", 5_000), ("early", 2_000), ("mid", 3_000))]
    await asyncio.sleep(0)
    await clock.advance(4_000)
    assert woken == [("early", 2_000), ("mid", 3_000)]
    assert clock.now_ms() == 4_000
    await clock.advance(5_000)
    await asyncio.gather(*tasks)
    assert woken[-1] == ("late", 5_000)


async def test_a_sleeper_that_sleeps_again_wakes_again_within_one_advance() -> None:
    clock = SteppedClock(0)
    seen: list[int] = []

    async def tick() -> None:
        while True:
            await clock.sleep_until(clock.now_ms() + 60_000)
            seen.append(clock.now_ms())

    task = asyncio.create_task(tick())
    await asyncio.sleep(0)
    await clock.advance(300_000)
    task.cancel()
    assert seen == [60_000, 120_000, 180_000, 240_000, 300_000]


async def test_a_cancelled_sleeper_does_not_stop_the_others() -> None:
    clock = SteppedClock(0)
    cancelled = asyncio.create_task(clock.sleep_until(10))
    other = asyncio.create_task(clock.sleep_until(20))
    await asyncio.sleep(0)
    cancelled.cancel()
    await clock.advance(20)
    await other
    assert cancelled.cancelled()


async def test_a_year_of_simulated_time_takes_no_wall_time() -> None:
    clock = SteppedClock(0)
    sleeper = asyncio.create_task(clock.sleep_until(365 * 86_400_000))
    await asyncio.sleep(0)
    started = time.monotonic()
    await clock.advance(366 * 86_400_000)
    await sleeper
    assert time.monotonic() - started < 1


async def test_time_never_goes_back() -> None:
    clock = SteppedClock(1_000)
    with pytest.raises(ValueError, match="999 is before the clock's time 1000"):
        await clock.advance(999)


async def test_the_wall_clock_sleeps_until_its_own_time() -> None:
    clock = WallClock()
    until_ms = clock.now_ms() + 20
    await clock.sleep_until(until_ms)
    assert until_ms <= clock.now_ms() < until_ms + 5_000
