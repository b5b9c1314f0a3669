"""Hyperliquid over HTTP, against the simulated venue and against true bodies."""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from referee.simulated.sample import RecordedCandle, Sample
from referee.simulated.server import SimulatedVenue
from streams.clock import SteppedClock
from streams.venues.base import MalformedAnswerError, PermanentVenueError, RetriableVenueError, venue_client
from streams.venues.hyperliquid import (
    HyperliquidHttp,
    parse_candle_snapshot,
    parse_funding_history,
    parse_meta,
    parse_meta_and_contexts,
)
from tests.referee.simulated.rig import DAY_MS, FIVE_MINUTES_MS, HOUR_MS, MINUTE_MS, SAMPLE, ms, rig

WIRE = Path(__file__).parent / "wire"


def true_body(name: str) -> tuple[Any, bytes]:
    """Return a recorded answer, parsed and as body bytes."""
    response = json.loads((WIRE / name).read_text())["response"]
    return response, orjson.dumps(response)


def test_a_true_candle_snapshot_parses_number_by_number() -> None:
    response, raw = true_body("http-candleSnapshot-kPEPE-1h.json")
    candles = parse_candle_snapshot(raw)
    assert len(candles) == len(response) > 10
    first = candles[0]
    assert (first.open_time_ms, first.open, first.close, first.volume, first.trades) == (
        1_684_699_200_000,
        0.001601,
        0.001604,
        520_665_683.0,
        709,
    )
    assert (first.high, first.low) == (0.001616, 0.001601)


def test_a_true_funding_history_parses_with_the_venues_own_times() -> None:
    _, raw = true_body("http-fundingHistory-BTC-8h-era.json")
    rows = parse_funding_history(raw)
    assert (rows[0].time_ms, rows[0].rate) == (1_683_849_600_048, -0.00061334)
    assert [row.time_ms for row in rows] == sorted(row.time_ms for row in rows)


def test_a_true_universe_joins_by_index_and_marks_delisted_coins() -> None:
    """Rule H3."""
    (meta, contexts), raw = true_body("http-metaAndAssetCtxs-2025-08.json")
    listings = parse_meta_and_contexts(raw)
    assert [row.coin for row in listings] == [row["name"] for row in meta["universe"]]
    assert [row.day_notional_usd for row in listings] == [float(context["dayNtlVlm"]) for context in contexts]
    assert {row.coin for row in listings if row.delisted} == {
        row["name"] for row in meta["universe"] if "isDelisted" in row
    }
    assert next(row for row in listings if row.coin == "MATIC").delisted
    assert set(parse_meta(true_body("http-meta-2025-08.json")[1])) >= {"BTC", "kPEPE", "MATIC"}


@pytest.mark.parametrize(
    "raw",
    [
        b"null",
        b"<html>502</html>",
        b'{"t":1}',
        b"[1]",
        b"[null]",
        b'[{"t":1}]',
        b'[{"t":1,"o":"nan","h":"1","l":"1","c":"1","v":"1","n":1}]',
        b'[{"t":1,"o":[],"h":"1","l":"1","c":"1","v":"1","n":1}]',
    ],
)
def test_a_body_that_is_no_snapshot_is_malformed_and_may_be_asked_for_again(raw: bytes) -> None:
    with pytest.raises(MalformedAnswerError) as caught:
        parse_candle_snapshot(raw)
    assert isinstance(caught.value, RetriableVenueError)
    assert caught.value.raw == raw


def test_contexts_that_do_not_match_the_universe_are_malformed() -> None:
    with pytest.raises(MalformedAnswerError):
        parse_meta_and_contexts(b'[{"universe":[{"name":"BTC"},{"name":"ETH"}]},[{"dayNtlVlm":"1.0"}]]')


async def test_an_answer_keeps_the_bytes_that_it_rests_on() -> None:
    async with rig("2025-06-05T12:00:00") as venue:
        start_ms = ms("2025-06-05T11:00:00")
        answer = await venue.hyperliquid.candles("BTC", "5m", start_ms, start_ms + HOUR_MS - 1)
    assert answer.sha256 == hashlib.sha256(answer.raw).hexdigest()
    assert parse_candle_snapshot(answer.raw) == answer.rows
    assert orjson.loads(answer.request) == {
        "type": "candleSnapshot",
        "req": {"coin": "BTC", "interval": "5m", "startTime": start_ms, "endTime": start_ms + HOUR_MS - 1},
    }
    recorded = [row for row in SAMPLE.candles["hyperliquid", "BTC", "5m"] if start_ms <= row.open_time_ms][:12]
    assert [row.close for row in answer.rows] == [float(row.close) for row in recorded]


async def test_simulated_bodies_have_the_fields_and_the_types_of_true_ones() -> None:
    """Rule H9."""
    async with rig("2025-06-05T12:00:00") as venue:
        now_ms = venue.clock.now_ms()
        candles = orjson.loads((await venue.hyperliquid.candles("SOL", "1h", now_ms - DAY_MS, now_ms)).raw)
        funding = orjson.loads((await venue.hyperliquid.funding_history("SOL", now_ms - DAY_MS)).pages[0].raw)
        meta, contexts = orjson.loads((await venue.hyperliquid.meta_and_contexts()).raw)
    (true_meta, true_contexts), _ = true_body("http-metaAndAssetCtxs-2025-08.json")
    pairs = [
        (candles[0], true_body("http-candleSnapshot-kPEPE-1h.json")[0][0]),
        (funding[0], true_body("http-fundingHistory-BTC-8h-era.json")[0][0]),
        (meta["universe"][0], true_meta["universe"][0]),
        (meta["universe"][2], true_meta["universe"][3]),
    ]
    for simulated, true in pairs:
        assert {key: type(value) for key, value in simulated.items()} == {
            key: type(value) for key, value in true.items()
        }
    assert contexts[0].keys() == true_contexts[0].keys()
    assert contexts[2] == true_contexts[3]
    numbers = [row[key] for row in candles for key in "ohlcv"] + [row["fundingRate"] for row in funding]
    assert all("." in number and "e" not in number.lower() for number in numbers)


async def test_the_window_means_overlap_and_the_last_candle_may_be_open() -> None:
    """Rule H1."""
    async with rig("2025-06-05T12:03:00") as venue:
        start_ms, now_ms = ms("2025-06-05T11:52:00"), venue.clock.now_ms()
        rows = (await venue.hyperliquid.candles("ETH", "5m", start_ms, now_ms)).rows
        assert [row.open_time_ms for row in rows] == [ms(f"2025-06-05T{hour}") for hour in ("11:50", "11:55", "12:00")]
        open_candle = rows[-1]
        await venue.venue.advance(ms("2025-06-05T12:05:00"))
        whole = (await venue.hyperliquid.candles("ETH", "5m", now_ms, now_ms)).rows
    assert [row.open_time_ms for row in whole] == [open_candle.open_time_ms]
    assert 0 < open_candle.volume < whole[0].volume
    assert open_candle.trades < whole[0].trades


async def test_a_candle_that_ends_at_the_start_is_outside_the_window() -> None:
    """Rule H1."""
    async with rig("2025-06-05T12:00:00") as venue:
        start_ms = ms("2025-06-05T11:50:00")
        rows = (await venue.hyperliquid.candles("ETH", "5m", start_ms, start_ms)).rows
        before = (await venue.hyperliquid.candles("ETH", "5m", start_ms - 1, start_ms - 1)).rows
    assert [row.open_time_ms for row in rows] == [start_ms]
    assert [row.open_time_ms for row in before] == [start_ms - FIVE_MINUTES_MS]


async def test_a_snapshot_holds_the_newest_5000_candles_at_most() -> None:
    """Rule H1."""
    first_ms, count = ms("2025-05-01"), 5_200
    candles = tuple(
        RecordedCandle(first_ms + number * FIVE_MINUTES_MS, "1", "2", "0.5", "1.5", "10") for number in range(count)
    )
    sample = Sample({("hyperliquid", "BTC", "5m"): candles}, {}, SAMPLE.universe)
    clock = SteppedClock(first_ms + count * FIVE_MINUTES_MS)
    async with SimulatedVenue(clock, sample) as venue, venue_client(venue.hyperliquid_url) as client:
        http = HyperliquidHttp(venue.hyperliquid_url, client)
        rows = (await http.candles("BTC", "5m", first_ms, clock.now_ms())).rows
    assert len(rows) == 5_000
    assert rows[0].open_time_ms == first_ms + 200 * FIVE_MINUTES_MS
    assert rows[-1].open_time_ms == candles[-1].open_time_ms


async def test_no_start_or_a_text_for_a_start_is_refused_for_good() -> None:
    """Rules H1 and H4."""
    async with rig("2025-06-05T12:00:00") as venue:
        with pytest.raises(PermanentVenueError) as caught:
            await venue.hyperliquid.candles("BTC", "5m", 0, venue.clock.now_ms())
        assert (caught.value.status, caught.value.raw[:6]) == (422, b"Failed")
        with pytest.raises(PermanentVenueError):
            await venue.hyperliquid.candles("BTC", "7m", 1, 2)


async def test_funding_comes_in_pages_of_500_without_a_row_lost_or_repeated() -> None:
    """Rule H2."""
    async with rig("2025-06-10T12:00:00") as venue:
        start_ms = ms("2025-04-21")
        history = await venue.hyperliquid.funding_history("HYPE", start_ms)
        some = await venue.hyperliquid.funding_history("HYPE", start_ms, start_ms + HOUR_MS - 1)
    expected = [row for row in SAMPLE.funding["HYPE"] if row.time_ms <= ms("2025-06-10T12:00:00")]
    assert [len(page.rows) for page in history.pages] == [500, 500, len(expected) - 1_000]
    assert [(row.time_ms, row.rate) for row in history.rows] == [(row.time_ms, float(row.rate)) for row in expected]
    assert [row.time_ms for row in some.rows] == [expected[0].time_ms]


async def test_a_funding_row_shows_once_the_clock_has_passed_its_own_time() -> None:
    """Rule H2: after the halt the payment of 10:00 was stamped 1 094 ms late."""
    async with rig("2025-06-08T10:00:01") as venue:
        start_ms = ms("2025-06-08T10:00:00")
        assert (await venue.hyperliquid.funding_history("BTC", start_ms)).rows == ()
        await venue.venue.advance(start_ms + 1_094)
        rows = (await venue.hyperliquid.funding_history("BTC", start_ms)).rows
    assert [row.time_ms for row in rows] == [start_ms + 1_094]


async def test_a_coin_that_the_venue_does_not_know_is_a_500_null() -> None:
    """Rule H4."""
    async with rig("2025-06-05T12:00:00") as venue:
        with pytest.raises(RetriableVenueError) as caught:
            await venue.hyperliquid.funding_history("btc", 1)
        assert (caught.value.status, caught.value.raw) == (500, b"null")
        with pytest.raises(RetriableVenueError) as caught:
            await venue.hyperliquid.candles("XYZ", "5m", 1, 2)
        assert (caught.value.status, caught.value.raw) == (500, b"null")


async def test_too_many_requests_may_be_tried_again_and_the_next_one_succeeds() -> None:
    """Rule H4."""
    async with rig("2025-06-05T12:00:00") as venue:
        venue.venue.refuse_next(429)
        with pytest.raises(RetriableVenueError, match="429"):
            await venue.hyperliquid.meta()
        assert "BTC" in (await venue.hyperliquid.meta()).rows


async def test_a_venue_that_is_gone_may_be_tried_again() -> None:
    async with rig("2025-06-05T12:00:00") as venue:
        await venue.hyperliquid.meta()
        await venue.venue.stop()
        with pytest.raises(RetriableVenueError, match="no answer"):
            await venue.hyperliquid.meta()


async def test_a_venue_that_is_silent_may_be_tried_again() -> None:
    gone = asyncio.Event()

    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        await writer.wait_closed()
        gone.set()

    server = await asyncio.start_server(swallow, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with venue_client(url, timeout_s=0.05) as client:
        with pytest.raises(RetriableVenueError, match="ReadTimeout"):
            await HyperliquidHttp(url, client).meta()
    await gone.wait()
    server.close()
    await server.wait_closed()


async def test_the_day_notional_is_the_sum_of_the_past_24_hours() -> None:
    """Rule H3."""
    async with rig("2025-06-06T12:30:00") as venue:
        listings = {row.coin: row for row in (await venue.hyperliquid.meta_and_contexts()).rows}
    first_ms = ms("2025-06-05T12:00:00")
    hours = [
        row for row in SAMPLE.candles["hyperliquid", "BTC", "1h"] if first_ms <= row.open_time_ms < first_ms + DAY_MS
    ]
    assert len(hours) == 24
    assert listings["BTC"].day_notional_usd == pytest.approx(sum(float(row.volume) * float(row.close) for row in hours))
    assert listings["MATIC"].delisted
    assert not listings["BTC"].delisted


async def test_an_empty_candle_is_absent_at_first_and_appears_later() -> None:
    """Rule H5."""
    async with rig("2025-06-08T09:50:01") as venue:
        open_ms = ms("2025-06-08T09:45:00")
        early = (await venue.hyperliquid.candles("BTC", "5m", open_ms, venue.clock.now_ms())).rows
        await venue.venue.advance(ms("2025-06-08T09:50:02"))
        later = (await venue.hyperliquid.candles("BTC", "5m", open_ms, venue.clock.now_ms())).rows
    assert early == ()
    assert [(row.open_time_ms, row.volume, row.trades) for row in later] == [(open_ms, 0.0, 0)]
    assert later[0].open == later[0].high == later[0].low == later[0].close == 105_170.0


async def test_a_halt_is_empty_in_5m_and_hidden_in_the_hour() -> None:
    """Rule H6."""
    async with rig("2025-06-08T11:00:05") as venue:
        start_ms = ms("2025-06-08T09:00:00")
        for coin in ("BTC", "ETH", "SOL"):
            fives = (await venue.hyperliquid.candles(coin, "5m", start_ms, start_ms + 2 * HOUR_MS - 1)).rows
            hours = (await venue.hyperliquid.candles(coin, "1h", start_ms, start_ms + 2 * HOUR_MS - 1)).rows
            quiet = [row.open_time_ms for row in fives if row.volume == 0]
            halt = range(ms("2025-06-08T09:45:00"), ms("2025-06-08T10:20:00") + MINUTE_MS, FIVE_MINUTES_MS)
            assert set(halt) <= set(quiet)
            assert all(row.volume > 0 for row in hours)
            assert len(hours) == 2
