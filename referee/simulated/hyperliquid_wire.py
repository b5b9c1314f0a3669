"""Hyperliquid's `info` answers from a recorded sample: pure functions of the request and the time."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson

from referee.simulated.sample import HYPERLIQUID, Sample
from referee.simulated.series import CandleSeries, CandleState
from streams.venues.base import INTERVAL_MS

NEWEST_CANDLES = 5000
FUNDING_PAGE_ROWS = 500
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

Reply = tuple[int, bytes]
"""An HTTP status and the body."""

UNKNOWN_COIN: Reply = (500, b"null")
MALFORMED: Reply = (422, b"Failed to deserialize the JSON body into the target type")


def plain_decimal(text: str) -> str:
    """Return a recorded number as the venue writes it: never scientific, always with a fraction (H9)."""
    if "e" in text or "E" in text:
        text = format(Decimal(text), "f")
    return text if "." in text else f"{text}.0"


class HyperliquidWire:
    """What the venue says at a time, candle by candle and request by request."""

    def __init__(self, sample: Sample, *, empty_lag_ms: int) -> None:
        """Speak from the sample; an empty candle shows up `empty_lag_ms` after its close (H5)."""
        self.coins = frozenset(str(row["name"]) for row in sample.universe)
        self.series: dict[tuple[str, str], CandleSeries] = {}
        for (venue, coin, interval), candles in sample.candles.items():
            if venue == HYPERLIQUID:
                self.series[coin, interval] = CandleSeries(
                    coin, INTERVAL_MS[interval], candles, CandleEncoder(coin, interval), empty_lag_ms=empty_lag_ms
                )
        self._universe = sample.universe
        self._meta = orjson.dumps({"universe": sample.universe})
        self._funding_times = {coin: [row.time_ms for row in rows] for coin, rows in sample.funding.items()}
        self._funding = {
            coin: [_encode_funding(coin, row.time_ms, row.rate) for row in rows]
            for coin, rows in sample.funding.items()
        }
        self._rates = {coin: [plain_decimal(row.rate) for row in rows] for coin, rows in sample.funding.items()}
        self.encode = {key: CandleEncoder(*key) for key in self.series}

    def info(self, body: bytes, now_ms: int) -> Reply:
        """Answer `POST /info` as of `now_ms`."""
        try:
            request = orjson.loads(body)
            kind = request["type"]
            if kind == "candleSnapshot":
                return self._candle_snapshot(request["req"], now_ms)
            if kind == "fundingHistory":
                return self._funding_history(request, now_ms)
            if kind == "meta":
                return 200, self._meta
            if kind == "metaAndAssetCtxs":
                return 200, self._meta_and_contexts(now_ms)
        except (KeyError, TypeError, ValueError):
            return MALFORMED
        return MALFORMED

    def _candle_snapshot(self, request: Mapping[str, Any], now_ms: int) -> Reply:
        coin, interval = request["coin"], request["interval"]
        start_ms, end_ms = _time(request["startTime"]), _time(request["endTime"])
        if interval not in INTERVAL_MS:
            return MALFORMED
        if coin not in self.coins:
            return UNKNOWN_COIN
        series = self.series.get((coin, interval))
        rows = [] if series is None else series.window(start_ms, end_ms, now_ms, NEWEST_CANDLES)
        return 200, b"[" + b",".join(rows) + b"]"

    def _funding_history(self, request: Mapping[str, Any], now_ms: int) -> Reply:
        coin, start_ms = request["coin"], _time(request["startTime"])
        end_ms = now_ms if request.get("endTime") is None else min(_time(request["endTime"]), now_ms)
        if coin not in self.coins:
            return UNKNOWN_COIN
        times = self._funding_times.get(coin, [])
        low = bisect_left(times, start_ms)
        high = min(bisect_right(times, end_ms), low + FUNDING_PAGE_ROWS)
        return 200, b"[" + b",".join(self._funding.get(coin, [])[low:high]) + b"]"

    def _meta_and_contexts(self, now_ms: int) -> bytes:
        contexts = [
            _delisted_context() if row.get("isDelisted") else self._context(str(row["name"]), now_ms)
            for row in self._universe
        ]
        return b"[" + self._meta + b"," + orjson.dumps(contexts) + b"]"

    def _context(self, coin: str, now_ms: int) -> Mapping[str, Any]:
        """Return a listed coin's context: notional and volume of the hours that closed within the past 24 h.

        Open interest, oracle and impact prices are not recorded: 0, the mark and nothing stand for them, and
        `funding` is the last settled rate, not the running estimate.
        """
        hour_ms = now_ms // HOUR_MS * HOUR_MS
        hours = self.series[coin, "1h"].closed_between(hour_ms - DAY_MS, now_ms)
        base = sum((Decimal(hour.volume) for hour in hours), Decimal(0))
        notional = sum((Decimal(hour.volume) * Decimal(hour.close) for hour in hours), Decimal(0))
        settled = bisect_right(self._funding_times.get(coin, []), now_ms)
        forming = self.series[coin, "5m"].forming(now_ms) if (coin, "5m") in self.series else None
        mark = plain_decimal(forming.close if forming else hours[-1].close) if hours or forming else None
        return {
            "funding": self._rates[coin][settled - 1] if settled else "0.0",
            "openInterest": "0.0",
            "prevDayPx": plain_decimal(hours[0].open) if hours else mark,
            "dayNtlVlm": plain_decimal(format(notional, "f")),
            "premium": "0.0",
            "oraclePx": mark,
            "markPx": mark,
            "midPx": mark,
            "impactPxs": None,
            "dayBaseVlm": plain_decimal(format(base, "f")),
        }


def _delisted_context() -> Mapping[str, Any]:
    frozen = {"funding": "0.0", "openInterest": "0.0", "prevDayPx": "0.37621", "dayNtlVlm": "0.0"}
    prices = {"premium": None, "oraclePx": "0.3754", "markPx": "0.37621", "midPx": None, "impactPxs": None}
    return {**frozen, **prices, "dayBaseVlm": "0.0"}


class CandleEncoder:
    """Write a candle of one coin and interval as the venue does, by HTTP and by websocket."""

    def __init__(self, coin: str, interval: str) -> None:
        self._names = f'"s":"{coin}","i":"{interval}"'
        self._length_ms = INTERVAL_MS[interval]

    def __call__(self, state: CandleState) -> bytes:
        start = state.open_time_ms
        opened, closed = plain_decimal(state.open), plain_decimal(state.close)
        high, low, volume = plain_decimal(state.high), plain_decimal(state.low), plain_decimal(state.volume)
        return (
            f'{{"t":{start},"T":{start + self._length_ms - 1},{self._names},"o":"{opened}","c":"{closed}",'
            f'"h":"{high}","l":"{low}","v":"{volume}","n":{state.trades}}}'
        ).encode()


def _encode_funding(coin: str, time_ms: int, rate: str) -> bytes:
    return f'{{"coin":"{coin}","fundingRate":"{plain_decimal(rate)}","premium":"0.0","time":{time_ms}}}'.encode()


def _time(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"time {value!r} is not a positive integer")
    return value
