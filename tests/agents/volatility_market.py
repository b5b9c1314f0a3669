"""A small market for the tests of the agent that answers posts: records, histories and what came out."""

import random
from typing import Any

from aiokafka.structs import ConsumerRecord

from agents import volatility
from tests.agents.floor_messages import FIVE_MINUTES_MS, HOUR_MS, T0, candle, complete, listings
from tests.agents.interleaving import Event
from tests.agents.records import RecordMaker
from tests.agents.runs import Run, Watermark
from topics.floor import Post, Quote
from topics.keys import coin_key
from topics.market import Candle, Complete, Listings, Volatility
from topics.registry import CANDLES, LISTINGS, POSTS, QUOTES, VOLATILITY

SPEC = volatility.spec()
LIQUID = 60_000_000.0
AT = T0 + 7 * 60_000
record = RecordMaker("test.")


def market(message: Candle | Complete) -> ConsumerRecord:
    at_ms = message.close_time if isinstance(message, Candle) else message.through
    return record(CANDLES, coin_key(message.coin), message, at_ms)


def markets(*messages: Candle | Complete) -> list[Event]:
    return [market(message) for message in messages]


def listed(message: Listings) -> ConsumerRecord:
    return record(LISTINGS, message.venue, message, message.at)


def posted(message: Post) -> ConsumerRecord:
    return record(POSTS, coin_key(message.coin), message, message.posted_at)


def hours(count: int, coin: str = "BTC", until: int = T0, seed: int = 1, **changes: Any) -> list[Candle]:
    """Return hourly candles whose last closes at `until`, a random walk around 100."""
    draw, close = random.Random(seed), 100.0
    found = []
    for number in range(count):
        close *= 1 + draw.gauss(0, 0.004)
        found.append(candle(until - (count - number) * HOUR_MS, close, "1h", coin, **changes))
    return found


def known(coin: str = "BTC", close: float = 100.0) -> list[Event]:
    """Return what makes a coin's market known at `AT`: 200 hours, two prints, completeness."""
    fives = [candle(T0 - FIVE_MINUTES_MS, 99.0, coin=coin), candle(T0, close, coin=coin)]
    through = [complete(T0 + FIVE_MINUTES_MS, "5m", coin), complete(T0, "1h", coin)]
    return markets(*hours(200, coin), *fives, *through)


def heard(at_ms: int = T0 + HOUR_MS) -> list[Event]:
    return [Watermark(topic, at_ms) for topic in SPEC.inputs]


def run() -> Run:
    return Run(SPEC.reducer, SPEC.inputs)


def quotes(done: Run) -> list[Quote]:
    return [Quote.decode(raw) for raw in done.sent(QUOTES)]


def published(done: Run) -> list[Volatility]:
    return [Volatility.decode(raw) for raw in done.sent(VOLATILITY)]


async def quoted(*events: Event) -> Quote:
    """Return the one quote that the events give."""
    done = run()
    await done.work(events)
    (found,) = quotes(done)
    return found


def listed_btc(at: int = T0) -> Event:
    return listed(listings(at, {"BTC": LIQUID}))
