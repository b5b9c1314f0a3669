"""What open records read from the venue: the same rows however and whenever they are asked for."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

import httpx
import orjson
import pytest
from structlog.testing import capture_logs

from agents.arena_market import ArenaMarket, candle_shown, funding_shown
from agents.arena_rows import SeriesRows, Shown, Span
from referee.simulated.server import SimulatedVenue
from rules.arena.loading import Load
from rules.arena.types import Candle, CoinRows, Funding, Interval
from streams.clock import SteppedClock
from streams.venues.base import FundingRow, VenueCandle, venue_client
from streams.venues.hyperliquid import HyperliquidHttp
from tests.agents.arena_example import sample_market
from tests.referee.simulated.rig import COINS, SAMPLE, ms

HOUR_S = 3_600
DAY_S = 24 * HOUR_S


@dataclass
class Desk:
    """A market on the simulated venue and the requests that it sent."""

    clock: SteppedClock
    venue: HyperliquidHttp
    market: ArenaMarket
    asked: list[dict[str, object]]

    async def rows(self, loads: Sequence[Load], as_of_s: int) -> dict[str, CoinRows]:
        """Return what the market holds as of a moment, cut as scoring cuts it."""
        await self.market.listed(as_of_s)
        return cut(await self.market.rows(loads, as_of_s), loads, as_of_s)


@asynccontextmanager
async def desk(start_s: int) -> AsyncIterator[Desk]:
    """Run a market on a venue whose clock begins at a time."""
    clock = SteppedClock(start_s * 1_000)
    asked: list[dict[str, object]] = []

    async def note(request: httpx.Request) -> None:
        asked.append(orjson.loads(request.content))

    async with SimulatedVenue(clock, SAMPLE) as simulated, venue_client(simulated.hyperliquid_url) as client:
        client.event_hooks["request"].append(note)
        venue = HyperliquidHttp(simulated.hyperliquid_url, client)
        yield Desk(clock, venue, ArenaMarket(venue), asked)


def cut(market: object, loads: Sequence[Load], as_of_s: int) -> dict[str, CoinRows]:
    """Return the rows of the loads that are visible as of a moment (Rules A1, A2), forming ones by their open."""
    assert isinstance(market, dict)
    windows = {(load.coin, load.interval): load for load in loads}

    def candles(coin: str, interval: Interval, rows: Sequence[Candle]) -> tuple[Candle, ...]:
        load = windows.get((coin, interval))
        if load is None:
            return ()
        return tuple(
            row
            if row.time_s + interval.step_s <= as_of_s
            else row._replace(high=row.open, low=row.open, close=row.open)
            for row in rows
            if load.from_s <= row.time_s <= min(load.to_s, as_of_s)
        )

    def funding(coin: str, rows: Sequence[Funding]) -> tuple[Funding, ...]:
        mine = [load for load in loads if load.coin == coin]
        first_s = min(load.funding_from_s for load in mine)
        last_s = min(as_of_s, max(load.to_s for load in mine))
        return tuple(row for row in rows if first_s <= row.time_s <= last_s)

    return {
        coin: CoinRows(
            candles(coin, Interval.HOURLY, rows.hourly),
            candles(coin, Interval.FINE, rows.fine),
            funding(coin, rows.funding),
        )
        for coin, rows in market.items()
        if any(load.coin == coin for load in loads)
    }


def some_loads(random: Random, as_of_s: int) -> list[Load]:
    """Return loads as records have them: hourly over days, 5-minute around some hours."""
    hourly_from_s = as_of_s - random.randrange(2, 40) * DAY_S
    fine_from_s = as_of_s - random.randrange(1, 5 * 24) * HOUR_S
    fine_to_s = min(as_of_s + HOUR_S, fine_from_s + random.randrange(2, 60) * HOUR_S)
    coins = random.sample(COINS, 2)
    return [Load(coin, hourly_from_s, as_of_s + HOUR_S, Interval.HOURLY, True) for coin in coins] + [
        Load(coins[0], fine_from_s, fine_to_s, Interval.FINE, True)
    ]


@pytest.mark.parametrize("seed", [1, 2])
async def test_rows_grown_evaluation_by_evaluation_are_those_of_the_recorded_files(seed: int) -> None:
    random, recorded = Random(seed), sample_market()
    as_of_s = ms("2025-06-09T00:00") // 1_000
    async with desk(as_of_s) as on:
        for _ in range(60):
            as_of_s += random.choice([300, 300, 900, HOUR_S, 7 * HOUR_S])
            await on.clock.advance(max(on.clock.now_ms(), (as_of_s + random.randrange(120, 5_000)) * 1_000))
            loads = some_loads(random, as_of_s)
            assert await on.rows(loads, as_of_s) == cut(recorded, loads, as_of_s)
        # a partition that lags behind sees the past as it was
        earlier_s = as_of_s - 5 * HOUR_S
        loads = some_loads(random, earlier_s)
        assert await on.rows(loads, earlier_s) == cut(recorded, loads, earlier_s)


async def test_rows_as_of_a_moment_in_the_halt_do_not_depend_on_when_they_are_asked_for() -> None:
    moments = range(ms("2025-06-08T09:30") // 1_000, ms("2025-06-08T11:00") // 1_000, 300)
    async with desk(moments[0]) as on, desk(moments[-1] + 9 * HOUR_S) as later:
        seen = []
        for as_of_s in moments:
            await on.clock.advance((as_of_s + 120) * 1_000)
            loads = [Load("BTC", as_of_s - DAY_S, as_of_s + HOUR_S, interval, True) for interval in Interval]
            prompt = await on.rows(loads, as_of_s)
            assert await later.rows(loads, as_of_s) == prompt
            seen.append(prompt["BTC"].fine[-1].time_s == as_of_s)
    # none of the eight candles without trades, from 09:45 on, is a price at the moment it opens
    assert seen == [True] * 3 + [False] * 8 + [True] * 7


async def test_each_chunk_is_asked_for_whole_once_and_then_only_its_newest_rows() -> None:
    as_of_s = ms("2025-06-12T10:00") // 1_000
    chunk_s, funding_chunk_s = 1_000 * HOUR_S, 20 * DAY_S
    async with desk(as_of_s + 120) as on:
        first = [Load("BTC", as_of_s - 30 * HOUR_S, as_of_s + HOUR_S, Interval.HOURLY, True)]
        await on.rows(first, as_of_s)
        start_s, funding_start_s = as_of_s // chunk_s * chunk_s, as_of_s // funding_chunk_s * funding_chunk_s
        if start_s > as_of_s - 30 * HOUR_S:
            start_s -= chunk_s
        names, candles, funding = on.asked
        assert names == {"type": "meta"}
        assert candles["req"] == {
            "coin": "BTC",
            "interval": "1h",
            "startTime": start_s * 1_000,
            "endTime": (start_s + chunk_s) * 1_000 - 1,
        }
        assert (funding["startTime"], funding["endTime"]) == (
            funding_start_s * 1_000,
            (funding_start_s + funding_chunk_s) * 1_000 - 1,
        )
        on.asked.clear()
        # the hour's open is known, so 5 minutes later nothing can differ
        await on.rows([Load("BTC", as_of_s - 30 * HOUR_S, as_of_s + 3_900, Interval.HOURLY, True)], as_of_s + 300)
        assert on.asked == []
        await on.clock.advance((as_of_s + HOUR_S + 120) * 1_000)
        await on.rows(
            [Load("BTC", as_of_s - 30 * HOUR_S, as_of_s + 2 * HOUR_S, Interval.HOURLY, True)], as_of_s + HOUR_S
        )
        assert [request["type"] for request in on.asked] == ["meta", "candleSnapshot", "fundingHistory"]
        again = on.asked[1]["req"]
        assert isinstance(again, dict)
        assert again["startTime"] == (as_of_s - HOUR_S) * 1_000


async def test_a_coin_that_is_not_listed_has_no_rows_and_is_not_asked_for() -> None:
    as_of_s = ms("2025-06-12T10:00") // 1_000
    async with desk(as_of_s + 120) as on:
        loads = [Load(coin, as_of_s - DAY_S, as_of_s, Interval.HOURLY, True) for coin in ("ZEC", "MATIC", "ETH")]
        rows = await on.rows(loads, as_of_s)
        assert set(rows) == {"MATIC", "ETH"}
        assert rows["MATIC"] == CoinRows()
        assert "ZEC" not in orjson.dumps(on.asked).decode()


async def test_a_venue_that_is_away_is_asked_again_until_it_answers() -> None:
    clock = SteppedClock(ms("2025-06-12T10:00"))
    async with SimulatedVenue(clock, SAMPLE) as gone:
        url = gone.hyperliquid_url
    tried: asyncio.Queue[None] = asyncio.Queue()

    async def note(_: httpx.Request) -> None:
        tried.put_nowait(None)

    async with venue_client(url) as client:
        client.event_hooks["request"].append(note)
        market = ArenaMarket(HyperliquidHttp(url, client), first_pause_s=0.01)
        asking = asyncio.create_task(market.listed(clock.now_ms() // 1_000))
        for _ in range(2):
            await tried.get()
        port = int(httpx.URL(url).port or 0)
        async with SimulatedVenue(clock, SAMPLE, port=port):
            assert await asking == tuple(str(row["name"]) for row in SAMPLE.universe)


async def test_a_request_that_the_venue_refuses_is_sent_again_until_it_is_answered() -> None:
    as_of_s = ms("2025-06-12T10:00") // 1_000
    loads = [Load(coin, as_of_s - DAY_S, as_of_s, Interval.HOURLY, True) for coin in ("BTC", "ETH")]
    clock = SteppedClock((as_of_s + 120) * 1_000)
    async with SimulatedVenue(clock, SAMPLE) as simulated, venue_client(simulated.hyperliquid_url) as client:
        market = ArenaMarket(HyperliquidHttp(simulated.hyperliquid_url, client), first_pause_s=0.01)
        with capture_logs() as logs:
            simulated.refuse_next(403)
            await market.listed(as_of_s)
            for _ in range(3):
                simulated.refuse_next(422, b"no")
            rows = cut(await market.rows(loads, as_of_s), loads, as_of_s)
    assert rows == cut(sample_market(), loads, as_of_s)
    refused = [entry for entry in logs if entry["event"] == "arena_venue_refused"]
    assert [entry["log_level"] for entry in refused] == ["error"] * 4
    assert ["status 422" in entry["error"] for entry in refused] == [False, True, True, True]


def test_a_candle_without_trades_counts_from_its_close_on() -> None:
    candle = VenueCandle(600_000, 1.0, 1.0, 1.0, 1.0, 0.0, 0)
    series: SeriesRows[Candle] = SeriesRows(300, 300_000)
    series.take(Span(0, 299_999), [candle_shown(candle, 300)], 900)
    assert list(series.view(600)) == []
    assert list(series.view(900)) == [Candle(600, 1.0, 1.0, 1.0, 1.0)]


def test_a_payment_stamped_late_counts_once_it_could_be_known() -> None:
    late = FundingRow(36_000_000 + 887_645, 0.001)
    series: SeriesRows[Funding] = SeriesRows(HOUR_S, 20 * DAY_S)
    shown = [funding_shown(FundingRow(32_400_100, 0.5)), funding_shown(late)]
    series.take(Span(0, 20 * DAY_S - 1), shown, 39_600)
    assert [row.time_s for row in series.view(36_600)] == [32_400]
    assert [row.time_s for row in series.view(36_900) if row.time_s <= 36_900] == [32_400, 36_000]


def test_an_hour_that_comes_twice_keeps_its_later_row() -> None:
    series: SeriesRows[Funding] = SeriesRows(HOUR_S, 20 * DAY_S)
    rows = [Shown(Funding(7_200, rate), 7_200_000) for rate in (0.1, 0.2)]
    series.take(Span(0, 20 * DAY_S - 1), rows, 10_800)
    assert list(series.view(10_800)) == [Funding(7_200, 0.2)]


def test_whole_chunks_are_forgotten_and_asked_for_again_when_wanted() -> None:
    series: SeriesRows[Candle] = SeriesRows(300, 3_000)
    for span in series.missing(0, 9_000, 9_000):
        rows = [Shown(Candle(t, 1.0, 1.0, 1.0, 1.0), t * 1_000) for t in range(span.from_s, span.to_s, 300)]
        series.take(span, rows, 9_000)
    assert series.missing(0, 9_000, 9_000) == []
    series.forget_before(7_000)
    assert [row.time_s for row in series.view(9_000)] == list(range(6_000, 9_001, 300))
    assert series.missing(3_000, 9_000, 9_000) == [Span(3_000, 5_999)]
