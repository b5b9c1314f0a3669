"""Bybit over HTTP, against the simulated venue."""

import orjson
import pytest

from streams.venues.base import MalformedAnswerError, PermanentVenueError, RetriableVenueError
from streams.venues.bybit import bybit_symbol, parse_bybit_kline
from tests.referee.simulated.rig import FIVE_MINUTES_MS, SAMPLE, ms, rig


def test_symbols_map_from_the_pinned_venues_names() -> None:
    assert [bybit_symbol(coin) for coin in ("BTC", "kPEPE", "FARTCOIN", "kBONK")] == [
        "BTCUSDT",
        "1000PEPEUSDT",
        "FARTCOINUSDT",
        "1000BONKUSDT",
    ]


async def test_the_wire_is_newest_first_in_text_and_includes_the_open_bar() -> None:
    async with rig("2025-06-08T10:03:00") as venue:
        start_ms, now_ms = ms("2025-06-08T09:45:00"), venue.clock.now_ms()
        answer = await venue.bybit.candles("BTCUSDT", "5m", start_ms, now_ms)
        body = orjson.loads(answer.raw)
    assert (body["retCode"], body["result"]["symbol"], body["result"]["category"]) == (0, "BTCUSDT", "linear")
    starts = [int(row[0]) for row in body["result"]["list"]]
    assert starts == [ms(f"2025-06-08T{time}") for time in ("10:00", "09:55", "09:50", "09:45")]
    assert all(isinstance(cell, str) for row in body["result"]["list"] for cell in row)
    assert all(len(row) == 7 for row in body["result"]["list"])
    assert [row.open_time_ms for row in answer.rows] == starts[::-1]
    recorded = {row.open_time_ms: row for row in SAMPLE.candles["bybit", "BTC", "5m"]}
    assert [row.close for row in answer.rows[:-1]] == [float(recorded[start].close) for start in starts[:0:-1]]
    assert 0 < answer.rows[-1].volume < float(recorded[starts[0]].volume)


async def test_the_second_venue_traded_while_the_first_was_halted() -> None:
    """Rule H6."""
    async with rig("2025-06-08T10:25:05") as venue:
        start_ms, end_ms = ms("2025-06-08T09:45:00"), ms("2025-06-08T10:20:00")
        first = (await venue.hyperliquid.candles("BTC", "5m", start_ms, end_ms)).rows
        second = (await venue.bybit.candles("BTCUSDT", "5m", start_ms, end_ms)).rows
    assert len(first) == len(second) == 8
    assert {row.volume for row in first} == {0.0}
    assert all(row.volume > 0 for row in second)
    assert max(row.high for row in second) / min(row.low for row in second) > 1.002


async def test_the_window_takes_opens_from_start_to_end() -> None:
    async with rig("2025-06-08T10:00:00") as venue:
        start_ms = ms("2025-06-08T09:00:00")
        rows = (await venue.bybit.candles("ETHUSDT", "5m", start_ms + 1, start_ms + 2 * FIVE_MINUTES_MS)).rows
        many = (await venue.bybit.candles("ETHUSDT", "5m", ms("2025-06-01"), start_ms)).rows
    assert [row.open_time_ms for row in rows] == [start_ms + FIVE_MINUTES_MS, start_ms + 2 * FIVE_MINUTES_MS]
    assert len(many) == 1_000
    assert many[-1].open_time_ms == start_ms


async def test_an_unknown_symbol_is_refused_for_good_although_the_status_is_200() -> None:
    async with rig("2025-06-08T10:00:00") as venue:
        with pytest.raises(PermanentVenueError, match="retCode 10001"):
            await venue.bybit.candles("NOTHINGUSDT", "5m", 1, 2)


def test_trouble_at_the_venue_may_be_tried_again() -> None:
    with pytest.raises(RetriableVenueError, match="Too many visits"):
        parse_bybit_kline(b'{"retCode":10006,"retMsg":"Too many visits!","result":{}}')
    for raw in (b"null", b"[]", b"<html>", b'{"retCode":0}', b'{"retCode":0,"result":{"list":[["1","2"]]}}'):
        with pytest.raises(MalformedAnswerError):
            parse_bybit_kline(raw)
