"""Tests of the candles that are remembered, corrected and forgotten, and of the σ published for each hour."""

import random

import pytest
from pydantic import ValidationError

from agents.market_view import candle_of
from agents.volatility import ABSENT_AFTER_MS
from rules.floor.volatility import squared_returns
from rules.floor.volatility import volatility as plain_volatility
from streams.delivery.reducer import PoisonError
from tests.agents.floor_messages import DAY_MS, FIVE_MINUTES_MS, HOUR_MS, T0, candle, complete, listings, post
from tests.agents.runs import Run
from tests.agents.volatility_market import (
    AT,
    heard,
    hours,
    known,
    listed,
    listed_btc,
    market,
    markets,
    posted,
    published,
    quotes,
    record,
    run,
)
from topics.market import Candle
from topics.registry import CANDLES, VOLATILITY


async def test_a_correction_replaces_the_candle_and_the_same_candle_again_changes_nothing() -> None:
    done = run()
    hour = hours(200)[-1]
    corrected = hour.model_copy(update={"close": hour.close * 1.01})
    await done.work([listed_btc(), *known(), market(hour), market(candle(T0, 100.0))])
    assert [one.at for one in published(done)][-1] == T0
    assert len(published(done)) == 200
    await done.work([market(corrected), market(candle(T0, 101.0)), posted(post(AT)), *heard()])
    series = [candle_of(message) for message in (*hours(200)[:-1], corrected)]
    (quote,) = quotes(done)
    assert (quote.s, quote.sigma) == (101.0, plain_volatility(series, AT))
    assert published(done)[-1].at == T0
    assert published(done)[-1].sigma == pytest.approx(quote.sigma, rel=1e-9)


async def test_a_correction_of_an_earlier_hour_is_published_as_what_the_newest_hour_now_says() -> None:
    done = run()
    series = hours(200)
    corrected = series[100].model_copy(update={"close": series[100].close * 1.05})
    await done.work([*map(market, series), market(corrected)])
    series[100] = corrected
    newest = published(done)[-1]
    assert (newest.at, newest.returns) == (T0, 199)
    assert newest.sigma == pytest.approx(plain_volatility([candle_of(one) for one in series], T0), rel=1e-9)


def gappy_hours(count: int, seed: int) -> list[Candle]:
    """Return hourly candles some of which are absent and some fillers."""
    draw = random.Random(seed)
    there = [one for one in hours(count, seed=seed) if draw.random() < 0.95]
    return [one if draw.random() < 0.95 else one.model_copy(update={"volume": 0.0}) for one in there]


@pytest.mark.parametrize("seed", range(3))
async def test_the_published_volatility_is_the_plain_sum_at_every_hour_and_a_restart_moves_no_digit(seed: int) -> None:
    series = gappy_hours(900, seed)
    straight, restarted = run(), run()
    await straight.work([*map(market, series)])
    for start in range(0, len(series), 50):
        await restarted.work(map(market, series[start : start + 50]))
        end = series[min(start + 49, len(series) - 1)].close_time
        await restarted.work([market(complete(end, "1h")), *heard(end)])
        restarted.restart()
    assert restarted.sent(VOLATILITY) == straight.sent(VOLATILITY)
    candles = [candle_of(message) for message in series]
    for one in published(straight):
        plain = plain_volatility(candles, one.at)
        assert one.sigma == (None if plain is None else pytest.approx(plain, rel=1e-9))
        assert one.returns == len(squared_returns(candles, one.at))
    assert published(straight)[-1].returns == 720


def kept(done: Run, interval: str) -> list[int]:
    return [int(key.rsplit("/", 1)[1]) for key in sorted(done.table) if f"/{interval}/" in key and "through" not in key]


async def test_candles_and_lists_are_forgotten_once_no_post_can_need_them() -> None:
    done = run()
    now = T0 + 3 * DAY_MS
    fives = [candle(T0 + number * FIVE_MINUTES_MS, 100.0) for number in range(3 * 288)]
    lists = [listed_btc(T0 + number * HOUR_MS) for number in range(72)]
    await done.work([*map(market, [*hours(900, until=now), *fives]), *lists])
    assert (len(kept(done, "1h")), len(kept(done, "5m"))) == (900, 864)
    await done.work(heard(now))
    assert kept(done, "5m")[0] >= now - 3 * HOUR_MS
    assert kept(done, "1h")[0] >= now - 33 * DAY_MS
    assert len([key for key in done.table if "/listings/" in key]) <= 3
    await done.work([posted(post(now)), market(complete(now, "5m")), market(complete(now, "1h")), *heard(now + 1)])
    assert quotes(done)[0].sigma == plain_volatility([candle_of(one) for one in hours(900, until=now)], now)


async def test_nothing_is_forgotten_that_a_waiting_post_needs() -> None:
    done = run()
    await done.work([listed_btc(), *known()[:-1], posted(post(AT))])
    for now in range(T0 + FIVE_MINUTES_MS, AT + ABSENT_AFTER_MS + 1, FIVE_MINUTES_MS):
        assert await done.work([listed(listings(now + 3 * 60_000, {})), *heard(now)]) == min(now, AT)
    assert await done.work(heard(AT + ABSENT_AFTER_MS)) == AT
    await done.work([market(complete(T0, "1h"))])
    (quote,) = quotes(done)
    assert (quote.refusal, quote.s) == (None, 100.0)


async def test_a_post_on_a_coin_that_ended_is_answered_before_its_market_is_forgotten() -> None:
    done = run()
    await done.work([listed_btc(), *known()[:-1], posted(post(AT))])
    far = T0 + 60 * DAY_MS
    assert await done.work([listed(listings(far - DAY_MS, {})), *heard(far)]) == far
    (quote,) = quotes(done)
    assert (quote.refusal, quote.s) == (None, 100.0)
    assert kept(done, "5m") == []


@pytest.mark.parametrize(("silent_days", "days"), [(6, 33), (45, 45)])
async def test_a_gap_across_the_edge_of_what_is_kept_leaves_volatility_the_plain_sum(
    silent_days: int, days: int
) -> None:
    now = T0 + days * DAY_MS
    before, after = hours(800), hours((days - silent_days) * 24, until=now)
    fresh = candle(now - FIVE_MINUTES_MS, 100.0)
    through = [complete(now, "5m"), complete(now, "1h")]
    done = run()
    await done.work([listed_btc(), *markets(*before, *after, fresh, *through), *heard(now)])
    await done.work([posted(post(now)), *heard(now + 1)])
    expected = plain_volatility([candle_of(message) for message in (*before, *after)], now)
    assert [quote.sigma for quote in quotes(done)] == [expected]
    assert expected is not None


@pytest.mark.parametrize("raw", [b"nope", b"[]", b'{"type":"complete"}', b'{"type":"tick"}', None])
async def test_what_is_no_market_message_is_undecodable(raw: bytes | None) -> None:
    with pytest.raises(ValidationError):
        await run().work([record(CANDLES, "btc", raw, T0)])


@pytest.mark.parametrize("close", [0.0, -1.0, float("nan"), float("inf")])
async def test_a_price_that_has_no_logarithm_is_refused(close: float) -> None:
    done = run()
    await done.work(map(market, hours(3)))
    with pytest.raises(PoisonError, match="close of BTC is"):
        await done.work([market(candle(T0, close, "1h"))])
