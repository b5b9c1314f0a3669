"""Puts a demo run together: servers, venue, workers, pages, driver, summary."""

import asyncio
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from referee.agents import engine_agents
from referee.demo.arena_accounts import accounts
from referee.demo.driver import PAST_BOUNDARY_MS, REPORT_EVERY_MS, STEP_MS, Driver, or_failure
from referee.demo.floor_agents import FloorDesk
from referee.demo.market import MarketViews
from referee.demo.processes import RunProcesses
from referee.demo.progress import PipelineProgress
from referee.demo.summary import summarise
from referee.embedded.ports import free_port, is_port_free
from referee.embedded.stack import EmbeddedStack
from referee.settings import Settings
from referee.simulated.server import SimulatedVenue
from rules.arena.commitment import Deployment
from rules.market import DAY_MS
from sinks.clickhouse.rows import TOPIC_NAMES
from streams.app import Bus
from streams.clock import SteppedClock
from streams.delivery.publisher import Publisher
from streams.delivery.reducer import AgentSpec
from streams.ends import end_offsets, partitions_of
from streams.feed.bus import BusFeed
from streams.feed.feed import Feed, FeedSettings
from streams.provision import create_topics
from streams.venues.base import venue_client
from streams.venues.hyperliquid import HyperliquidHttp
from streams.venues.hyperliquid_socket import HyperliquidSocket
from topics.registry import by_name

FIRST_DAY_MS = 1_749_168_000_000  # 2025-06-06; the venue's halt is on 2025-06-08
SOCKET_PACE_MS = 0
TANSU_PARTITIONS = 1  # a fetch from Tansu costs the more, the more batches its partitions hold; results are the same
DEFAULT_PORT = 8080


@dataclass(frozen=True, slots=True)
class Options:
    """What a demo run is asked for; `pace_s` is the least wall time of a simulated hour, 0 as fast as possible."""

    days: int = 3
    seed: int = 1
    pace_s: float = 0.0
    port: int | None = None
    pages: bool = True


class Demo:
    """One demo run as a context manager: inside it the pages are up; `run` steps through the days."""

    def __init__(self, settings: Settings, options: Options) -> None:
        self._given = settings
        self._options = options
        self._stack = AsyncExitStack()
        self.page_url: str | None = None

    async def __aenter__(self) -> "Demo":
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _start(self) -> None:
        stack, options = self._stack, self._options
        self._began_s = time.monotonic()
        data = self._given.data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="referee-demo-")))
        servers = await stack.enter_async_context(
            EmbeddedStack(
                data,
                kafka_address=self._given.kafka,
                clickhouse_address=self._given.clickhouse,
                redis_address=self._given.redis,
                broker=self._given.embedded_kafka,
            )
        )
        self._clock = SteppedClock(FIRST_DAY_MS)
        self._venue = await stack.enter_async_context(SimulatedVenue(self._clock))
        self._settings = demo_settings(self._given, servers, self._venue)
        self._bus = self._settings.bus()
        specs = await engine_agents(self._settings, stack)
        await create_topics(self._bus, specs, replication=self._settings.replication, stepped=True)
        self._processes = await stack.enter_async_context(RunProcesses(self._settings, data / "logs"))
        self._processes.start("worker-engine", "worker", "--role", "engine", "--no-create")
        self._processes.start("worker-sink", "worker", "--role", "sink", "--no-create")
        if options.pages:
            port = options.port if options.port is not None else page_port()
            self._processes.start("pages", "dashboard", "--port", str(port))
            self.page_url = f"http://{self._settings.host}:{port}"
        self._driver = await self._open_driver(specs)

    async def _open_driver(self, specs: tuple[AgentSpec, ...]) -> Driver:
        bus = self._bus
        publisher = await self._stack.enter_async_context(
            Publisher(bus.bootstrap, prefix=bus.prefix, idempotent=bus.idempotent)
        )
        client = await self._stack.enter_async_context(venue_client(self._venue.hyperliquid_url))
        http = HyperliquidHttp(self._venue.hyperliquid_url, client)
        bus_feed = BusFeed(bus, publisher)
        socket_url = self._venue.hyperliquid_socket_url
        feed = Feed(
            FeedSettings(coins=self._settings.coins),
            self._clock,
            http,
            lambda names: HyperliquidSocket(socket_url, names, self._clock, pace_ms=SOCKET_PACE_MS),
            bus_feed.publish,
        )
        self._stack.push_async_callback(feed.stop)
        views = MarketViews(http)
        deployment = Deployment(self._settings.chain_id, self._settings.callbook)
        origins = [origin for spec in specs for origin in spec.origins(bus.partitions)]
        self._progress = PipelineProgress(bus, origins)
        await self._progress.start()
        self._stack.push_async_callback(self._progress.stop)
        asking = [spec.name for spec in specs if spec.asks_venue]
        desk = FloorDesk(self._options.seed, views)
        players = accounts(self._options.seed, deployment, views)
        return Driver(bus, publisher, self._venue, feed, bus_feed, desk, players, self._progress, asking)

    async def run(self, on_step: Callable[[int], None]) -> dict[str, Any]:
        """Replay the days, wait for the sinks and return the summary.

        Raises `RunFailedError` when a process of the run ends before it.
        """
        start_ms = FIRST_DAY_MS + PAST_BOUNDARY_MS
        end_ms = FIRST_DAY_MS + self._options.days * DAY_MS
        work = self._driver.run(start_ms, end_ms, pace_s=self._options.pace_s, on_step=on_step)
        await or_failure(work, self._processes.failure)
        replayed_s = time.monotonic() - self._began_s
        ends = await end_offsets(self._bus, partitions_of(self._bus, by_name(TOPIC_NAMES)))
        ends = {f"{tp.topic.removeprefix(self._bus.prefix)}/{tp.partition}": end for tp, end in ends.items()}
        await or_failure(self._progress.delivered(ends), self._processes.failure)
        await self._progress.stop()
        summary = await summarise(self._bus)
        return {
            "days": self._options.days,
            "from": iso(FIRST_DAY_MS),
            "to": iso(end_ms),
            "seed": self._options.seed,
            "envelopes": self._driver.sent,
            **summary,
            "replay_seconds": round(replayed_s, 1),
            "wall_seconds": round(time.monotonic() - self._began_s, 1),
            "page": self.page_url,
        }

    async def until_failure(self) -> str:
        """Return the reason when a process of the run ends."""
        return await self._processes.failure

    @property
    def bus(self) -> Bus:
        """Return the bus of the run."""
        return self._bus

    @property
    def settings(self) -> Settings:
        """Return the settings that the run's processes got."""
        return self._settings


def demo_settings(given: Settings, servers: EmbeddedStack, venue: SimulatedVenue) -> Settings:
    """Return the settings of a run: its servers, the simulated venue, names of its own on servers it does not own."""
    run_name = datetime.now(UTC).strftime("demo-%Y%m%d%H%M%S-")
    changes: dict[str, object] = {
        "kafka": servers.kafka,
        "clickhouse": servers.clickhouse,
        "redis": servers.redis,
        "hyperliquid_url": venue.hyperliquid_url,
        "hyperliquid_socket_url": venue.hyperliquid_socket_url,
        "bybit_url": venue.bybit_url,
        "report_every_ms": REPORT_EVERY_MS,
    }
    if given.kafka is None:
        changes["broker"] = "tansu"
        if "partitions" not in given.model_fields_set:
            changes["partitions"] = TANSU_PARTITIONS
    else:
        changes["topic_prefix"] = given.topic_prefix + run_name
    if given.clickhouse is not None:
        changes["database"] = f"{given.database}_{run_name.strip('-').replace('-', '_')}"
    return given.model_copy(update=changes)


def page_port() -> int:
    """Return the pages' usual port, or a free one where it is taken."""
    return DEFAULT_PORT if is_port_free(DEFAULT_PORT) else free_port()


def iso(time_ms: int) -> str:
    """Return a time in ms as ISO 8601 text, UTC."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat().replace("+00:00", "Z")


def steps_of(options: Options) -> int:
    """Return how many steps a run has."""
    return options.days * DAY_MS // STEP_MS


def run_demo(settings: Settings, options: Options, on_step: Callable[[int], None]) -> dict[str, Any]:
    """Run a demo to its end and return its summary, with everything stopped again."""

    async def once() -> dict[str, Any]:
        async with Demo(settings, options) as demo:
            return await demo.run(on_step)

    return asyncio.run(once())
