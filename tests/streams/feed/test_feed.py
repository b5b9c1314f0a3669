"""The feed on the simulated venue: recorded days, the halt, lost sockets, refusals."""

from collections.abc import Sequence

import httpx
import pytest

from referee.simulated.sample import RecordedCandle
from streams.feed.events import (
    CandleEvent,
    CompleteEvent,
    FeedEvent,
    FundingCompleteEvent,
    FundingEvent,
    ListingsEvent,
)
from streams.venues.base import INTERVAL_MS, PermanentVenueError
from streams.venues.hyperliquid_socket import UnlistedCoinError
from tests.referee.simulated.rig import COINS, DAY_MS, FIVE_MINUTES_MS, HOUR_MS, MINUTE_MS, SAMPLE, Rig, ms, rig

HALT_EVE = "2025-06-08T09:30:05"
AFTER_HALT_MS = ms("2025-06-08T11:00:05")


def closed(events: Sequence[FeedEvent], coin: str, interval: str) -> list[CandleEvent]:
    """Return a series' closed candles in the order of publication."""
    return [
        event
        for event in events
        if isinstance(event, CandleEvent) and event.closed and (event.coin, event.interval) == (coin, interval)
    ]


def recorded(coin: str, interval: str, first_ms: int, after_ms: int) -> list[RecordedCandle]:
    """Return the sample's candles that open in [first_ms, after_ms)."""
    return [row for row in SAMPLE.candles["hyperliquid", coin, interval] if first_ms <= row.open_time_ms < after_ms]


def assert_same(published: Sequence[CandleEvent], rows: Sequence[RecordedCandle]) -> None:
    """Compare published candles with recorded ones, number by number."""
    assert [(e.open_time_ms, e.open, e.high, e.low, e.close, e.volume) for e in published] == [
        (r.open_time_ms, float(r.open), float(r.high), float(r.low), float(r.close), float(r.volume)) for r in rows
    ]


async def run(
    venue: Rig, to_ms: int, step_ms: int = FIVE_MINUTES_MS, coins: tuple[str, ...] = COINS
) -> list[FeedEvent]:
    """Run a feed from the venue's time until `to_ms`; return all that it published."""
    events: list[FeedEvent] = []
    feed = venue.feed(events, coins)
    await feed.start()
    while (now_ms := venue.clock.now_ms() + step_ms) <= to_ms:
        await venue.step(feed, now_ms)
    await feed.stop()
    return events


async def test_the_start_publishes_what_happened_before() -> None:
    async with rig("2025-06-05T00:00:05") as venue:
        events = await run(venue, 0)
    start_ms = ms("2025-06-05")
    for coin in COINS:
        hours, fives = closed(events, coin, "1h"), closed(events, coin, "5m")
        assert_same(hours, recorded(coin, "1h", start_ms - 31 * DAY_MS, start_ms))
        assert_same(fives, recorded(coin, "5m", start_ms - 2 * DAY_MS, start_ms))
        assert len(hours) == 31 * 24
    rates = [event for event in events if isinstance(event, FundingEvent) and event.coin == "SOL"]
    hours_paid = list(range(start_ms - 3 * DAY_MS, start_ms + HOUR_MS, HOUR_MS))
    assert [event.time_ms // HOUR_MS * HOUR_MS for event in rates] == hours_paid
    listings = [event for event in events if isinstance(event, ListingsEvent)]
    assert [coin for coin, _, _ in listings[0].coins] == [*COINS[:2], "MATIC", *COINS[2:]]
    assert {coin for coin, _, delisted in listings[0].coins if delisted} == {"MATIC"}


async def test_after_a_step_everything_up_to_it_is_published_and_complete() -> None:
    async with rig("2025-06-05T00:00:05") as venue:
        events: list[FeedEvent] = []
        feed = venue.feed(events)
        await feed.start()
        for _ in range(36):
            events.clear()
            now_ms = venue.clock.now_ms() + FIVE_MINUTES_MS
            await venue.step(feed, now_ms)
            complete = {(e.coin, e.interval): e.through_ms for e in events if isinstance(e, CompleteEvent)}
            whole_hour = (now_ms - 5_000) % HOUR_MS == 0
            assert complete == {
                (coin, interval): now_ms - 5_000
                for coin in COINS
                for interval in (("5m", "1h") if whole_hour else ("5m",))
            }
            paid = {e.coin: e.through_ms for e in events if isinstance(e, FundingCompleteEvent)}
            assert paid == (dict.fromkeys(COINS, now_ms - 5_000) if whole_hour else {})
            assert [e.at_ms for e in events if isinstance(e, ListingsEvent)] == ([now_ms] if whole_hour else [])
            for key, through_ms in complete.items():
                assert closed(events, *key)[-1].open_time_ms == through_ms - INTERVAL_MS[key[1]]
        await feed.stop()


async def test_completeness_is_published_behind_what_it_vouches_for() -> None:
    async with rig("2025-06-05T11:00:05") as venue:
        events = await run(venue, ms("2025-06-05T13:00:05"))
    through: dict[tuple[str, str], int] = {}
    for event in events:
        if isinstance(event, CompleteEvent):
            through[event.coin, event.interval] = event.through_ms
        elif isinstance(event, CandleEvent):
            assert event.open_time_ms >= through.get((event.coin, event.interval), 0)


@pytest.mark.parametrize("step_ms", [MINUTE_MS, FIVE_MINUTES_MS, HOUR_MS])
async def test_the_halt_is_published_as_empty_candles_whatever_the_step(step_ms: int) -> None:
    """Rules H5 and H6."""
    async with rig("2025-06-08T09:00:05") as venue:
        start_ms = venue.clock.now_ms()
        events = await run(venue, AFTER_HALT_MS, step_ms)
    for coin in COINS:
        fives = [event for event in closed(events, coin, "5m") if event.open_time_ms >= start_ms - 5_000]
        assert_same(fives, recorded(coin, "5m", start_ms - 5_000, AFTER_HALT_MS - FIVE_MINUTES_MS))
        assert sum(event.volume == 0 and event.trades == 0 for event in fives) in (8, 9)
        assert_same(
            [event for event in closed(events, coin, "1h") if event.open_time_ms >= start_ms - 5_000],
            recorded(coin, "1h", start_ms - 5_000, AFTER_HALT_MS - HOUR_MS),
        )


async def test_the_halt_is_complete_step_by_step() -> None:
    async with rig(HALT_EVE) as venue:
        events: list[FeedEvent] = []
        feed = venue.feed(events)
        await feed.start()
        while venue.clock.now_ms() < AFTER_HALT_MS:
            events.clear()
            now_ms = venue.clock.now_ms() + FIVE_MINUTES_MS
            await venue.step(feed, now_ms)
            fives = {e.coin: e.through_ms for e in events if isinstance(e, CompleteEvent) and e.interval == "5m"}
            assert fives == dict.fromkeys(COINS, now_ms - 5_000)
        await feed.stop()


async def test_the_same_steps_give_the_same_events_over_the_halt() -> None:
    runs = []
    for _ in range(2):
        async with rig(HALT_EVE) as venue:
            runs.append(await run(venue, AFTER_HALT_MS))
    assert runs[0] == runs[1]
    assert len(runs[0]) > 1_000


async def test_closed_candles_and_funding_do_not_depend_on_the_steps() -> None:
    kept = []
    for step_ms in (MINUTE_MS, 10 * MINUTE_MS):
        async with rig("2025-06-08T09:00:05") as venue:
            events = await run(venue, AFTER_HALT_MS, step_ms)
            kept.append([e for e in events if (isinstance(e, CandleEvent) and e.closed) or isinstance(e, FundingEvent)])
    assert kept[0] == kept[1]


async def test_a_step_at_the_boundary_leaves_its_candle_to_the_next_step() -> None:
    """Rule W1: at that moment neither a later candle nor HTTP can say that it is over."""
    async with rig("2025-06-05T12:00:05") as venue:
        events: list[FeedEvent] = []
        feed = venue.feed(events, ("BTC",))
        await feed.start()
        events.clear()
        await venue.step(feed, ms("2025-06-05T12:05:00"))
        assert closed(events, "BTC", "5m") == []
        await venue.step(feed, ms("2025-06-05T12:05:03"))
        assert [event.open_time_ms for event in closed(events, "BTC", "5m")] == [ms("2025-06-05T12:00:00")]
        await feed.stop()


async def test_a_forming_candle_is_published_as_it_stands_and_never_after_its_close() -> None:
    async with rig("2025-06-05T12:00:05") as venue:
        events = await run(venue, ms("2025-06-05T13:00:05"), MINUTE_MS, ("BTC",))
    states = [e for e in events if isinstance(e, CandleEvent) and e.interval == "5m"]
    recent = [e for e in states if e.open_time_ms >= ms("2025-06-05T12:00:00")]
    assert sum(not event.closed for event in recent) > 24
    done: set[int] = set()
    seen: dict[int, CandleEvent] = {}
    for event in recent:
        assert event.open_time_ms not in done
        before = seen.get(event.open_time_ms)
        assert before is None or event.trades >= before.trades
        seen[event.open_time_ms] = event
        if event.closed:
            done.add(event.open_time_ms)


async def test_settled_funding_is_published_once_with_the_venues_own_times() -> None:
    """Rule H2."""
    async with rig("2025-06-08T08:00:05") as venue:
        start_ms = venue.clock.now_ms()
        events = await run(venue, ms("2025-06-08T12:00:05"))
    for coin in COINS:
        published = [e for e in events if isinstance(e, FundingEvent) and e.coin == coin and e.time_ms > start_ms]
        expected = [row for row in SAMPLE.funding[coin] if start_ms < row.time_ms <= ms("2025-06-08T12:00:05")]
        assert [(e.time_ms, e.rate) for e in published] == [(row.time_ms, float(row.rate)) for row in expected]
        assert len(published) == 4


async def test_a_lost_socket_costs_no_candle_and_repeats_none() -> None:
    """Rule W7."""
    async with rig("2025-06-05T12:00:05") as venue:
        events: list[FeedEvent] = []
        feed = venue.feed(events)
        await feed.start()
        for number in range(24):
            to_ms = venue.clock.now_ms() + FIVE_MINUTES_MS
            if number % 5 == 2:
                await venue.venue.advance(to_ms - 2 * MINUTE_MS)
                venue.venue.sessions.drop()
            await venue.step(feed, to_ms)
        await feed.stop()
    first_ms = ms("2025-06-05T12:00:00")
    for coin in COINS:
        recent = [event for event in closed(events, coin, "5m") if event.open_time_ms >= first_ms]
        assert_same(recent, recorded(coin, "5m", first_ms, first_ms + 2 * HOUR_MS))


async def test_a_candle_that_moved_while_the_socket_was_away_is_taken_from_http() -> None:
    """Rule W7: the reconnected socket brings the next candle, which must not close what was half seen."""
    async with rig("2025-06-05T12:00:05") as venue:
        events: list[FeedEvent] = []
        feed = venue.feed(events, ("BTC",))
        await feed.start()
        await venue.step(feed, ms("2025-06-05T12:08:00"))
        venue.venue.sessions.drop()
        for time in ("12:10:02", "12:10:02.500", "12:10:04"):
            await venue.step(feed, ms(f"2025-06-05T{time}"))
        await feed.stop()
    first_ms = ms("2025-06-05T12:05:00")
    assert_same(closed(events, "BTC", "5m")[-1:], recorded("BTC", "5m", first_ms, first_ms + FIVE_MINUTES_MS))
    forming = [event for event in events if isinstance(event, CandleEvent) and not event.closed]
    assert forming[-1].open_time_ms == first_ms + FIVE_MINUTES_MS, "the new socket is listened to"


async def test_a_candle_that_http_lacks_is_asked_for_again_but_not_at_every_step() -> None:
    """Rules H4 and H5."""
    async with rig("2025-06-08T09:45:05", empty_candle_lag_ms=20_000) as venue:
        requests: list[bytes] = []

        async def note(request: httpx.Request) -> None:
            requests.append(request.content)

        events: list[FeedEvent] = []
        feed = venue.feed(events, ("BTC",))
        await feed.start()
        venue.client.event_hooks["request"].append(note)
        known_at_ms = 0
        for second in range(1, 60):
            await venue.step(feed, ms("2025-06-08T09:50:00") + second * 1_000)
            newest = closed(events, "BTC", "5m")[-1]
            if not known_at_ms and newest.open_time_ms == ms("2025-06-08T09:45:00"):
                known_at_ms = venue.clock.now_ms()
        await feed.stop()
    assert known_at_ms == ms("2025-06-08T09:50:23")
    assert len(requests) == 5, "at 3, 8, 13, 18 and 23 seconds after the close"


async def test_a_venue_that_refuses_for_a_while_delays_and_loses_nothing() -> None:
    """Rule H4."""
    async with rig(HALT_EVE) as venue:
        events: list[FeedEvent] = []
        feed = venue.feed(events, ("BTC",))
        await feed.start()
        events.clear()
        await venue.step(feed, ms("2025-06-08T09:45:05"))
        venue.venue.refuse_next(429)
        await venue.step(feed, ms("2025-06-08T09:50:05"))
        assert closed(events, "BTC", "5m")[-1].open_time_ms == ms("2025-06-08T09:40:00")
        await venue.step(feed, ms("2025-06-08T09:50:10"))
        assert closed(events, "BTC", "5m")[-1].open_time_ms == ms("2025-06-08T09:45:00")
        await feed.stop()


async def test_a_request_that_the_venue_refuses_for_good_stops_the_feed() -> None:
    async with rig(HALT_EVE) as venue:
        events: list[FeedEvent] = []
        feed = venue.feed(events, ("BTC",))
        await feed.start()
        await venue.step(feed, ms("2025-06-08T09:45:05"))
        venue.venue.refuse_next(422, b"Failed")
        with pytest.raises(PermanentVenueError):
            await venue.step(feed, ms("2025-06-08T09:50:05"))
        await feed.stop()


async def test_a_coin_that_is_not_listed_is_refused_at_the_start() -> None:
    """Rule W4."""
    async with rig("2025-06-05T12:00:05") as venue:
        feed = venue.feed([], ("BTC", "btc"))
        with pytest.raises(UnlistedCoinError, match="'btc'"):
            await feed.start()
        await feed.stop()
