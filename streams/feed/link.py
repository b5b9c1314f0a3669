"""The feed's one connection: kept, read to a barrier, and made anew when it is lost."""

from collections.abc import Callable, Sequence

import structlog

from streams.venues.hyperliquid_socket import Frame, HyperliquidSocket, SocketLostError

FIRST_RETRY_MS = 1_000
LONGEST_RETRY_MS = 60_000
"""The venue allows 30 new connections a minute (W7)."""

log = structlog.get_logger(__name__)


class SocketLink:
    """A socket with all its subscriptions, replaced at a receive after it was lost."""

    def __init__(
        self, open_socket: Callable[[frozenset[str]], HyperliquidSocket], keys: Sequence[tuple[str, str]]
    ) -> None:
        """Prepare a link that subscribes to `keys`, (coin, interval) each."""
        self._open_socket = open_socket
        self._keys = keys
        self._socket: HyperliquidSocket | None = None
        self._retry_ms = FIRST_RETRY_MS
        self._open_at_ms = 0
        self.names: frozenset[str] = frozenset()

    async def open(self, now_ms: int) -> None:
        """Connect and subscribe to everything.

        Raises SocketLostError when that fails, which also puts the next attempt off, twice as long each time.
        """
        socket = self._open_socket(self.names)
        try:
            await socket.connect()
            for coin, interval in self._keys:
                await socket.subscribe(coin, interval)
        except SocketLostError:
            self._open_at_ms = now_ms + self._retry_ms
            self._retry_ms = min(2 * self._retry_ms, LONGEST_RETRY_MS)
            await socket.close()
            raise
        self._socket = socket
        self._retry_ms = FIRST_RETRY_MS

    async def receive(self, now_ms: int) -> tuple[list[Frame], bool]:
        """Return all frames that the venue has sent so far, and whether the connection had no gap since last time.

        After a gap there are no frames: every candle that opened before it is to be had by HTTP (W7).
        """
        if self._socket is not None:
            try:
                await self._socket.barrier()
                return self._socket.take(), True
            except SocketLostError as error:
                log.warning("socket_lost", error=str(error))
                await self.close()
        if now_ms >= self._open_at_ms:
            try:
                await self.open(now_ms)
            except SocketLostError as error:
                log.warning("socket_not_opened", error=str(error))
        return [], False

    async def close(self) -> None:
        """Close the socket, if there is one."""
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()
