"""Tests of the join of touch levels with candles."""

import random
from collections.abc import Sequence
from typing import TypeAlias

import pytest
from aiokafka.structs import ConsumerRecord
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import levels
from streams.delivery.reducer import PoisonError
from tests.agents.records import RecordMaker
from tests.agents.runs import Run, Watermark
from topics.floor import OpenLevel, Touch
from topics.market import Candle, Complete
from topics.registry import CANDLES, LEVELS, TOUCHES

FIVE_MINUTES_MS = 300_000
T0 = 1_749_340_800_000
SPEC = levels.spec()
record = RecordMaker("test.")

Event: TypeAlias = ConsumerRecord | Watermark


def level(call: str, price: float, side: str = "up", posted: int = T0, deadline: int = T0 + 12 * FIVE_MINUTES_MS,
          coin: str = "BTC") -> ConsumerRecord:  # fmt: skip
    message = OpenLevel.model_validate(
        {"call": call, "coin": coin, "level": price, "side": side, "posted_at": posted, "deadline": deadline}
    )
    return record(LEVELS, coin, message, posted)


def candle(number: int, low: float, high: float, **changes: object) -> ConsumerRecord:
    """Return the record of the candle that opens `number` × 5 minutes after T0."""
    values: dict[str, object] = {
        "venue": "hyperliquid", "coin": "BTC", "interval": "5m", "open_time": T0 + number * FIVE_MINUTES_MS,
        "open": low, "high": high, "low": low, "close": high, "volume": 1.0, "trades": 1, "closed": True,
    }  # fmt: skip
    message = Candle.model_validate(values | changes)
    return record(CANDLES, message.coin, message, message.close_time)


def run() -> Run:
    return Run(SPEC.reducer, SPEC.inputs)


def touches(done: Run) -> list[Touch]:
    return [Touch.decode(raw) for raw in done.sent(TOUCHES)]


async def touched(*events: Event) -> list[tuple[str, int]]:
    """Return (call, number of the candle) of the touches that the events cause."""
    done = run()
    await done.work(events)
    return [(one.call, (one.candle_open_time - T0) // FIVE_MINUTES_MS) for one in touches(done)]


async def test_a_candle_touches_the_levels_it_reaches_on_either_side_and_no_others() -> None:
    opened = [level("a", 110.0), level("b", 110.1), level("c", 90.0, "down"), level("d", 89.9, "down")]
    assert await touched(*opened, candle(0, 90.0, 110.0)) == [("c", 0), ("a", 0)]


async def test_a_touch_tells_what_was_reached_when_the_candle_closed_and_comes_once() -> None:
    done = run()
    await done.work([level("a", 110.0, coin="kPEPE"), candle(0, 90.0, 111.5, coin="KPEPE"), candle(1, 90.0, 112.0)])
    close_ms = T0 + FIVE_MINUTES_MS
    assert touches(done) == [
        Touch(call="a", coin="kPEPE", level=110.0, side="up", candle_open_time=T0, reached=111.5, at=close_ms)
    ]
    assert (done.outputs[0].key, done.outputs[0].timestamp_ms) == (b"kpepe", close_ms)


async def test_a_candle_that_opened_before_the_post_does_not_touch() -> None:
    posted = level("a", 110.0, posted=T0 + 1)
    assert await touched(posted, candle(0, 90.0, 120.0), candle(1, 90.0, 109.0), candle(2, 90.0, 110.0)) == [("a", 2)]
    assert await touched(candle(0, 90.0, 120.0), posted) == []
    assert await touched(level("b", 110.0, posted=T0), candle(0, 90.0, 120.0)) == [("b", 0)]


async def test_a_candle_that_closes_at_the_deadline_touches_and_one_that_closes_later_does_not() -> None:
    opened = level("a", 110.0, deadline=T0 + 2 * FIVE_MINUTES_MS)
    assert await touched(opened, candle(0, 90.0, 100.0), candle(1, 90.0, 110.0)) == [("a", 1)]
    assert await touched(opened, candle(0, 90.0, 100.0), candle(2, 90.0, 110.0)) == []
    assert await touched(candle(2, 90.0, 110.0), opened) == []


async def test_a_late_level_is_touched_by_the_first_kept_candle_that_reaches_it() -> None:
    candles = [candle(0, 90.0, 100.0), candle(1, 90.0, 110.0), candle(2, 90.0, 120.0)]
    assert await touched(*candles, level("a", 110.0), level("b", 115.0), level("c", 121.0)) == [("a", 1), ("b", 2)]


@pytest.mark.parametrize(
    "changes",
    [{"closed": False}, {"volume": 0.0}, {"interval": "1h"}, {"venue": "bybit"}, {"coin": "ETH"}],
    ids=lambda changes: next(iter(changes)),
)
async def test_only_closed_five_minute_prints_of_the_coin_and_the_venue_touch(changes: dict[str, object]) -> None:
    assert await touched(level("a", 110.0), candle(0, 90.0, 120.0, **changes)) == []
    assert await touched(candle(0, 90.0, 120.0, **changes), level("a", 110.0)) == []


async def test_candles_repeated_after_a_restart_of_the_feed_change_nothing() -> None:
    done = run()
    await done.work([candle(0, 90.0, 100.0), candle(1, 90.0, 101.0), Watermark(LEVELS, T0 + 2 * FIVE_MINUTES_MS)])
    before = dict(done.remembered())
    await done.work([candle(0, 90.0, 130.0), candle(1, 90.0, 101.0), record(CANDLES, "BTC", complete(T0), T0)])
    assert done.remembered() == before
    await done.work([level("a", 101.0, posted=T0 + 2 * FIVE_MINUTES_MS)])
    assert done.outputs == []


def complete(through: int) -> Complete:
    return Complete(venue="hyperliquid", coin="BTC", interval="5m", through=through)


async def test_a_repeated_level_is_not_touched_again_when_its_candle_is_no_longer_kept() -> None:
    done = run()
    await done.work([level("a", 110.0), candle(0, 90.0, 110.0), Watermark(LEVELS, T0 + FIVE_MINUTES_MS)])
    await done.work([candle(1, 90.0, 120.0)])
    done.restart()
    await done.work([level("a", 110.0), candle(2, 90.0, 120.0)])
    assert [one.candle_open_time for one in touches(done)] == [T0]


async def test_prints_are_kept_until_the_levels_watermark_has_passed_their_opening() -> None:
    done = run()
    await done.work([candle(0, 90.0, 100.0), candle(1, 90.0, 100.0), Watermark(CANDLES, T0 + 10**9)])
    assert len([key for key in done.table if levels.PRINTS in key]) == 2
    await done.work([Watermark(LEVELS, T0 + 1)])
    assert [key for key in done.table if levels.PRINTS in key] == [f"0/print/btc/{T0 + FIVE_MINUTES_MS:014d}"]


async def test_touched_and_expired_levels_leave_nothing_behind_once_both_watermarks_passed_their_deadline() -> None:
    done = run()
    deadline = T0 + 2 * FIVE_MINUTES_MS
    opened = [level(call, price, deadline=deadline) for call, price in (("a", 110.0), ("b", 200.0), ("c", 300.0))]
    await done.work([*opened, candle(0, 90.0, 110.0), Watermark(CANDLES, deadline + 1), Watermark(LEVELS, deadline)])
    assert {key for key in done.table if "/print" not in key and "!" not in key} == {
        "0/newest/btc", "0/open/b", "0/open/c", "0/touched/a",
    }  # fmt: skip
    assert await done.work([Watermark(LEVELS, deadline + 1)]) == deadline + 1
    assert set(done.remembered()) == {"0/newest/btc"}
    done.restart()
    await done.work([candle(1, 90.0, 400.0)])
    assert len(touches(done)) == 1


async def test_numbers_that_cannot_be_ordered_are_refused() -> None:
    with pytest.raises(PoisonError, match="level is nan"):
        await run().work([level("a", float("nan"))])
    with pytest.raises(PoisonError, match="high is inf"):
        await run().work([candle(0, 90.0, float("inf"))])


def plain_touches(opened: Sequence[ConsumerRecord], candles: Sequence[ConsumerRecord]) -> set[tuple[str, int]]:
    """Return (call, open time of the first candle inside the window that reaches the level), by plain scan."""
    found = set()
    series = [Candle.decode(one.value) for one in candles]
    for one in (OpenLevel.decode(one.value) for one in opened):
        for print_ in series:
            inside = one.posted_at <= print_.open_time and print_.open_time + FIVE_MINUTES_MS <= one.deadline
            reached = print_.high >= one.level if one.side == "up" else print_.low <= one.level
            if print_.coin == one.coin and print_.volume > 0 and inside and reached:
                found.add((one.call, print_.open_time))
                break
    return found


def market(seed: int) -> tuple[list[ConsumerRecord], list[ConsumerRecord], list[Event], list[Event]]:
    """Return levels, candles, and both as topics whose watermarks say no more than what holds."""
    draw = random.Random(seed)
    candles = []
    for number in range(40):
        for coin in ("BTC", "ETH"):
            middle = 100.0 + draw.randint(-6, 6)
            volume = float(draw.random() < 0.9)
            if draw.random() < 0.9:
                candles.append(candle(number, middle - draw.random(), middle + draw.random(), coin=coin, volume=volume))
    opened = []
    for number in range(30):
        posted = T0 + draw.randint(0, 36 * FIVE_MINUTES_MS)
        deadline = (posted // FIVE_MINUTES_MS + draw.randint(1, 20)) * FIVE_MINUTES_MS
        side, price = draw.choice([("up", 100.0 + draw.randint(0, 7)), ("down", 100.0 - draw.randint(0, 7))])
        opened.append(level(f"call-{number}", price, side, posted, deadline, draw.choice(["BTC", "ETH"])))
    opened.sort(key=lambda one: one.timestamp // (3 * FIVE_MINUTES_MS))
    posts: list[Event] = []
    for number, one in enumerate(opened):
        posts.append(one)
        rest = [later.timestamp for later in opened[number + 1 :]]
        posts.append(Watermark(LEVELS, min(rest, default=T0 + 100 * FIVE_MINUTES_MS)))
        if draw.random() < 0.2:
            posts.append(draw.choice(opened[: number + 1]))
    series: list[Event] = []
    for number, one in enumerate(candles):
        series.append(one)
        rest = [later.timestamp for later in candles[number + 1 :]]
        series.append(Watermark(CANDLES, min(rest, default=T0 + 100 * FIVE_MINUTES_MS)))
    return opened, candles, posts, series


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10_000), order=st.randoms(use_true_random=False))
async def test_any_interleaving_batching_and_restart_gives_the_touches_of_a_plain_scan(
    seed: int, order: random.Random
) -> None:
    opened, candles, posts, series = market(seed)
    left, right = list(posts), list(series)
    bias = order.random()
    done = run()
    while left or right:
        batch = []
        for _ in range(order.randint(1, 60)):
            if left and (not right or order.random() < bias):
                batch.append(left.pop(0))
            elif right:
                batch.append(right.pop(0))
        await done.work(batch)
        if order.random() < 0.2:
            done.restart()
    await done.work([Watermark(LEVELS, T0 + 100 * FIVE_MINUTES_MS), Watermark(CANDLES, T0 + 100 * FIVE_MINUTES_MS)])
    found = [(one.call, one.candle_open_time) for one in touches(done)]
    assert sorted(found) == sorted(plain_touches(opened, candles))
    assert all("/newest/" in key for key in done.remembered())
