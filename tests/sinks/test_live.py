"""Tests of the live views on a real Valkey."""

import json
import socket
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from sinks.errors import RetriableSinkError
from sinks.live import ALERTS_KEPT, LiveViews
from tests.sinks.examples import T0, alert, candle
from topics.market import Complete, Volatility

pytestmark = pytest.mark.embedded

FIVE_MINUTES_MS = 300_000


@pytest.fixture
async def server(redis_url: str) -> AsyncIterator[Redis]:
    """Return a client of the embedded Valkey."""
    client: Redis = Redis.from_url(redis_url, decode_responses=True)
    yield client
    await client.aclose()


@pytest.fixture
def prefix() -> str:
    """Return a prefix of keys that no other test uses."""
    return f"{uuid4().hex}:"


@pytest.fixture
async def views(redis_url: str, prefix: str) -> AsyncIterator[LiveViews]:
    """Return live views under the test's own keys."""
    views = LiveViews(redis_url, prefix)
    yield views
    await views.close()


async def test_a_coin_has_its_forming_candle_sigma_and_completeness(
    server: Redis, views: LiveViews, prefix: str
) -> None:
    volatility = Volatility(venue="hyperliquid", coin="BTC", at=T0, sigma=0.1 + 0.2, returns=9)
    await views.write(
        [
            ("market.candles", candle(closed=False, close=101.5).encode()),
            ("market.volatility", volatility.encode()),
            ("market.candles", Complete(venue="hyperliquid", coin="BTC", interval="5m", through=T0).encode()),
            ("market.candles", candle(closed=True, close=99.0).encode()),
        ]
    )
    found = await server.hgetall(f"{prefix}live:hyperliquid:BTC")
    assert float(found["close"]) == 101.5
    assert float(found["sigma"]) == 0.1 + 0.2
    assert (found["sigma_at"], found["complete_5m"], found["open_time"]) == (str(T0), str(T0), str(T0))
    assert await server.smembers(f"{prefix}coins") == {"hyperliquid:BTC"}


async def test_an_older_candle_does_not_replace_a_newer_one(server: Redis, views: LiveViews, prefix: str) -> None:
    newer = candle(closed=False, open_time=T0 + FIVE_MINUTES_MS, close=120.0)
    await views.write([("market.candles", newer.encode())])
    await views.write([("market.candles", candle(closed=False, close=80.0).encode())])
    assert await server.hget(f"{prefix}live:hyperliquid:BTC", "close") == "120.0"
    await views.write([("market.candles", newer.model_copy(update={"close": 121.0}).encode())])
    assert await server.hget(f"{prefix}live:hyperliquid:BTC", "close") == "121.0"


async def test_alerts_are_capped_newest_first_and_never_repeated(server: Redis, views: LiveViews, prefix: str) -> None:
    some = [alert(id=f"v{number}", at=T0 + number) for number in range(ALERTS_KEPT + 5)]
    for _ in range(2):
        await views.write([("alerts", one.encode()) for one in some])
    found = [json.loads(text)["id"] for text in await server.lrange(f"{prefix}alerts", 0, -1)]
    assert found == [one.id for one in reversed(some)][:ALERTS_KEPT]


async def test_a_server_that_is_away_is_retriable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        views = LiveViews(f"redis://127.0.0.1:{taken.getsockname()[1]}/0")
        with pytest.raises(RetriableSinkError):
            await views.write([("alerts", alert().encode())])
        await views.close()


async def test_a_topic_without_a_live_view_is_an_error(views: LiveViews) -> None:
    with pytest.raises(KeyError):
        await views.write([("floor.calls", b"{}")])
