"""Bybit linear perps over HTTP: candles from `GET /v5/market/kline`, as the second venue."""

import re
from collections.abc import Mapping

import httpx
import orjson

from streams.venues.base import (
    INTERVAL_MS,
    Answer,
    MalformedAnswerError,
    PermanentVenueError,
    RetriableVenueError,
    VenueCandle,
    exchange,
    finite,
)

LIVE_URL = "https://api.bybit.com"

PAGE_CANDLES = 1000
"""The most candles that one call returns."""

_THOUSANDS = re.compile(r"k([A-Z][A-Z0-9]*)")

_RETRIABLE_CODES = frozenset({10000, 10006, 10016, 10018})
"""Bybit's own codes for a timeout, too many visits, its internal error, and an IP over its limit."""


def bybit_symbol(coin: str) -> str:
    """Return the Bybit symbol of a Hyperliquid perp: BTC → BTCUSDT, kPEPE → 1000PEPEUSDT."""
    thousands = _THOUSANDS.fullmatch(coin)
    return f"1000{thousands[1]}USDT" if thousands else f"{coin}USDT"


def parse_bybit_kline(raw: bytes) -> tuple[VenueCandle, ...]:
    """Return the candles in a kline body, ascending (the wire is newest first), the last possibly still open.

    Raises PermanentVenueError or RetriableVenueError by the body's own `retCode`, MalformedAnswerError when the
    body is not a kline answer.
    """
    try:
        body = orjson.loads(raw)
        code = int(body["retCode"])
        if code == 0:
            return tuple(_candle(row) for row in reversed(body["result"]["list"]))
        reason = f"retCode {code}: {body.get('retMsg')}"
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise MalformedAnswerError(
            f"the body is no kline ({type(error).__name__}: {error})", request="kline", status=200, raw=raw
        ) from error
    kind = RetriableVenueError if code in _RETRIABLE_CODES else PermanentVenueError
    raise kind(reason, request="kline", status=200, raw=raw)


class BybitHttp:
    """Bybit's public market data; retries are the caller's.

    `base_url` is `https://api.bybit.com` live; `client` is shared among all calls (see `venue_client`).
    """

    def __init__(self, base_url: str, client: httpx.AsyncClient) -> None:
        self._url = f"{base_url.rstrip('/')}/v5/market/kline"
        self._client = client

    async def candles(self, symbol: str, interval: str, start_ms: int, end_ms: int) -> Answer[VenueCandle]:
        """Return the newest 1000 candles that open in [start_ms, end_ms], the last possibly still open.

        `symbol` is Bybit's (`bybit_symbol`), `interval` one of INTERVAL_MS. Raises RetriableVenueError or
        PermanentVenueError; a symbol that Bybit does not know is permanent.
        """
        query: Mapping[str, str] = {
            "category": "linear",
            "symbol": symbol,
            "interval": str(INTERVAL_MS[interval] // 60_000),
            "start": str(start_ms),
            "end": str(end_ms),
            "limit": str(PAGE_CANDLES),
        }
        request = self._client.build_request("GET", self._url, params=query)
        text = request.url.raw_path.decode()
        status, raw = await exchange(self._client, request, text)
        return Answer.of(text, status, raw, parse_bybit_kline(raw))


def _candle(row: list[str]) -> VenueCandle:
    return VenueCandle(int(row[0]), finite(row[1]), finite(row[2]), finite(row[3]), finite(row[4]), finite(row[5]), 0)
