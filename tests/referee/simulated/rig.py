"""A simulated venue with real clients on it, for tests."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx

from referee.simulated.sample import Sample, load_sample
from referee.simulated.server import SimulatedVenue
from streams.clock import SteppedClock
from streams.feed.events import FeedEvent
from streams.feed.feed import Feed, FeedSettings
from streams.venues.base import venue_client
from streams.venues.bybit import BybitHttp
from streams.venues.hyperliquid import HyperliquidHttp
from streams.venues.hyperliquid_socket import HyperliquidSocket

MINUTE_MS = 60_000
FIVE_MINUTES_MS = 5 * MINUTE_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
LONGEST_TEST_S = 60
COINS = ("BTC", "ETH", "SOL", "HYPE", "FARTCOIN")
SAMPLE: Sample = load_sample()


def ms(text: str) -> int:
    """Return an ISO time, UTC, in ms since the epoch."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@dataclass(frozen=True)
class Rig:
    """A running venue, its clock and clients."""

    clock: SteppedClock
    client: httpx.AsyncClient
    venue: SimulatedVenue
    hyperliquid: HyperliquidHttp
    bybit: BybitHttp

    def socket(self, names: Iterable[str] = (*COINS, "MATIC"), pace_ms: int = 0) -> HyperliquidSocket:
        """Return an unconnected socket."""
        return HyperliquidSocket(self.venue.hyperliquid_socket_url, frozenset(names), self.clock, pace_ms=pace_ms)

    def feed(self, events: list[FeedEvent], coins: tuple[str, ...] = COINS) -> Feed:
        """Return a feed that has not started; what it publishes goes to `events`."""

        async def publish(event: FeedEvent) -> None:
            events.append(event)

        return Feed(FeedSettings(coins), self.clock, self.hyperliquid, self.socket, publish)

    async def step(self, feed: Feed, to_ms: int) -> None:
        """Let the venue and then the feed live until `to_ms`."""
        await self.venue.advance(to_ms)
        await feed.step(to_ms)


@asynccontextmanager
async def rig(start: str, *, empty_candle_lag_ms: int = 2_000, timeout_s: float = 10.0) -> AsyncIterator[Rig]:
    """Run a simulated venue from `start` (ISO, UTC) on."""
    clock = SteppedClock(ms(start))
    async with (
        asyncio.timeout(LONGEST_TEST_S),
        SimulatedVenue(clock, SAMPLE, empty_candle_lag_ms=empty_candle_lag_ms) as venue,
        venue_client(venue.bybit_url, timeout_s=timeout_s) as client,
    ):
        yield Rig(
            clock, client, venue, HyperliquidHttp(venue.hyperliquid_url, client), BybitHttp(venue.bybit_url, client)
        )
