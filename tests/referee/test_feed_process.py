"""The live feed's process against the simulated venue: what it puts on the bus, and what it promises there."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from structlog.testing import capture_logs

from referee.embedded.kafka import kafka
from referee.embedded.ports import free_port
from referee.embedded.server import EmbeddedServer
from referee.feed_process import FeedProcess
from streams.app import Bus
from streams.delivery.publisher import Publisher
from streams.delivery.watermarks import is_watermark, parse
from streams.feed.feed import Feed, FeedSettings
from streams.provision import create_topics
from streams.venues.base import PermanentVenueError
from tests.referee.simulated.rig import FIVE_MINUTES_MS, MINUTE_MS, Rig, ms, rig
from topics.market import Candle
from topics.registry import CANDLES, CLOCK, FEED, METRONOME, Topic

COINS = ("BTC", "ETH")
START = "2025-06-06T00:00:05"
START_MS = ms(START)
LONGEST_TEST_S = 60

pytestmark = pytest.mark.embedded


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an embedded broker."""
    server = EmbeddedServer(kafka(), tmp_path_factory.mktemp("kafka"))
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


@dataclass
class Heard:
    """What one topic has carried so far: watermarks, closed candles, and promises that were not kept."""

    consumer: AIOKafkaConsumer
    work: "asyncio.Task[None]"
    watermark_ms: int = 0
    closed: dict[tuple[str, str], list[Candle]] = field(default_factory=dict)
    broken: list[tuple[int, int]] = field(default_factory=list)
    _promised: dict[int, int] = field(default_factory=dict)

    async def until(self, watermark_ms: int) -> None:
        """Read on until every partition has heard this watermark or a later one; raises what ended the process."""
        while self.watermark_ms < watermark_ms:
            if self.work.done():
                self.work.result()
            for partition, records in (await self.consumer.getmany(timeout_ms=1_000)).items():
                for record in records:
                    if is_watermark(record.headers):
                        origin, at_ms = parse(record.headers)
                        assert origin in (FEED, METRONOME)
                        self._promised[partition.partition] = at_ms
                    else:
                        self._take(record.value, self._promised.get(partition.partition, 0))
            if len(self._promised) == len(self.consumer.assignment()):
                self.watermark_ms = min(self._promised.values())

    def _take(self, raw: bytes, promised_ms: int) -> None:
        message = orjson.loads(raw)
        if message["type"] == "candle" and message["closed"]:
            candle = Candle.decode(raw)
            self.closed.setdefault((candle.coin, candle.interval), []).append(candle)
            if candle.close_time < promised_ms:
                self.broken.append((candle.close_time, promised_ms))


@asynccontextmanager
async def hearing(bus: Bus, topic: Topic, work: "asyncio.Task[None]") -> AsyncIterator[Heard]:
    """Follow a topic from its beginning."""
    consumer = AIOKafkaConsumer(bootstrap_servers=bus.bootstrap, fetch_max_wait_ms=10, enable_auto_commit=False)
    async with consumer:
        partitions = [TopicPartition(bus.topic_name(topic), number) for number in range(bus.partitions)]
        consumer.assign(partitions)
        await consumer.seek_to_beginning(*partitions)
        yield Heard(consumer, work)


@asynccontextmanager
async def following(venue: Rig, bus: Bus) -> AsyncIterator["asyncio.Task[None]"]:
    """Run the process on the venue's clock."""
    await create_topics(bus, (), stepped=True)
    async with Publisher(bus.bootstrap, prefix=bus.prefix, idempotent=False) as publisher:
        process = FeedProcess(
            bus,
            publisher,
            venue.clock,
            lambda publish: Feed(FeedSettings(COINS), venue.clock, venue.hyperliquid, venue.socket, publish),
        )
        work = asyncio.create_task(process.run())
        try:
            yield work
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)


def on(bootstrap: str, prefix: str) -> Bus:
    """Return a bus of the test's own."""
    return Bus(bootstrap, prefix=prefix, idempotent=False)


async def test_closed_candles_watermarks_and_ticks_reach_the_bus(bootstrap: str) -> None:
    bus = on(bootstrap, "live.")
    async with (
        rig(START) as venue,
        following(venue, bus) as work,
        hearing(bus, CANDLES, work) as market,
        hearing(bus, CLOCK, work) as clock,
    ):
        for minute in range(11):
            now_ms = START_MS + minute * MINUTE_MS
            await venue.venue.advance(now_ms)
            await market.until(now_ms)
            await clock.until(now_ms)
    opened = [candle.open_time for candle in market.closed["ETH", "5m"]]
    assert opened == list(range(opened[0], START_MS // FIVE_MINUTES_MS * FIVE_MINUTES_MS + 600_000, FIVE_MINUTES_MS))
    assert opened[0] <= START_MS - 2 * 86_400_000
    assert len(market.closed["BTC", "1h"]) >= 30 * 24
    assert market.broken == []


async def test_the_watermark_waits_for_a_candle_that_the_venue_does_not_give(bootstrap: str) -> None:
    bus = on(bootstrap, "late.")
    boundary_ms = START_MS // FIVE_MINUTES_MS * FIVE_MINUTES_MS + FIVE_MINUTES_MS
    async with (
        rig(START) as venue,
        following(venue, bus) as work,
        hearing(bus, CANDLES, work) as market,
        hearing(bus, CLOCK, work) as clock,
    ):
        await market.until(START_MS)
        venue.venue.sessions.drop()
        for _ in COINS:
            venue.venue.refuse_next(503)
        for second in range(7):
            now_ms = boundary_ms + second * 1_000
            await venue.venue.advance(now_ms)
            await clock.until(now_ms)
        assert market.closed["BTC", "5m"][-1].close_time < boundary_ms
        for second in range(7, 20):
            await venue.venue.advance(boundary_ms + second * 1_000)
            await clock.until(boundary_ms + second * 1_000)
        await market.until(boundary_ms + 15_000)
    assert market.closed["BTC", "5m"][-1].close_time == boundary_ms
    assert market.broken == []


async def test_a_venue_that_is_away_is_asked_again_later_each_time_and_ticks_go_on(bootstrap: str) -> None:
    bus = on(bootstrap, "away.")
    with capture_logs() as logs:
        async with rig(START) as venue:
            for _ in range(3):
                venue.venue.refuse_next(503)
            async with (
                following(venue, bus) as work,
                hearing(bus, CLOCK, work) as clock,
                hearing(bus, CANDLES, work) as market,
            ):
                for second in range(12):
                    await clock.until(START_MS + second * 1_000)
                    await venue.venue.advance(START_MS + (second + 1) * 1_000)
                await market.until(START_MS + 12_000)
    away = [entry for entry in logs if entry["event"] == "venue_away"]
    assert [entry["next_attempt_in_ms"] for entry in away] == [1_000, 2_000, 4_000]
    assert [entry["event"] for entry in logs if entry["event"] == "feed_started"] == ["feed_started"]


async def test_ticks_outlast_a_refusal_and_a_new_feed_brings_what_the_step_lost(bootstrap: str) -> None:
    bus = on(bootstrap, "refused-later.")
    boundary_ms = START_MS // FIVE_MINUTES_MS * FIVE_MINUTES_MS + FIVE_MINUTES_MS
    with capture_logs() as logs:
        async with (
            rig(START) as venue,
            following(venue, bus) as work,
            hearing(bus, CANDLES, work) as market,
            hearing(bus, CLOCK, work) as clock,
        ):
            await market.until(START_MS)
            venue.venue.sessions.drop()
            for _ in range(4):
                venue.venue.refuse_next(422, b"no")
            for second in range(0, 190, 5):
                now_ms = boundary_ms + second * 1_000
                await venue.venue.advance(now_ms)
                await clock.until(now_ms)
            assert market.watermark_ms < boundary_ms
            await market.until(now_ms)
    refused = [entry for entry in logs if entry["event"] == "venue_refused"]
    assert [(entry["log_level"], entry["next_attempt_in_ms"]) for entry in refused] == [("error", 60_000)] * 2
    assert ['{"type":"meta"}' in entry["error"] for entry in refused] == [False, True]
    assert market.closed["BTC", "5m"][-1].close_time == boundary_ms
    assert market.closed["ETH", "5m"][-1].close_time == boundary_ms


async def test_a_refusal_before_the_feed_first_started_ends_the_process(bootstrap: str) -> None:
    bus = on(bootstrap, "refused.")
    async with rig(START) as venue:
        venue.venue.refuse_next(422)
        async with following(venue, bus) as work:
            with pytest.raises(PermanentVenueError, match="status 422"):
                await work


async def command(bootstrap: str, prefix: str, **environment: str) -> asyncio.subprocess.Process:
    """Start `referee feed`."""
    variables = {"KAFKA": bootstrap, "BROKER": "tansu", "TOPIC_PREFIX": prefix} | environment
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "referee",
        "feed",
        env=os.environ | {f"REFEREE_{name}": value for name, value in variables.items()},
        stderr=asyncio.subprocess.PIPE,
    )


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "Ctrl-C"])
async def test_the_command_outlives_a_venue_that_is_away_and_stops_when_told(
    bootstrap: str, ending: signal.Signals
) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    feed = await command(bootstrap, f"stop-{ending.name}.", HYPERLIQUID_URL=nowhere)
    assert feed.stderr is not None
    async with asyncio.timeout(LONGEST_TEST_S):
        seen = [await feed.stderr.readline(), await feed.stderr.readline()]
        feed.send_signal(ending)
        rest = await feed.stderr.read()
        assert await feed.wait() == 0
    assert all(b"event=venue_away" in line for line in seen)
    assert b"event=feed_stopped" in rest
    assert b"Traceback" not in rest


async def test_a_coin_that_the_venue_does_not_list_ends_the_command_with_one_line(bootstrap: str) -> None:
    async with rig(START) as venue:
        feed = await command(
            bootstrap,
            "unlisted.",
            HYPERLIQUID_URL=venue.venue.hyperliquid_url,
            HYPERLIQUID_SOCKET_URL=venue.venue.hyperliquid_socket_url,
            COINS='["NOPE"]',
        )
        async with asyncio.timeout(LONGEST_TEST_S):
            _, said = await feed.communicate()
    assert feed.returncode == 1
    assert said.decode().count("\n") == 1
    assert "'NOPE' is not in meta" in said.decode()
