"""A small stepped world: venue, feed, a few agents that post signed calls, ticks."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from referee.agents import engine_agents
from referee.demo.progress import PipelineProgress
from referee.settings import Settings
from referee.simulated.sample import Sample, load_sample
from referee.simulated.server import SimulatedVenue
from rules.market import FIVE_MINUTES_MS, HOUR_MS, MINUTE_MS
from streams.app import Bus
from streams.clock import SteppedClock
from streams.delivery.outbox import Output
from streams.delivery.publisher import Publisher
from streams.feed.bus import BusFeed
from streams.feed.feed import Feed, FeedSettings
from streams.metronome import ticks
from streams.provision import create_topics
from streams.signing import sign_envelope
from streams.venues.base import venue_client
from streams.venues.hyperliquid import HyperliquidHttp
from streams.venues.hyperliquid_socket import HyperliquidSocket
from tests.integration.engine import COMMAND, Engine, settings_for
from topics.registry import INGRESS

FIRST_MS = 1_749_168_000_000 + 125_000
COINS = ("BTC", "ETH")
ASK_THE_VENUE = ("settlement", "arena")
AGENTS = 6
STEP_S = 60
SAMPLE: Sample = load_sample()


def wallet(name: str) -> str:
    """Return an agent's private key."""
    return "0x" + hashlib.sha256(name.encode()).hexdigest()


def signed(kind: str, body: dict[str, object], at_ms: int) -> Output:
    """Return a signed envelope of the agent that the body names."""
    name = str(body["agent"])
    return Output(INGRESS, name.encode(), sign_envelope(wallet(name), kind, body, at_ms).encode(), at_ms)


def registrations(at_ms: int) -> list[Output]:
    """Return the registrations of all agents."""
    return [
        signed("floor.register", {"agent": f"agent-{n}", "operator": f"desk-{n}"}, at_ms + n) for n in range(AGENTS)
    ]


def call(agent: int, at_ms: int, price: float) -> Output:
    """Return a call whose kind and numbers are functions of agent and time."""
    coin = COINS[agent % len(COINS)]
    mix = agent + at_ms // FIVE_MINUTES_MS
    terms: dict[str, object]
    match mix % 3:
        case 0:
            terms = {"kind": "touch", "level": round(price * (1.001 if mix % 2 else 0.999), 4)}
            text = f"{coin} trades at {terms['level']}"
        case 1:
            terms = {"kind": "close", "level": round(price, 4), "direction": "above"}
            text = f"{coin} closes above its price"
        case _:
            terms = {"kind": "range", "low": round(price * 0.99, 4), "high": round(price * 1.01, 4)}
            text = f"{coin} stays within one percent"
    body: dict[str, object] = {
        "agent": f"agent-{agent}",
        "claim": text,
        "source": f"hyperliquid:{coin}:price",
        "terms": terms,
        "deadline": (at_ms // FIVE_MINUTES_MS + 1) * FIVE_MINUTES_MS + HOUR_MS,
        "p": 0.55,
        "invalidation": "none",
    }
    return signed("floor.call", body, at_ms)


@dataclass
class World:
    """Everything around an engine on one bus; `step` moves it on and does not wait for the engine."""

    bus: Bus
    settings: Settings
    engine: Engine
    venue: SimulatedVenue
    feed: Feed
    bus_feed: BusFeed
    http: HyperliquidHttp
    publisher: Publisher
    progress: PipelineProgress
    sent: list[Output]

    async def open(self, now_ms: int = FIRST_MS) -> None:
        """Begin: history of the market, registrations, the first tick."""
        await self.venue.advance(now_ms)
        await self.feed.start()
        await self.bus_feed.flush(now_ms)
        await self.post(registrations(now_ms - MINUTE_MS), now_ms)

    async def step(self, now_ms: int, outputs: Sequence[Output] = ()) -> None:
        """Let the market and the agents act up to a time."""
        await self.venue.advance(now_ms)
        await self.feed.step(now_ms)
        await self.bus_feed.flush(now_ms)
        await self.post(outputs, now_ms)

    async def post(self, outputs: Sequence[Output], now_ms: int) -> None:
        """Send records, and the tick behind them."""
        self.sent += outputs
        await self.publisher.send([*outputs, *ticks(self.bus, now_ms)])

    async def price(self, coin: str, at_ms: int) -> float:
        """Return the close of the last closed candle."""
        answer = await self.http.candles(coin, "5m", at_ms - HOUR_MS, at_ms - 1)
        return [row for row in answer.rows if row.open_time_ms + FIVE_MINUTES_MS <= at_ms][-1].close

    async def settled(self, now_ms: int) -> None:
        """Return when the agents that ask the venue have reached a time."""
        await self._reached(now_ms, ASK_THE_VENUE)

    async def finished(self, now_ms: int) -> None:
        """Return when every agent has reached a time."""
        await self._reached(now_ms, None)

    async def _reached(self, now_ms: int, agents: Sequence[str] | None) -> None:
        try:
            async with asyncio.timeout(STEP_S):
                await self.progress.reached(now_ms, agents)
        except TimeoutError:
            late = {origin: None if at is None else at - now_ms for origin, at in self.progress.behind(now_ms).items()}
            raise AssertionError(f"{self.bus.prefix} not at {now_ms} after {STEP_S} s, behind by ms: {late}") from None


@asynccontextmanager
async def world(kafka: str, prefix: str, logs: Path, command: tuple[str, ...] = COMMAND) -> AsyncIterator[World]:
    """Run a venue and an engine, or another command in its place, on topics of their own."""
    async with AsyncExitStack() as stack:
        clock = SteppedClock(FIRST_MS - FIVE_MINUTES_MS)
        venue = await stack.enter_async_context(SimulatedVenue(clock, SAMPLE))
        settings = settings_for(kafka, prefix, venue.hyperliquid_url, venue.bybit_url)
        bus = settings.bus()
        specs = await engine_agents(settings, stack)
        await create_topics(bus, specs, stepped=True)
        engine = stack.enter_context(Engine(settings, logs, command))
        publisher = await stack.enter_async_context(Publisher(bus.bootstrap, prefix=prefix, idempotent=False))
        client = await stack.enter_async_context(venue_client(venue.hyperliquid_url))
        http = HyperliquidHttp(venue.hyperliquid_url, client)
        bus_feed = BusFeed(bus, publisher)
        socket_url = venue.hyperliquid_socket_url
        feed = Feed(
            FeedSettings(coins=COINS),
            clock,
            http,
            lambda names: HyperliquidSocket(socket_url, names, clock, pace_ms=0),
            bus_feed.publish,
        )
        stack.push_async_callback(feed.stop)
        progress = PipelineProgress(bus, [origin for spec in specs for origin in spec.origins(bus.partitions)])
        await progress.start()
        stack.push_async_callback(progress.stop)
        yield World(bus, settings, engine, venue, feed, bus_feed, http, publisher, progress, [])
