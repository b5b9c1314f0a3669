"""Tests that no interleaving, batching or restart changes what posts are answered."""

import random
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.market_view import candle_of
from rules.floor.baseline import Calibration, baseline
from rules.floor.call import Call, check_call
from rules.floor.prices import price_at_posting
from rules.floor.refusal import Refusal
from rules.floor.sources import SettleableList
from rules.floor.terms import Close, Range, Touch
from rules.floor.volatility import volatility as plain_volatility
from rules.market import Candle as MarketCandle
from tests.agents.floor_messages import FIVE_MINUTES_MS, HOUR_MS, T0, candle, complete, listings, post
from tests.agents.interleaving import Event, in_any_order, in_one_go, sent_once
from tests.agents.runs import Run, Watermark
from tests.agents.volatility_market import LIQUID, SPEC, hours, listed, market, posted, quotes
from topics.floor import Post, Quote
from topics.keys import coin_key
from topics.market import Candle, Listings
from topics.registry import CANDLES, LISTINGS, POSTS

SHORT = {"BTC": 200, "ETH": 165}
"""How many hours are known before T0: of ETH too few for a baseline until some more have passed."""
FIVES = 60
END = T0 + FIVES * FIVE_MINUTES_MS
HISTORY = {coin: [market(message) for message in hours(count, coin, seed=count)] for coin, count in SHORT.items()}


def five(draw: random.Random, number: int, coin: str) -> list[Candle]:
    """Return a candle, a filler, nothing, or a candle and its correction."""
    one = candle(T0 + number * FIVE_MINUTES_MS, 100 + draw.gauss(0, 1), coin=coin)
    choice = draw.random()
    if choice < 0.1:
        return [one.model_copy(update={"volume": 0.0})]
    if choice < 0.2:
        return []
    return [one, one.model_copy(update={"close": one.close + 1.0})] if choice < 0.3 else [one]


def some_days(draw: random.Random) -> tuple[list[Event], list[Candle]]:
    """Return the topic of candles, whose completeness comes late at times, and the candles that are on it."""
    events: list[Event] = [*HISTORY["BTC"], *HISTORY["ETH"]]
    found: list[Candle] = []
    for number in range(FIVES):
        now = T0 + (number + 1) * FIVE_MINUTES_MS
        for coin in SHORT:
            fresh = five(draw, number, coin)
            if now % HOUR_MS == 0:
                fresh.append(candle(now - HOUR_MS, 100 + draw.gauss(0, 1), "1h", coin))
            found += fresh
            events += map(market, fresh)
            events.append(market(candle(now, 1.0, coin=coin, closed=False)))
            for interval, step_ms in (("5m", FIVE_MINUTES_MS), ("1h", HOUR_MS)):
                if draw.random() < 0.7 or number == FIVES - 1:
                    events.append(market(complete(now - now % step_ms, interval, coin)))
        events.append(Watermark(CANDLES, now + draw.randint(1, 10_000)))
    return [*events, Watermark(CANDLES, END + 1)], found


def some_lists(draw: random.Random) -> tuple[list[Event], list[Listings]]:
    found = []
    for at in sorted({T0 - HOUR_MS, *(T0 + draw.randint(0, FIVES * FIVE_MINUTES_MS) for _ in range(5))}):
        coins = {coin: LIQUID for coin in ("BTC", "ETH", "HYPE") if draw.random() < 0.8}
        found.append(listings(at, coins))
    events: list[Event] = []
    for one in found:
        events += [Watermark(LISTINGS, one.at), listed(one)]
    return [*events, Watermark(LISTINGS, END + 1)], found


def some_posts(draw: random.Random) -> tuple[list[Event], list[Post]]:
    times = sorted(draw.randint(T0, END - 1) for _ in range(25))
    found, events = [], []
    for offset, at in enumerate(times):
        at -= at % draw.choice([1, 1, FIVE_MINUTES_MS])
        symbol = draw.choice(["BTC", "btc", "ETH", "Eth", "HYPE", "NOPE"])
        terms: dict[str, Any] = draw.choice(
            [
                {"kind": "touch", "level": 103.0},
                {"kind": "close", "level": 99.0, "direction": "above"},
                {"kind": "range", "low": 98.0, "high": 102.0},
                {"kind": "relative", "versus": "ETH"},
            ]
        )
        one = post(at, terms, offset=offset, source=f"hyperliquid:{symbol}:price", p=draw.choice([0.5, 0.5, 0.99]))
        found.append(one)
    found.sort(key=lambda each: each.posted_at)
    for one in found:
        events += [Watermark(POSTS, one.posted_at), posted(one)]
    return [*events, Watermark(POSTS, END + 1)], found


def plain_answer(of: Post, candles: Sequence[Candle], lists: Sequence[Listings]) -> tuple[object, ...]:
    """Return (code, S, σ, b) of a post, looked up in everything that there ever was."""
    series: dict[str, dict[int, MarketCandle]] = {"5m": {}, "1h": {}}
    for message in candles:
        if coin_key(message.coin) == coin_key(of.coin):
            series[message.interval][message.open_time] = candle_of(message)
    fives, ones = ([found[at] for at in sorted(found)] for found in series.values())
    latest = max((one for one in lists if one.at <= of.posted_at), key=lambda one: one.at)
    settleable = SettleableList.of(f"hyperliquid:{coin.coin}:price" for coin in latest.coins)
    fields = of.fields
    s = price_at_posting(fives, of.posted_at)
    asked = Call(of.agent, fields.claim, fields.source, fields.terms, fields.deadline, fields.p, "")
    checked = check_call(asked, of.posted_at, settleable, s)
    if fields.terms["kind"] == "relative" and settleable.find(fields.source) is not None:
        return ("terms_invalid", None, None, None)
    if isinstance(checked, Refusal):
        return (checked.code, None, None, None)
    sigma = plain_volatility(ones, of.posted_at)
    if s is None or sigma is None or not isinstance(checked.terms, Touch | Close | Range):
        return ("no_baseline", None, None, None)
    b = baseline(checked.terms, s, sigma, of.posted_at, fields.deadline, Calibration())
    return (None, s, sigma, b)


def answer(quote: Quote) -> tuple[object, ...]:
    return (None if quote.refusal is None else quote.refusal.code, quote.s, quote.sigma, quote.b)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), order=st.integers(0, 10_000))
async def test_any_interleaving_batching_and_restart_answers_as_one_who_knew_everything(seed: int, order: int) -> None:
    draw = random.Random(seed)
    (candles, closed), (lists, universes), (posts, all_posts) = some_days(draw), some_lists(draw), some_posts(draw)
    closed += [Candle.decode(one.value) for history in HISTORY.values() for one in history]

    def check(done: Run, promise: int | None) -> None:
        answered = {quote.post.id for quote in quotes(done)}
        waiting = [one.posted_at for one in all_posts if one.id not in answered]
        assert promise is None or promise <= min(waiting, default=END + 1)

    straight = await in_one_go(SPEC, [candles, lists, posts])
    done = await in_any_order(SPEC, [candles, lists, posts], random.Random(order), check)
    assert {quote.post.id: answer(quote) for quote in quotes(done)} == {
        one.id: plain_answer(one, closed, universes) for one in all_posts
    }
    assert sorted(sent_once(done)) == sorted(sent_once(straight))
    assert done.remembered() == straight.remembered()
