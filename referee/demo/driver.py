"""The driver of a stepped run: moves time forward, lets the venue and the sample agents act, waits for the pipeline."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from referee.demo.arena_accounts import ArenaAccount
from referee.demo.floor_agents import Draft, FloorDesk
from referee.demo.progress import PipelineProgress
from referee.simulated.server import SimulatedVenue
from rules.market import FIVE_MINUTES_MS, HOUR_MS, MINUTE_MS
from streams.app import Bus
from streams.delivery.outbox import Output
from streams.delivery.publisher import Publisher
from streams.feed.bus import BusFeed
from streams.feed.feed import Feed
from streams.metronome import ticks
from streams.signing import sign_envelope
from topics.registry import INGRESS

STEP_MS = FIVE_MINUTES_MS
PAST_BOUNDARY_MS = 125_000
REPORT_EVERY_MS = 15 * MINUTE_MS
LAG_ALLOWED_MS = 2 * REPORT_EVERY_MS + STEP_MS


class Driver:
    """Steps the simulated time and does in each step what the world does: venue, feed, agents, ticks.

    A step ends two minutes and five seconds after a candle's close, when what settles at that close is due. Sample
    agents act within a step on what they could see at its beginning. The next step begins when the agents that ask the
    venue have reached the end of this one, so that it answers each as of its time; the others, which only join what is
    on the bus, may be half an hour behind, far less than the hour after which the earliest call settles. So results do
    not depend on how fast anything runs.
    """

    def __init__(
        self,
        bus: Bus,
        publisher: Publisher,
        venue: SimulatedVenue,
        feed: Feed,
        bus_feed: BusFeed,
        desk: FloorDesk,
        accounts: Sequence[ArenaAccount],
        progress: PipelineProgress,
        asking: Collection[str],
    ) -> None:
        self._bus = bus
        self._publisher = publisher
        self._venue = venue
        self._feed = feed
        self._bus_feed = bus_feed
        self._desk = desk
        self._accounts = accounts
        self._progress = progress
        self._asking = asking
        self.sent = 0

    async def run(self, start_ms: int, end_ms: int, *, pace_s: float, on_step: Callable[[int], None]) -> None:
        """Run from `start_ms` to `end_ms`; `pace_s` is the least wall time of a simulated hour.

        `end_ms` is on a multiple of `REPORT_EVERY_MS`: whoever gets there says so, and leaves nothing half done.
        """
        await self._venue.advance(start_ms)
        await self._feed.start()
        await self._bus_feed.flush(start_ms)
        await self._publisher.send(ticks(self._bus, start_ms))
        drafts = self._desk.start(start_ms, end_ms)
        for account in self._accounts:
            account.start(start_ms)
        seen_ms = start_ms
        for now_ms in (*range(start_ms + STEP_MS, end_ms, STEP_MS), end_ms):
            floor = asyncio.get_running_loop().time() + pace_s * STEP_MS / HOUR_MS
            drafts += await self._plan(seen_ms, now_ms)
            await self._venue.advance(now_ms)
            await asyncio.gather(self._step_feed(now_ms), self._post(drafts, now_ms))
            drafts, seen_ms = [], now_ms
            await self._progress.reached(now_ms, self._asking)
            await self._progress.reached(now_ms - LAG_ALLOWED_MS)
            on_step(now_ms)
            await _until(floor)
        await self._progress.reached(end_ms)

    async def _plan(self, seen_ms: int, before_ms: int) -> list[Draft]:
        drafts = await self._desk.drafts(seen_ms, before_ms)
        for account in self._accounts:
            drafts += await account.drafts(seen_ms, before_ms)
        return drafts

    async def _step_feed(self, now_ms: int) -> None:
        await self._feed.step(now_ms)
        await self._bus_feed.flush(now_ms)

    async def _post(self, drafts: list[Draft], now_ms: int) -> None:
        drafts.sort(key=lambda draft: (draft.at_ms, draft.key))
        self.sent += len(drafts)
        await self._publisher.send([*(_signed(draft) for draft in drafts), *ticks(self._bus, now_ms)])


def _signed(draft: Draft) -> Output:
    envelope = sign_envelope(draft.private_key, draft.kind, draft.body, draft.at_ms)
    return Output(INGRESS, draft.key.encode(), envelope.encode(), draft.at_ms)


async def _until(loop_time: float) -> None:
    left = loop_time - asyncio.get_running_loop().time()
    if left > 0:
        await asyncio.sleep(left)


async def or_failure(work: Awaitable[None], failure: asyncio.Future[str]) -> None:
    """Await the work unless a process of the run ends first; raises `RunFailedError` with the reason then."""
    task = asyncio.ensure_future(work)
    waits: set[asyncio.Future[Any]] = {task, failure}
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if failure in done:
            raise RunFailedError(failure.result())
        await task
    finally:
        # what the work uses is closed next, so it must have ended by then
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class RunFailedError(Exception):
    """A process of the run ended before the run did."""
