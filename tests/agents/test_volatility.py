"""Tests of the join of posts with the market as it was when they were posted."""

from collections.abc import Sequence
from typing import Any

import pytest

from agents import volatility
from agents.market_view import candle_of
from rules.floor.terms import Close
from rules.floor.volatility import volatility as plain_volatility
from tests.agents.floor_messages import DAY_MS, FIVE_MINUTES_MS, HOUR_MS, T0, candle, complete, listings, post
from tests.agents.interleaving import Event
from tests.agents.runs import Watermark
from tests.agents.volatility_market import (
    AT,
    LIQUID,
    heard,
    hours,
    known,
    listed,
    listed_btc,
    market,
    markets,
    posted,
    quoted,
    quotes,
    run,
)
from topics.floor import Post
from topics.market import Candle, Complete
from topics.registry import CANDLES, LISTINGS, POSTS


async def code_of(of: Post, *events: Event) -> str | None:
    """Return the refusal of a post on a market where BTC, ETH and HYPE are listed and BTC and ETH are known."""
    universe = listings(T0, {"BTC": LIQUID, "ETH": LIQUID, "HYPE": LIQUID, "THIN": 50_000_000.0})
    quote = await quoted(listed(universe), *known(), *known("ETH"), *events, posted(of), *heard())
    return None if quote.refusal is None else quote.refusal.code


async def test_a_post_is_answered_with_the_price_and_the_volatility_of_its_moment() -> None:
    quote = await quoted(listed_btc(), *known(), posted(post(AT)), *heard())
    series = [candle_of(message) for message in hours(200)]
    assert quote.refusal is None
    assert (quote.s, quote.side, quote.baseline_version) == (100.0, "up", "b-1")
    assert quote.sigma == plain_volatility(series, AT)
    assert quote.b is not None
    assert 0.02 <= quote.b < 0.5


@pytest.mark.parametrize("missing", ["list", "5m", "1h", "candles", "listings"])
async def test_a_post_waits_for_whatever_of_its_market_is_not_known_yet(missing: str) -> None:
    pieces: dict[str, Event] = {
        "5m": market(complete(T0 + FIVE_MINUTES_MS, "5m")),
        "1h": market(complete(T0, "1h")),
        "candles": Watermark(CANDLES, AT + 1),
        "listings": Watermark(LISTINGS, AT + 1),
        "list": Watermark(LISTINGS, AT),
    }
    late = pieces["listings" if missing == "list" else missing]
    early = [event for name, event in pieces.items() if event is not late]
    history = [market(message) for message in (*hours(200), candle(T0, 100.0))]
    done = run()
    promise = await done.work([posted(post(AT)), listed_btc(), *history, *early, Watermark(POSTS, T0 + HOUR_MS)])
    assert quotes(done) == []
    assert promise is None or promise <= AT
    done.restart()
    await done.work([late, *heard()])
    (quote,) = quotes(done)
    assert (quote.s, quote.post.posted_at) == (100.0, AT)


async def test_completeness_that_ends_one_candle_short_of_the_post_is_not_enough() -> None:
    done = run()
    five = candle(T0, 100.0)
    short = [complete(T0 - FIVE_MINUTES_MS, "5m"), complete(T0 - HOUR_MS, "1h")]
    await done.work([listed_btc(), posted(post(AT)), *markets(*hours(200), five, *short), *heard()])
    assert quotes(done) == []
    await done.work([market(complete(T0, "1h")), market(complete(T0, "5m"))])
    assert quotes(done) == []
    await done.work([market(complete(T0 + FIVE_MINUTES_MS, "5m"))])
    assert [quote.s for quote in quotes(done)] == [100.0]


async def test_candles_that_close_after_the_post_change_neither_price_nor_volatility() -> None:
    wild = [candle(T0 + number * FIVE_MINUTES_MS, 500.0) for number in range(1, 12)]
    later: list[Candle | Complete] = [
        *wild,
        candle(T0, 500.0, "1h"),
        complete(T0 + HOUR_MS, "5m"),
        complete(T0 + HOUR_MS, "1h"),
    ]
    alone = await quoted(listed_btc(), *known(), posted(post(AT)), *heard())
    assert await quoted(listed_btc(), *known(), *markets(*later), posted(post(AT)), *heard()) == alone


async def test_a_candle_that_closes_at_the_very_moment_of_the_post_is_part_of_its_market() -> None:
    at = T0 + FIVE_MINUTES_MS
    assert (await quoted(listed_btc(), *known(), posted(post(at)), *heard())).s == 100.0
    assert (await quoted(listed_btc(), *known(), posted(post(at - 1)), *heard())).s == 99.0


async def test_forming_candles_are_not_looked_at() -> None:
    forming = [candle(T0 + FIVE_MINUTES_MS, 1.0, closed=False), candle(T0 - HOUR_MS, 1.0, "1h", closed=False)]
    alone = await quoted(listed_btc(), *known(), posted(post(AT)), *heard())
    assert await quoted(listed_btc(), *known(), *map(market, forming), posted(post(AT)), *heard()) == alone


async def test_what_another_venue_says_is_not_the_pinned_venues_market() -> None:
    foreign = [candle(T0, 1.0, venue="bybit"), *hours(200, seed=9, venue="bybit")]
    events = [*map(market, foreign), listed(listings(T0 + 1, {"DOGE": LIQUID}, venue="bybit"))]
    alone = await quoted(listed_btc(), *known(), posted(post(AT)), *heard())
    assert await quoted(listed_btc(), *known(), *events, posted(post(AT)), *heard()) == alone


async def test_a_coin_that_is_listed_but_not_followed_has_no_baseline_and_is_not_waited_for() -> None:
    assert await code_of(post(AT, source="hyperliquid:HYPE:price")) == "no_baseline"


async def test_a_coin_that_nobody_lists_or_that_trades_too_little_is_not_settleable() -> None:
    for source in ("hyperliquid:NOPE:price", "hyperliquid:THIN:price", "bybit:BTC:price", "hyperliquid:BTC:funding"):
        assert await code_of(post(AT, source=source)) == "source_not_settleable"


async def test_a_delisted_coin_is_not_settleable_whatever_its_volume() -> None:
    universe = listings(T0, {"BTC": LIQUID}, delisted=("BTC",))
    quote = await quoted(listed(universe), *known(), posted(post(AT)), *heard())
    assert quote.refusal is not None
    assert quote.refusal.code == "source_not_settleable"


@pytest.mark.parametrize(
    ("first", "second_at", "second", "settleable"),
    [
        ({"BTC": LIQUID}, AT + 1, {}, True),
        ({"BTC": LIQUID}, AT, {}, False),
        ({}, AT, {"BTC": LIQUID}, True),
        ({}, AT + 1, {"BTC": LIQUID}, False),
    ],
)
async def test_the_list_in_force_when_it_was_posted_decides(
    first: dict[str, float], second_at: int, second: dict[str, float], settleable: bool
) -> None:
    lists = [listed(listings(second_at, second)), listed(listings(T0, first))]
    quote = await quoted(*lists, *known(), posted(post(AT)), *heard())
    assert (quote.refusal is None) is settleable


async def test_symbols_match_in_any_case_and_are_stored_as_the_venue_spells_them() -> None:
    universe = listed(listings(T0, {"kPEPE": LIQUID}))
    of = post(AT, source="hyperliquid:KPepe:price", claim="pepe moves")
    quote = await quoted(universe, *known("kPEPE"), posted(of), *heard())
    assert quote.refusal is None
    assert (quote.post.coin, quote.post.fields.source, quote.s) == ("kPEPE", "hyperliquid:kPEPE:price", 100.0)


SOON = T0 + HOUR_MS + 5 * 60_000
MISALIGNED = T0 + 3 * HOUR_MS + 1
SAYS_ANOTHER_LEVEL = "BTC touches 111"


@pytest.mark.parametrize(
    ("code", "of"),
    [
        ("source_not_settleable", post(AT, {"kind": "no"}, source="hyperliquid:NOPE:price", deadline=1)),
        ("terms_invalid", post(AT, {"kind": "no"}, deadline=MISALIGNED)),
        ("terms_invalid", post(AT, {"kind": "relative", "versus": "ETH"})),
        ("terms_invalid", post(AT, {"kind": "relative", "versus": "ETH"}, deadline=MISALIGNED, p=0.0)),
        ("terms_invalid", post(AT, {"kind": "metric", "level": 1.0, "direction": "above"}, p=0.0)),
        ("terms_invalid", post(AT, {"kind": "touch", "level": 100.0}, deadline=MISALIGNED)),
        ("deadline_misaligned", post(AT, deadline=MISALIGNED, p=0.0)),
        ("horizon_too_short", post(AT, deadline=SOON, p=0.0)),
        ("horizon_too_long", post(AT, deadline=T0 + 31 * DAY_MS, p=0.0)),
        ("probability_out_of_range", post(AT, p=0.99, claim=SAYS_ANOTHER_LEVEL)),
        ("claim_disagrees", post(AT, claim=SAYS_ANOTHER_LEVEL)),
        ("claim_disagrees", post(AT, source="hyperliquid:HYPE:price", claim=SAYS_ANOTHER_LEVEL)),
        (None, post(AT)),
    ],
)
async def test_the_first_refusal_in_the_rulebooks_order_wins(code: str | None, of: Post) -> None:
    assert await code_of(of) == code


async def test_a_post_at_the_end_of_its_window_is_late() -> None:
    at = T0 + DAY_MS - 2 * HOUR_MS
    quote = await quoted(listed_btc(), posted(post(at, deadline=T0 + DAY_MS)), *heard(T0 + DAY_MS))
    assert quote.refusal is not None
    assert quote.refusal.code == "window_closing"


@pytest.mark.parametrize(("at", "code"), [(T0 + 15 * 60_000, None), (T0 + 15 * 60_000 + 1, "no_baseline")])
async def test_a_price_older_than_ten_minutes_is_none(at: int, code: str | None) -> None:
    through = [complete(T0 + HOUR_MS, "5m"), complete(T0 + HOUR_MS, "1h")]
    assert await code_of(post(at), *map(market, through)) == code


@pytest.mark.parametrize(("count", "code"), [(168, "no_baseline"), (169, None)])
async def test_fewer_than_168_hourly_returns_give_no_baseline(count: int, code: str | None) -> None:
    through = [complete(T0 + FIVE_MINUTES_MS, "5m"), complete(T0, "1h")]
    quote = await quoted(listed_btc(), *markets(*hours(count), candle(T0, 100.0), *through), posted(post(AT)), *heard())
    assert (None if quote.refusal is None else quote.refusal.code) == code


async def test_the_promise_is_the_least_watermark_and_never_passes_a_waiting_post() -> None:
    done = run()
    assert await done.work([Watermark(CANDLES, AT), Watermark(POSTS, AT)]) is None
    assert await done.work([Watermark(LISTINGS, AT - 1)]) == AT - 1
    waiting: Sequence[Event] = [posted(post(AT + 5)), posted(post(AT + 3, offset=1)), market(complete(T0, "1h"))]
    assert await done.work([*waiting, *heard()]) == AT + 3
    assert await done.work([market(complete(T0 + FIVE_MINUTES_MS, "5m"))]) == T0 + HOUR_MS
    assert [quote.post.posted_at for quote in quotes(done)] == [AT + 3, AT + 5]


@pytest.mark.parametrize(
    ("terms", "b"),
    [
        ({"kind": "touch", "level": 5e-324}, 0.02),
        ({"kind": "close", "level": 5e-324, "direction": "above"}, 0.98),
        ({"kind": "range", "low": 1e-5, "high": 1.7e308}, 0.98),
        ({"kind": "range", "low": 5e-324, "high": 1.7e308}, 0.98),
    ],
)
async def test_an_absurd_level_is_answered_with_the_clamp(terms: dict[str, object], b: float) -> None:
    quote = await quoted(listed_btc(), *known(), posted(post(AT, terms, claim="BTC moves")), *heard())
    assert (quote.refusal, quote.b) == (None, b)


@pytest.mark.parametrize("error", [ValueError, OverflowError, ZeroDivisionError])
async def test_a_post_whose_baseline_cannot_be_computed_is_refused_and_the_others_are_answered(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fails_on_close(terms: object, *rest: Any) -> float:
        if isinstance(terms, Close):
            raise error("no such number")
        return 0.5

    monkeypatch.setattr(volatility, "baseline", fails_on_close)
    bad = post(AT, {"kind": "close", "level": 99.0, "direction": "above"}, claim="BTC moves")
    done = run()
    promise = await done.work([listed_btc(), *known(), posted(bad), posted(post(AT, offset=1)), *heard()])
    refused, answered = quotes(done)
    assert promise == T0 + HOUR_MS
    assert refused.refusal is not None
    assert (refused.refusal.code, refused.b) == ("terms_invalid", None)
    assert refused.refusal.detail == "the baseline of these terms cannot be computed"
    assert (answered.refusal, answered.b) == (None, 0.5)


async def test_a_coin_that_is_no_longer_followed_holds_up_nobody_for_longer_than_its_bound() -> None:
    done = run()
    gone, at = "hyperliquid:ETH:price", T0 + HOUR_MS
    universe = listed(listings(T0, {"BTC": LIQUID, "ETH": LIQUID}))
    await done.work([universe, *known(), *known("ETH"), *heard(AT)])
    done.restart()
    bound = at + volatility.ABSENT_AFTER_MS
    assert await done.work([posted(post(at, source=gone, claim="ETH moves")), *heard(bound)]) == at
    assert quotes(done) == []
    assert await done.work(heard(bound + 1)) == bound + 1
    assert [quote.refusal and quote.refusal.code for quote in quotes(done)] == ["no_baseline"]


async def test_a_coin_whose_following_ended_is_answered_from_what_is_known_of_it() -> None:
    done = run()
    short = [complete(T0, "5m"), complete(T0 - HOUR_MS, "1h")]
    history = markets(*hours(200), candle(T0, 100.0), *short)
    bound = AT + volatility.ABSENT_AFTER_MS
    assert await done.work([listed_btc(), *history, posted(post(AT)), *heard(bound + 1)]) == bound + 1
    assert [(quote.refusal, quote.s) for quote in quotes(done)] == [(None, 100.0)]


async def test_the_listings_watermark_alone_does_not_end_the_wait_for_candles() -> None:
    done = run()
    far = AT + 10 * HOUR_MS
    late = [Watermark(LISTINGS, far), Watermark(POSTS, far), Watermark(CANDLES, AT + HOUR_MS)]
    short = [complete(T0, "5m"), complete(T0 - HOUR_MS, "1h")]
    await done.work([listed_btc(), *markets(*hours(200), *short), posted(post(AT)), *late])
    assert quotes(done) == []
