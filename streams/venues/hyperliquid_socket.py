"""Hyperliquid over websocket: candle subscriptions as an ordered stream of typed frames."""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from streams.clock import Clock
from streams.venues.base import (
    PermanentVenueError,
    RetriableVenueError,
    VenueCandle,
    is_loopback,
)
from streams.venues.hyperliquid import candle_from_wire

LIVE_SOCKET_URL = "wss://api.hyperliquid.xyz/ws"

PACE_MS = 500
"""Two subscriptions a second: the venue closes sockets that send them in bursts (W7)."""

PONG_TIMEOUT_S = 10.0
"""A socket that leaves a ping unanswered for so long is half-open and counts as lost (W6)."""


class SocketLostError(RetriableVenueError):
    """The socket is gone, or silent to a ping; what it would have sent must be fetched by HTTP (W7)."""


class UnlistedCoinError(PermanentVenueError):
    """The coin is not a name in `meta`; the venue would kill the whole socket for it (W4)."""


@dataclass(frozen=True, slots=True)
class CandleFrame:
    """The state of a forming candle, or a last update of one whose interval is over (W1)."""

    coin: str
    interval: str
    candle: VenueCandle


@dataclass(frozen=True, slots=True)
class SubscriptionFrame:
    """The venue's acknowledgement of a `subscribe` or `unsubscribe`."""

    method: str
    coin: str
    interval: str


@dataclass(frozen=True, slots=True)
class ErrorFrame:
    """The venue's complaint about something that this side sent (W5)."""

    text: str


Frame = CandleFrame | SubscriptionFrame | ErrorFrame


def parse_frame(raw: bytes) -> Frame | None:
    """Return the typed frame of one websocket message, None for a pong and for channels not in use.

    Raises KeyError, TypeError or ValueError when a candle frame is not one.
    """
    message = orjson.loads(raw)
    channel, data = message["channel"], message.get("data")
    if channel == "candle":
        return CandleFrame(str(data["s"]), str(data["i"]), candle_from_wire(data))
    if channel == "subscriptionResponse" and data["subscription"]["type"] == "candle":
        subscription = data["subscription"]
        return SubscriptionFrame(str(data["method"]), str(subscription["coin"]), str(subscription["interval"]))
    return ErrorFrame(str(data)) if channel == "error" else None


class HyperliquidSocket:
    """One connection to the venue; whoever owns it makes a new one when it is lost.

    What is wanted is remembered on this side and only `subscribe` and `unsubscribe` change it: an acknowledgement
    that comes late ends nothing (W5). The owner calls `barrier` at least every 50 s, which also keeps the venue
    from closing a quiet socket (W3).
    """

    def __init__(self, url: str, names: frozenset[str], clock: Clock, *, pace_ms: int = PACE_MS) -> None:
        """Prepare a connection to `url`; `names` are the coins in `meta`, `pace_ms` 0 subscribes without pause."""
        self._url = url
        self._names = names
        self._clock = clock
        self._pace_ms = pace_ms
        self._next_subscription_ms = 0
        self._frames: list[Frame] = []
        self._barriers: deque[asyncio.Future[None]] = deque()
        self._connection: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._lost: str | None = None
        self.wanted: set[tuple[str, str]] = set()

    async def connect(self) -> None:
        """Open the connection. Raises SocketLostError when the venue cannot be reached or refuses the upgrade."""
        try:
            self._connection = await connect(
                self._url,
                compression=None,
                ping_interval=None,
                max_queue=None,
                proxy=None if is_loopback(self._url) else True,
            )
        except (OSError, InvalidHandshake, TimeoutError) as error:
            raise SocketLostError(f"cannot connect ({error})", request=self._url) from error
        self._reader = asyncio.create_task(self._read(self._connection))

    async def subscribe(self, coin: str, interval: str) -> None:
        """Ask for a coin's candles, paced; does nothing when they are wanted already.

        Raises UnlistedCoinError when `coin` is not in `meta` (W4), SocketLostError when the socket is gone.
        """
        if coin not in self._names:
            raise UnlistedCoinError(f"coin {coin!r} is not in meta", request=f"subscribe {coin} {interval}")
        if (coin, interval) in self.wanted:
            return
        if self._pace_ms:
            await self._clock.sleep_until(self._next_subscription_ms)
            self._next_subscription_ms = self._clock.now_ms() + self._pace_ms
        await self._send(_request("subscribe", coin, interval))
        self.wanted.add((coin, interval))

    async def unsubscribe(self, coin: str, interval: str) -> None:
        """Ask for no more of a coin's candles. Raises SocketLostError when the socket is gone."""
        if (coin, interval) in self.wanted:
            self.wanted.remove((coin, interval))
            await self._send(_request("unsubscribe", coin, interval))

    async def barrier(self, timeout_s: float = PONG_TIMEOUT_S) -> None:
        """Return once every frame that the venue sent before this call's ping arrived has been received.

        The stream is ordered, so the pong proves it. Raises SocketLostError when the socket is gone or no pong
        comes within `timeout_s`.
        """
        pong = asyncio.get_running_loop().create_future()
        self._barriers.append(pong)
        await self._send({"method": "ping"})
        try:
            async with asyncio.timeout(timeout_s):
                await pong
        except TimeoutError as error:
            self._lost = f"no pong within {timeout_s} s"
            if self._connection is not None:
                self._connection.transport.abort()
            raise SocketLostError(self._lost, request="ping") from error

    def take(self) -> list[Frame]:
        """Return the frames received since the last call, in the order in which the venue sent them."""
        frames, self._frames = self._frames, []
        return frames

    async def close(self) -> None:
        """Close the connection; frames already received can still be taken."""
        if self._connection is not None:
            await self._connection.close()
        if self._reader is not None:
            await self._reader

    async def _send(self, message: Mapping[str, Any]) -> None:
        text = orjson.dumps(message).decode()
        if self._connection is None or self._lost is not None:
            raise SocketLostError(self._lost or "not connected", request=text)
        try:
            await self._connection.send(text)
        except ConnectionClosed as error:
            raise SocketLostError(str(error), request=text) from error

    async def _read(self, connection: ClientConnection) -> None:
        try:
            while True:
                raw = await connection.recv(decode=False)
                frame = parse_frame(raw)
                if frame is not None:
                    self._frames.append(frame)
                elif self._barriers and orjson.loads(raw)["channel"] == "pong":
                    self._release(None)
        except (ConnectionClosed, KeyError, TypeError, ValueError) as error:
            self._lost = f"{type(error).__name__}: {error}"
            connection.transport.abort()
        finally:
            while self._barriers:
                self._release(SocketLostError(self._lost or "reader stopped", request="ping"))

    def _release(self, error: SocketLostError | None) -> None:
        pong = self._barriers.popleft()
        if pong.done():
            return
        if error is None:
            pong.set_result(None)
        else:
            pong.set_exception(error)


def _request(method: str, coin: str, interval: str) -> Mapping[str, Any]:
    return {
        "method": method,
        "subscription": {"type": "candle", "coin": coin, "interval": interval},
    }
