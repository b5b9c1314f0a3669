"""The simulated venue's websocket sessions: who hears which candles, and in what order."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import WSMsgType, web

from referee.simulated.hyperliquid_wire import HyperliquidWire
from streams.venues.base import INTERVAL_MS

PONG = '{"channel":"pong"}'


@dataclass(eq=False, slots=True)
class Session:
    """One connected socket and its subscriptions, (coin, interval) → the subscription as the client wrote it."""

    request: web.Request
    socket: web.WebSocketResponse
    subscriptions: dict[tuple[str, str], Any] = field(default_factory=dict)


class Sessions:
    """All connected sockets; frames up to `shown_ms` have been handed to them."""

    def __init__(self, wire: HyperliquidWire, shown_ms: int) -> None:
        self._wire = wire
        self._sessions: dict[Session, None] = {}
        self.shown_ms = shown_ms

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Speak with one client until it goes, or until it names a coin that does not exist (W4)."""
        socket = web.WebSocketResponse(compress=False, autoping=True)
        await socket.prepare(request)
        session = Session(request, socket)
        self._sessions[session] = None
        try:
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    continue
                if not await self._answer(session, message.data):
                    _kill(request)
                    break
        except ConnectionResetError:
            return socket
        finally:
            self._sessions.pop(session, None)
        return socket

    async def show(self, to_ms: int) -> None:
        """Hand every socket the frames of (shown_ms, to_ms], in event-time order.

        Who hears what is fixed before the first send, so a subscription made meanwhile starts behind the step.
        """
        after_ms, self.shown_ms = self.shown_ms, to_ms
        wanted = {key for session in self._sessions for key in session.subscriptions}
        frames = []
        for rank, key in enumerate(sorted(wanted & self._wire.series.keys())):
            encode = self._wire.encode[key]
            frames += [
                (state.at_ms, rank, key, candle_message(encode(state)))
                for state in self._wire.series[key].between(after_ms, to_ms)
            ]
        frames.sort(key=lambda frame: frame[:2])
        plans = [
            (session, [text for _, _, key, text in frames if key in session.subscriptions])
            for session in self._sessions
        ]
        for session, texts in plans:
            await _send(session, texts)

    async def send_raw(self, coin: str, interval: str, text: str) -> None:
        """Send `text` as it is to every socket that hears the coin's candles, for faults such as a late frame."""
        for session in list(self._sessions):
            if (coin, interval) in session.subscriptions:
                await _send(session, [text])

    async def close(self) -> None:
        """Close every socket in good order."""
        for session in list(self._sessions):
            await session.socket.close()

    def drop(self) -> None:
        """Cut every connection without a close frame, as the venue does (W3, W6)."""
        for session in list(self._sessions):
            _kill(session.request)

    async def _answer(self, session: Session, text: str) -> bool:
        """Answer one message; False means that the venue kills the socket."""
        try:
            message = orjson.loads(text)
            method = message["method"]
            if method == "ping":
                await session.socket.send_str(PONG)
                return True
            subscription = message["subscription"]
            key = str(subscription["coin"]), str(subscription["interval"])
            known = method in ("subscribe", "unsubscribe") and subscription["type"] == "candle"
        except (KeyError, TypeError, ValueError):
            known = False
        if not known or key[1] not in INTERVAL_MS:
            refusal = f"Error parsing JSON into valid websocket request: {text}"
            await session.socket.send_str(_message("error", refusal))
            return True
        if key[0] not in self._wire.coins:
            return False
        if method == "unsubscribe":
            await self._unsubscribe(session, key, subscription)
        else:
            await self._subscribe(session, key, subscription)
        return True

    async def _subscribe(self, session: Session, key: tuple[str, str], subscription: Any) -> None:
        quoted = orjson.dumps(subscription).decode()
        if key in session.subscriptions:
            await session.socket.send_str(_message("error", f"Already subscribed: {quoted}"))
            return
        session.subscriptions[key] = subscription
        texts = [_acknowledgement("subscribe", subscription)]
        series = self._wire.series.get(key)
        forming = series.forming(self.shown_ms) if series is not None else None
        if forming is not None:
            texts.append(candle_message(self._wire.encode[key](forming)))
        await _send(session, texts)

    async def _unsubscribe(self, session: Session, key: tuple[str, str], subscription: Any) -> None:
        if session.subscriptions.pop(key, None) is None:
            quoted = orjson.dumps(subscription).decode()
            await session.socket.send_str(_message("error", f"Already unsubscribed: {quoted}"))
            return
        await session.socket.send_str(_acknowledgement("unsubscribe", subscription))


def candle_message(candle: bytes) -> str:
    """Return the `candle` channel's message around an encoded candle."""
    return f'{{"channel":"candle","data":{candle.decode()}}}'


def _message(channel: str, data: Any) -> str:
    return orjson.dumps({"channel": channel, "data": data}).decode()


def _acknowledgement(method: str, subscription: Any) -> str:
    return _message("subscriptionResponse", {"method": method, "subscription": subscription})


async def _send(session: Session, texts: Iterable[str]) -> None:
    with suppress(ConnectionResetError):
        for text in texts:
            await session.socket.send_str(text)


def _kill(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
