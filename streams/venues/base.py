"""What every venue client shares: candles, answers with their raw bytes, and what can go wrong."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Generic, TypeVar
from urllib.parse import urlsplit

import httpx

INTERVAL_MS: Mapping[str, int] = {"5m": 300_000, "1h": 3_600_000}
"""The candle intervals in use and their length in ms."""

BODY_SHOWN_IN_ERRORS = 200
"""How many bytes of a refused body an error message quotes."""


class VenueError(Exception):
    """A venue did not give the answer asked for; keeps what was sent and what came back."""

    def __init__(self, reason: str, *, request: str, status: int | None = None, raw: bytes = b"") -> None:
        shown = raw[:BODY_SHOWN_IN_ERRORS].decode("utf-8", "replace")
        super().__init__(f"{reason}; status {status}, request {request}, body {shown!r}")
        self.request = request
        self.status = status
        self.raw = raw


class RetriableVenueError(VenueError):
    """The same request may succeed later: timeout, lost connection, status 408, 429 or 5xx."""


class PermanentVenueError(VenueError):
    """The same request will fail again: the venue refuses it as it stands."""


class MalformedAnswerError(RetriableVenueError):
    """The venue answered 200 with a body that is not the agreed shape, as a proxy in trouble does."""


@dataclass(frozen=True, slots=True)
class VenueCandle:
    """One candle, open or closed; `trades` is 0 where the venue does not count them."""

    open_time_ms: int
    open: float
    high: float
    low: float
    close: float
    volume: float
    trades: int


@dataclass(frozen=True, slots=True)
class FundingRow:
    """One settled funding payment, `time_ms` as the venue stamps it (some ms to minutes after its hour)."""

    time_ms: int
    rate: float


@dataclass(frozen=True, slots=True)
class Listing:
    """One perp of the venue; `day_notional_usd` is its 24-hour notional, 0 when delisted."""

    coin: str
    day_notional_usd: float
    delisted: bool


Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Answer(Generic[Row]):
    """A venue's answer as evidence: the request's text, the body's bytes with their sha256, and the rows in it."""

    request: str
    status: int
    raw: bytes
    sha256: str
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, request: str, status: int, raw: bytes, rows: tuple[Row, ...]) -> "Answer[Row]":
        """Return the answer with the sha256 (hex) of `raw`."""
        return cls(request, status, raw, hashlib.sha256(raw).hexdigest(), rows)


def finite(text: object) -> float:
    """Return a venue's number (text or JSON number) as a double.

    Raises ValueError when it is not a finite number, TypeError when it is no number at all.
    """
    if not isinstance(text, str | int | float):
        raise TypeError(f"number {text!r} is neither text nor a number")
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"number {text!r} is not finite")
    return value


def is_loopback(url: str) -> bool:
    """Tell whether `url` points at this machine, where no proxy can help."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def venue_client(base_url: str, *, timeout_s: float = 10.0, connections: int = 8) -> httpx.AsyncClient:
    """Return a client to share among all calls to one venue: HTTP/1.1, kept alive, proxies only off this machine.

    Idle connections are dropped after two minutes, before the venue drops them (H4).
    """
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=120)
    return httpx.AsyncClient(timeout=timeout_s, limits=limits, trust_env=not is_loopback(base_url))


async def exchange(client: httpx.AsyncClient, request: httpx.Request, text: str) -> tuple[int, bytes]:
    """Send `request` and return status and body bytes; `text` is how errors name the request.

    Raises RetriableVenueError for timeouts, lost connections, garbled bodies, 408, 429 and 5xx, PermanentVenueError for
    any other status but 200.
    """
    try:
        response = await client.send(request)
    except (httpx.TransportError, httpx.DecodingError) as error:
        raise RetriableVenueError(f"no answer ({type(error).__name__}: {error})", request=text) from error
    status, raw = response.status_code, response.content
    if status == 200:
        return status, raw
    if status in (408, 429) or status >= 500:
        raise RetriableVenueError("the venue cannot answer now", request=text, status=status, raw=raw)
    raise PermanentVenueError("the venue refuses the request", request=text, status=status, raw=raw)
