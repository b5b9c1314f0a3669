"""Bybit's kline answers from a recorded sample: pure functions of the request and the time."""

from collections.abc import Mapping
from decimal import Decimal

import orjson

from referee.simulated.sample import BYBIT, Sample
from referee.simulated.series import CandleSeries, CandleState
from streams.venues.base import INTERVAL_MS
from streams.venues.bybit import bybit_symbol

DEFAULT_CANDLES = 200
MOST_CANDLES = 1000
PARAMETER_ERROR = 10001

_INTERVALS = {str(length_ms // 60_000): name for name, length_ms in INTERVAL_MS.items()}


class BybitWire:
    """What the second venue says at a time."""

    def __init__(self, sample: Sample) -> None:
        """Speak from the sample; empty bars show from their open on, as this venue has no halts of its own."""
        self._series = {
            (bybit_symbol(coin), interval): CandleSeries(
                f"bybit {coin}", INTERVAL_MS[interval], candles, _encode, empty_lag_ms=None
            )
            for (venue, coin, interval), candles in sample.candles.items()
            if venue == BYBIT
        }

    def kline(self, query: Mapping[str, str], now_ms: int) -> bytes:
        """Answer `GET /v5/market/kline` as of `now_ms`: newest first, the open bar included; errors are 200 too."""
        try:
            symbol, interval = query["symbol"], _INTERVALS[query["interval"]]
            end_ms = int(query.get("end", now_ms))
            limit = min(int(query.get("limit", DEFAULT_CANDLES)), MOST_CANDLES)
            start_ms = int(query.get("start", end_ms - limit * INTERVAL_MS[interval]))
            series = self._series[symbol, interval]
        except (KeyError, ValueError) as error:
            return _body(PARAMETER_ERROR, f"params error: {error}", b"{}", now_ms)
        first_open_ms = start_ms + series.interval_ms - 1
        rows = series.window(first_open_ms, end_ms, now_ms, limit)
        listed = b"[" + b",".join(reversed(rows)) + b"]"
        result = b'{"symbol":"%s","category":"linear","list":%s}' % (symbol.encode(), listed)
        return _body(0, "OK", result, now_ms)


def _body(code: int, message: str, result: bytes, now_ms: int) -> bytes:
    head = b'{"retCode":%d,"retMsg":%s' % (code, orjson.dumps(message))
    return head + b',"result":%s,"retExtInfo":{},"time":%d}' % (result, now_ms)


def _encode(state: CandleState) -> bytes:
    turnover = format(Decimal(state.volume) * Decimal(state.close), "f")
    prices = f'"{state.open}","{state.high}","{state.low}","{state.close}"'
    return f'["{state.open_time_ms}",{prices},"{state.volume}","{turnover}"]'.encode()
