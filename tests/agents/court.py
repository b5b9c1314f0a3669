"""The settlement agent on a running simulated venue, its clock in the hands of the test."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from agents import settlement
from agents.venue_reading import TRIES, Venues
from referee.simulated.sample import RecordedCandle, Sample
from referee.simulated.server import SimulatedVenue
from rules.floor.prices import price_at_posting
from rules.market import Candle
from streams.clock import SteppedClock
from streams.venues.base import venue_client
from streams.venues.bybit import BybitHttp
from streams.venues.hyperliquid import HyperliquidHttp
from tests.agents.floor_messages import FIVE_MINUTES_MS, HOUR_MS, call, post
from tests.agents.interleaving import Event
from tests.agents.records import RecordMaker
from tests.agents.runs import Run, Watermark
from tests.referee.simulated.rig import SAMPLE, ms
from topics.floor import Call, Evidence, Settlement
from topics.registry import CALLS, CLOCK, EVIDENCE, SETTLEMENTS

MINUTE_MS = 60_000
GRACE_MS = 2 * MINUTE_MS
PATIENCE_MS = GRACE_MS + HOUR_MS
"""How long after its deadline a call is asked about for the last time."""

REQUESTS_IN_VAIN = 3 * TRIES
"""What an attempt on one call sends to silent venues: the names, the candles and the second venue's candles."""

record = RecordMaker("test.")


@dataclass
class Court:
    """The agent, the venue that it asks and what it was told."""

    venue: SimulatedVenue
    run: Run

    async def tick(self, to_ms: int, calls: Sequence[Call] = (), calls_ms: int | None = None) -> int | None:
        """Let time pass until `to_ms`, with calls on their way; returns the promise."""
        await self.venue.advance(to_ms)
        events: list[Event] = [record(CALLS, one.id, one, one.posted_at) for one in calls]
        told = Watermark(CALLS, to_ms if calls_ms is None else calls_ms)
        return await self.run.work([*events, told, Watermark(CLOCK, to_ms)])

    async def silent_tick(self, to_ms: int) -> int | None:
        """Let time pass until `to_ms` while both venues answer 500, as often as a single call makes them."""
        for _ in range(REQUESTS_IN_VAIN):
            self.venue.refuse_next(500)
        return await self.tick(to_ms)

    @property
    def settlements(self) -> list[Settlement]:
        return [Settlement.decode(raw) for raw in self.run.sent(SETTLEMENTS)]

    @property
    def evidence(self) -> dict[str, Evidence]:
        return {one.sha256: one for one in (Evidence.decode(raw) for raw in self.run.sent(EVIDENCE))}


@asynccontextmanager
async def court(start: str, sample: Sample = SAMPLE) -> AsyncIterator[Court]:
    """Run an agent that knows no call yet, and its venue, from `start` (ISO, UTC) on."""
    async with (
        SimulatedVenue(SteppedClock(ms(start)), sample) as venue,
        venue_client(venue.hyperliquid_url) as pinned,
        venue_client(venue.bybit_url) as second,
    ):
        venues = Venues(
            HyperliquidHttp(venue.hyperliquid_url, pinned),
            BybitHttp(venue.bybit_url, second),
        )
        spec = settlement.spec(venues)
        yield Court(venue, Run(spec.reducer, spec.inputs))


@cache
def recorded(venue: str, coin: str) -> tuple[Candle, ...]:
    """Return a coin's recorded 5-minute candles as the rulebook takes them."""
    return tuple(
        Candle(row.open_time_ms, *map(float, (row.open, row.high, row.low, row.close, row.volume)))
        for row in SAMPLE.candles[venue, coin, "5m"]
    )


def sealed(coin: str, posted: str | int, deadline: str | int, terms: dict[str, Any] | None = None, **more: Any) -> Call:
    """Return a sealed call on a recorded coin; without terms it says that the price touches 1 % above."""
    posted_ms = ms(posted) if isinstance(posted, str) else posted
    deadline_ms = ms(deadline) if isinstance(deadline, str) else deadline
    s = price_at_posting(recorded("hyperliquid", coin), posted_ms) if coin != "MATIC" else 0.2
    assert s is not None
    terms = {"kind": "touch", "level": s * 1.01} if terms is None else terms
    side = terms.get("direction")
    if terms["kind"] == "touch":
        side = "up" if terms["level"] > s else "down"
    of = post(posted_ms, terms, source=f"hyperliquid:{coin}:price", deadline=deadline_ms)
    seal = f"{coin}-{posted_ms}-{deadline_ms}-{terms}"
    return call(of, seal, s=s, side=side, **more)


def some_calls(seed: int, count: int, coins: Sequence[str], start: str, hours: int) -> list[Call]:
    """Return calls of all kinds, on levels near enough to be reached about as often as not."""
    draw = random.Random(seed)
    found: list[Call] = []
    while len(found) < count:
        coin = draw.choice(coins)
        posted_ms = ms(start) + draw.randint(0, hours * HOUR_MS)
        deadline_ms = (posted_ms + draw.randint(HOUR_MS + FIVE_MINUTES_MS, 20 * HOUR_MS)) // FIVE_MINUTES_MS
        s = price_at_posting(recorded("hyperliquid", coin), posted_ms)
        if s is None:
            continue
        up, down = s * (1 + draw.uniform(0.001, 0.02)), s * (1 - draw.uniform(0.001, 0.02))
        terms: dict[str, Any] = draw.choice(
            [
                {"kind": "touch", "level": draw.choice([up, down])},
                {"kind": "close", "level": draw.choice([up, down]), "direction": draw.choice(["above", "below"])},
                {"kind": "range", "low": down, "high": up},
            ]
        )
        found.append(sealed(coin, posted_ms, deadline_ms * FIVE_MINUTES_MS, terms))
    return sorted(found, key=lambda one: one.posted_at)


def changed(key: tuple[str, str, str], field: str, text: str) -> Sample:
    """Return the sample with one text changed in each candle of a series on 2025-06-08 from 12:00 to 18:00 UTC."""
    first, end = ms("2025-06-08T12:00"), ms("2025-06-08T18:00")

    def change(row: RecordedCandle) -> RecordedCandle:
        texts: dict[str, Any] = {field: text}
        return replace(row, **texts) if first <= row.open_time_ms < end else row

    return replace(SAMPLE, candles={**SAMPLE.candles, key: tuple(map(change, SAMPLE.candles[key]))})


def ending(one: Settlement) -> str:
    """Return all that a settlement says but the answers that it rests on, which depend on when they were asked for."""
    return one.model_dump_json(exclude={"fetched"})
