"""`referee feed`: follows the live venue and puts its market, the feed's watermarks and the ticks on the bus."""

import asyncio
import re
import signal
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import structlog

from referee.settings import Settings
from rules.market import SECOND_MS
from streams.app import Bus
from streams.clock import Clock, WallClock
from streams.delivery.publisher import Publisher
from streams.feed.bus import BusFeed
from streams.feed.events import CompleteEvent, FeedEvent
from streams.feed.feed import Feed, FeedSettings
from streams.metronome import ticks
from streams.provision import create_topics
from streams.venues.base import INTERVAL_MS, PermanentVenueError, RetriableVenueError, venue_client
from streams.venues.hyperliquid import HyperliquidHttp
from streams.venues.hyperliquid_socket import HyperliquidSocket

FIRST_RETRY_MS = 1_000
LONGEST_RETRY_MS = 60_000

log = structlog.get_logger()

Publish = Callable[[FeedEvent], Awaitable[None]]


class FeedProcess:
    """The live feed on the bus: each second a step, what it found, behind it the watermark, and the ticks.

    The watermark is not the clock alone. A candle that is over may still be missing (a lost socket, a venue away), and
    whoever was promised that nothing earlier comes would go on without it; so the promise ends where the series that is
    furthest behind can bring its next closed candle. Funding does not hold it back: a payment may come an hour late or
    never (H2), and nothing joins it by watermark. Ticks go on whatever the venue does: they are the clock.

    A refusal before the feed first started is a mistake in what was configured, and ends the process. A later one may
    have cut a step short, and its candles with it: a new feed begins a minute after, and gets them by its backfill.
    """

    def __init__(self, bus: Bus, publisher: Publisher, clock: Clock, make_feed: Callable[[Publish], Feed]) -> None:
        """Prepare the process; `make_feed` makes the feed around the function that takes its events."""
        self._bus = bus
        self._publisher = publisher
        self._clock = clock
        self._bus_feed = BusFeed(bus, publisher)
        self._make_feed = make_feed
        self._feed = make_feed(self._publish)
        self._next_ms: dict[tuple[str, str], int] = {}
        self._started = False
        self._has_ever_started = False
        self._refusal: str | None = None
        self._start_at_ms = 0
        self._retry_ms = FIRST_RETRY_MS

    async def run(self) -> None:
        """Run until cancelled.

        Raises `PermanentVenueError` when the venue refuses what is asked of it before the feed first started, and
        `KafkaError`: what was to be sent is lost to this process then, and the next one gets it by its backfill.
        """
        loops = [asyncio.create_task(self._each_second(work)) for work in (self._step, self._tick)]
        try:
            await asyncio.gather(*loops)
        finally:
            for loop in loops:
                loop.cancel()
            await asyncio.gather(*loops, return_exceptions=True)
            await self._feed.stop()

    def watermark(self, now_ms: int) -> int:
        """Return the time before which no closed candle can come any more."""
        return min([now_ms, *self._next_ms.values()])

    async def _each_second(self, work: Callable[[int], Awaitable[None]]) -> None:
        while True:
            now_ms = self._clock.now_ms()
            await work(now_ms)
            await self._clock.sleep_until(now_ms // SECOND_MS * SECOND_MS + SECOND_MS)

    async def _tick(self, now_ms: int) -> None:
        await self._publisher.send(ticks(self._bus, now_ms))

    async def _step(self, now_ms: int) -> None:
        try:
            if self._started:
                await self._feed.step(now_ms)
            elif now_ms >= self._start_at_ms:
                await self._start(now_ms)
        except PermanentVenueError as error:
            if not self._has_ever_started:
                raise
            await self._begin_anew(error, now_ms)
        if self._started:
            await self._bus_feed.flush(self.watermark(now_ms))

    async def _start(self, now_ms: int) -> None:
        try:
            await self._feed.start()
        except RetriableVenueError as error:
            log.warning("venue_away", error=str(error), next_attempt_in_ms=self._retry_ms)
            self._start_at_ms = now_ms + self._retry_ms
            self._retry_ms = min(2 * self._retry_ms, LONGEST_RETRY_MS)
        else:
            log.info("feed_started", venue="hyperliquid")
            self._started = self._has_ever_started = True
            self._retry_ms = FIRST_RETRY_MS
            self._refusal = None

    async def _begin_anew(self, error: PermanentVenueError, now_ms: int) -> None:
        # the windows in a request move on, so that the same refusal differs by its numbers
        refusal = re.sub(r"\d{13}", "", str(error))
        if refusal != self._refusal:
            log.error("venue_refused", error=str(error), next_attempt_in_ms=LONGEST_RETRY_MS)
        self._refusal = refusal
        self._started = False
        self._start_at_ms = now_ms + LONGEST_RETRY_MS
        await self._feed.stop()
        self._feed = self._make_feed(self._publish)

    async def _publish(self, event: FeedEvent) -> None:
        if isinstance(event, CompleteEvent):
            self._next_ms[event.coin, event.interval] = event.through_ms + INTERVAL_MS[event.interval]
        await self._bus_feed.publish(event)


def feed_maker(settings: Settings, clock: Clock, http: HyperliquidHttp) -> Callable[[Publish], Feed]:
    """Return what makes the feed of the configured coins."""

    def open_socket(names: frozenset[str]) -> HyperliquidSocket:
        return HyperliquidSocket(settings.hyperliquid_socket_url, names, clock)

    return lambda publish: Feed(FeedSettings(settings.coins), clock, http, open_socket, publish)


async def run_feed(settings: Settings, *, create: bool = True) -> None:
    """Run the live feed until SIGINT or SIGTERM; with `create` the topics are created first.

    Raises `PermanentVenueError` and `KafkaError`, neither of which another second would heal.
    """
    bus, clock = settings.bus(), WallClock()
    if create:
        await create_topics(bus, (), replication=settings.replication)
    async with AsyncExitStack() as stack:
        publisher = await stack.enter_async_context(
            Publisher(bus.bootstrap, prefix=bus.prefix, idempotent=bus.idempotent)
        )
        client = await stack.enter_async_context(venue_client(settings.hyperliquid_url))
        http = HyperliquidHttp(settings.hyperliquid_url, client)
        process = FeedProcess(bus, publisher, clock, feed_maker(settings, clock, http))
        await _until_asked_to_stop(process)


async def _until_asked_to_stop(process: FeedProcess) -> None:
    work = asyncio.create_task(process.run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, work.cancel)
    try:
        await work
    except asyncio.CancelledError:
        log.info("feed_stopped")
