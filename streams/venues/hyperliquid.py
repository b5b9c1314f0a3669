"""Hyperliquid over HTTP: candles, settled funding and the universe from `POST /info`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from streams.venues.base import (
    Answer,
    FundingRow,
    Listing,
    MalformedAnswerError,
    VenueCandle,
    exchange,
    finite,
)

FUNDING_PAGE_ROWS = 500
"""A full page of funding; fewer rows mean that it is the last (H2)."""

LIVE_URL = "https://api.hyperliquid.xyz"


@dataclass(frozen=True, slots=True)
class FundingHistory:
    """The pages of a funding read, each with its raw bytes, and all their rows in time order."""

    pages: tuple[Answer[FundingRow], ...]
    rows: tuple[FundingRow, ...]


def candle_from_wire(row: Mapping[str, Any]) -> VenueCandle:
    """Return one candle object of the wire, whether it came by HTTP or by websocket.

    Raises KeyError, TypeError or ValueError when a field is absent or not a finite number.
    """
    return VenueCandle(
        open_time_ms=int(row["t"]),
        open=finite(row["o"]),
        high=finite(row["h"]),
        low=finite(row["l"]),
        close=finite(row["c"]),
        volume=finite(row["v"]),
        trades=int(row["n"]),
    )


def parse_candle_snapshot(raw: bytes) -> tuple[VenueCandle, ...]:
    """Return the candles in a `candleSnapshot` body, ascending, the last one possibly still open (H1).

    Raises MalformedAnswerError when the body is not a list of candles.
    """
    try:
        return tuple(candle_from_wire(row) for row in _list_of(orjson.loads(raw)))
    except (KeyError, TypeError, ValueError) as error:
        raise _malformed("candleSnapshot", raw, error) from error


def parse_funding_history(raw: bytes) -> tuple[FundingRow, ...]:
    """Return the rows in a `fundingHistory` body, ascending, times as the venue stamps them (H2).

    Raises MalformedAnswerError when the body is not a list of funding rows.
    """
    try:
        return tuple(FundingRow(int(row["time"]), finite(row["fundingRate"])) for row in _list_of(orjson.loads(raw)))
    except (KeyError, TypeError, ValueError) as error:
        raise _malformed("fundingHistory", raw, error) from error


def parse_meta(raw: bytes) -> tuple[str, ...]:
    """Return every perp's name in a `meta` body, delisted ones included, exact spelling (H9).

    Raises MalformedAnswerError when the body has no universe.
    """
    try:
        return tuple(str(row["name"]) for row in _list_of(orjson.loads(raw)["universe"]))
    except (KeyError, TypeError, ValueError) as error:
        raise _malformed("meta", raw, error) from error


def parse_listed(raw: bytes) -> tuple[str, ...]:
    """Return the perps in a `meta` body that are listed now; `isDelisted` is present only when true (H3).

    Raises MalformedAnswerError when the body has no universe.
    """
    try:
        rows = _list_of(orjson.loads(raw)["universe"])
        return tuple(str(row["name"]) for row in rows if row.get("isDelisted", False) is not True)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _malformed("meta", raw, error) from error


def parse_meta_and_contexts(raw: bytes) -> tuple[Listing, ...]:
    """Return the universe with its 24-hour notionals (USD), joined by index (H3).

    Raises MalformedAnswerError when the two lists are absent or differ in length.
    """
    try:
        meta, contexts = orjson.loads(raw)
        return tuple(
            Listing(str(row["name"]), finite(context["dayNtlVlm"]), row.get("isDelisted", False) is True)
            for row, context in zip(_list_of(meta["universe"]), _list_of(contexts), strict=True)
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _malformed("metaAndAssetCtxs", raw, error) from error


class HyperliquidHttp:
    """The venue's `info` endpoint; retries are the caller's.

    `base_url` is `https://api.hyperliquid.xyz` live; `client` is shared among all calls (see `venue_client`).
    Every call raises RetriableVenueError or PermanentVenueError. A coin that the venue does not know is a 500 with
    body `null` (H4), which looks like trouble at the venue and so counts as retriable: validate names by `meta`.
    """

    def __init__(self, base_url: str, client: httpx.AsyncClient) -> None:
        self._url = f"{base_url.rstrip('/')}/info"
        self._client = client

    async def candles(self, coin: str, interval: str, start_ms: int, end_ms: int) -> Answer[VenueCandle]:
        """Return the newest 5000 candles that overlap [start_ms, end_ms], the last possibly still open (H1)."""
        window = {"coin": coin, "interval": interval, "startTime": start_ms, "endTime": end_ms}
        text, status, raw = await self._info({"type": "candleSnapshot", "req": window})
        return Answer.of(text, status, raw, parse_candle_snapshot(raw))

    async def funding_history(self, coin: str, start_ms: int, end_ms: int | None = None) -> FundingHistory:
        """Return every funding row stamped in [start_ms, end_ms], page after page of 500 (H2)."""
        pages: list[Answer[FundingRow]] = []
        rows: list[FundingRow] = []
        while True:
            body: dict[str, Any] = {"type": "fundingHistory", "coin": coin, "startTime": start_ms}
            if end_ms is not None:
                body["endTime"] = end_ms
            text, status, raw = await self._info(body)
            page = Answer.of(text, status, raw, parse_funding_history(raw))
            pages.append(page)
            rows.extend(page.rows)
            if len(page.rows) < FUNDING_PAGE_ROWS:
                return FundingHistory(tuple(pages), tuple(rows))
            start_ms = page.rows[-1].time_ms + 1

    async def meta(self) -> Answer[str]:
        """Return the names of all perps, delisted ones included."""
        text, status, raw = await self._info({"type": "meta"})
        return Answer.of(text, status, raw, parse_meta(raw))

    async def listed(self) -> Answer[str]:
        """Return the names of the perps that are listed now; the body changes with the universe alone."""
        text, status, raw = await self._info({"type": "meta"})
        return Answer.of(text, status, raw, parse_listed(raw))

    async def meta_and_contexts(self) -> Answer[Listing]:
        """Return all perps with their 24-hour notional in USD and whether they are delisted (H3)."""
        text, status, raw = await self._info({"type": "metaAndAssetCtxs"})
        return Answer.of(text, status, raw, parse_meta_and_contexts(raw))

    async def _info(self, body: Mapping[str, Any]) -> tuple[str, int, bytes]:
        content = orjson.dumps(body)
        request = self._client.build_request(
            "POST", self._url, content=content, headers={"content-type": "application/json"}
        )
        text = content.decode()
        status, raw = await exchange(self._client, request, text)
        return text, status, raw


def _list_of(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{type(value).__name__} where a list belongs")
    return value


def _malformed(what: str, raw: bytes, error: Exception) -> MalformedAnswerError:
    return MalformedAnswerError(
        f"the body is no {what} ({type(error).__name__}: {error})", request=what, status=200, raw=raw
    )
