"""Tests that sealing and settlement, each of which waits for the other's watermark, move time on together."""

from dataclasses import dataclass, field

from agents import sealing
from tests.agents.court import GRACE_MS, MINUTE_MS, Court, court, ending, record
from tests.agents.floor_messages import HOUR_MS, post, quote
from tests.agents.interleaving import Event
from tests.agents.runs import Run, Watermark
from tests.agents.test_sealing import asked, calls, codes, ended, receipts
from tests.referee.simulated.rig import ms
from topics.floor import Quote, Settlement
from topics.registry import CALLS, CLOCK, QUOTES, RESULTS

SPEC = sealing.spec()
START = "2025-06-03T12:00"


@dataclass
class Circle:
    """The two agents, with what each has taken of the other's outputs, and the promises they last made."""

    at: Court
    sealing: Run = field(default_factory=lambda: Run(SPEC.reducer, SPEC.inputs))
    sealed_ms: int | None = None
    settled_ms: int | None = None
    calls_taken: int = 0
    results_taken: int = 0

    async def turn(self, quotes: list[Quote], now_ms: int) -> None:
        """Let both agents work once, the clock and the quotes known up to `now_ms`."""
        await self.at.venue.advance(now_ms)
        events: list[Event] = [*map(asked, quotes), Watermark(QUOTES, now_ms)]
        fresh = self.at.run.sent(RESULTS)[self.results_taken :]
        self.results_taken += len(fresh)
        events += [ended(Settlement.decode(raw)) for raw in fresh]
        if self.settled_ms is not None:
            events.append(Watermark(RESULTS, self.settled_ms))
        self.sealed_ms = await self.sealing.work(events)
        new = calls(self.sealing)[self.calls_taken :]
        self.calls_taken += len(new)
        told: list[Event] = [record(CALLS, call.id, call, call.posted_at) for call in new]
        if self.sealed_ms is not None:
            told.append(Watermark(CALLS, self.sealed_ms))
        self.settled_ms = await self.at.run.work([*told, Watermark(CLOCK, now_ms)])


async def test_from_an_empty_start_both_promises_follow_the_clock_within_two_turns() -> None:
    async with court(START) as at:
        circle, now = Circle(at), ms(START)
        for _ in range(5):
            now += 3 * HOUR_MS
            await circle.turn([], now)
            assert circle.sealed_ms == now
            assert circle.settled_ms == now


WIDE = {"kind": "range", "low": 1.0, "high": 1_000_000.0}
POSTS = [post(ms(START) + number * HOUR_MS // 2 + 7, WIDE, offset=number) for number in range(20)]
END_MS = ms(START) + 30 * HOUR_MS


async def caught_up(at: Court) -> Circle:
    """Hand everything over at once; the promises alone say how far each turn may go."""
    circle = Circle(at)
    await circle.turn([quote(one) for one in POSTS], END_MS)
    while circle.sealed_ms != END_MS or circle.settled_ms != END_MS:
        assert circle.settled_ms is not None
        before = circle.settled_ms
        await circle.turn([], END_MS)
        assert circle.settled_ms is not None
        assert circle.settled_ms >= min(END_MS, before + HOUR_MS + GRACE_MS)
    return circle


async def kept_up(at: Court) -> Circle:
    """Live through the same time in steps of ten minutes."""
    circle, waiting, now = Circle(at), list(POSTS), ms(START)
    while now < END_MS:
        now += 10 * MINUTE_MS
        await circle.turn([quote(one) for one in waiting if one.posted_at < now], now)
        waiting = [one for one in waiting if one.posted_at >= now]
    await circle.turn([], END_MS)
    return circle


async def test_a_jump_over_posts_and_settlements_is_caught_up_and_ends_as_if_time_had_passed_in_steps() -> None:
    async with court(START) as jumped, court(START) as stepped:
        fast, slow = await caught_up(jumped), await kept_up(stepped)
        endings = [{ending(one) for one in at.settlements} for at in (jumped, stepped)]
    assert receipts(fast.sealing) == receipts(slow.sealing)
    assert endings[0] == endings[1]
    assert len(endings[0]) == len(calls(fast.sealing)) == codes(fast.sealing).count(None) > 5
    assert {"open_cap", "daily_cap"} <= set(codes(fast.sealing))
    assert fast.sealing.remembered() == slow.sealing.remembered()
