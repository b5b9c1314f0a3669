"""The shipped sample: complete, small, and true to the recorded text."""

import asyncio
import gzip

import orjson
import pytest

from referee.simulated.cut_sample import COINS, CUTS, LIMIT_BYTES, SECOND_VENUE_COINS
from referee.simulated.hyperliquid_wire import plain_decimal
from referee.simulated.sample import SAMPLE_DIRECTORY
from tests.referee.simulated.rig import DAY_MS, FIVE_MINUTES_MS, HOUR_MS, SAMPLE, ms, rig


def test_the_sample_is_small_and_has_the_columns_of_its_source() -> None:
    files = sorted(SAMPLE_DIRECTORY.glob("*.csv.gz"))
    assert sum(path.stat().st_size for path in files) < LIMIT_BYTES
    assert len(files) == sum(len(part.coins) for part in CUTS)
    headers = {gzip.decompress(path.read_bytes()).split(b"\n", 1)[0] for path in files}
    assert headers == {b"open_time_ms,open,high,low,close,volume", b"time_ms,rate"}


@pytest.mark.parametrize("coin", COINS)
def test_the_days_of_the_demo_have_every_candle_and_a_month_of_hours_before(coin: str) -> None:
    fives = [row.open_time_ms for row in SAMPLE.candles["hyperliquid", coin, "5m"]]
    hours = [row.open_time_ms for row in SAMPLE.candles["hyperliquid", coin, "1h"]]
    assert fives == list(range(fives[0], fives[-1] + 1, FIVE_MINUTES_MS))
    assert hours == list(range(hours[0], hours[-1] + 1, HOUR_MS))
    assert fives[0] <= ms("2025-06-05") - 2 * DAY_MS
    assert hours[0] <= ms("2025-06-05") - 40 * DAY_MS
    assert fives[-1] >= ms("2025-06-10")
    paid = {row.time_ms // HOUR_MS for row in SAMPLE.funding[coin]}
    assert paid >= {hour_ms // HOUR_MS for hour_ms in hours[1:]}
    if coin in SECOND_VENUE_COINS:
        assert {row.open_time_ms for row in SAMPLE.candles["bybit", coin, "5m"]} >= set(fives)


@pytest.mark.parametrize(
    ("recorded", "spoken"),
    [
        ("105170", "105170.0"),
        ("1.2093", "1.2093"),
        ("1.25e-05", "0.0000125"),
        ("-2.218e-06", "-0.000002218"),
        ("0", "0.0"),
        ("9.8E+1", "98.0"),
    ],
)
def test_numbers_are_spoken_as_the_venue_writes_them(recorded: str, spoken: str) -> None:
    """Rule H9."""
    assert plain_decimal(recorded) == spoken


async def test_every_recorded_price_comes_out_of_the_wire_digit_by_digit() -> None:
    async with rig("2025-06-08T12:00:00") as venue:
        answers = await asyncio.gather(
            *(venue.hyperliquid.candles(coin, "5m", ms("2025-06-07"), ms("2025-06-08") - 1) for coin in COINS)
        )
    for coin, answer in zip(COINS, answers, strict=True):
        spoken = orjson.loads(answer.raw)
        opens = range(ms("2025-06-07"), ms("2025-06-08"), FIVE_MINUTES_MS)
        rows = [row for row in SAMPLE.candles["hyperliquid", coin, "5m"] if row.open_time_ms in opens]
        assert len(rows) == len(spoken) == 288
        for row, wire in zip(rows, spoken, strict=True):
            assert [wire[key].removesuffix(".0") for key in "ohlcv"] == [
                row.open,
                row.high,
                row.low,
                row.close,
                row.volume,
            ]
            assert wire["T"] == wire["t"] + FIVE_MINUTES_MS - 1
