"""The simulated venue as a server: Hyperliquid's and Bybit's wire on one loopback port, under one stepped clock."""

from collections import deque
from types import TracebackType
from typing import Self

from aiohttp import web

from referee.simulated.bybit_wire import BybitWire
from referee.simulated.hyperliquid_wire import HyperliquidWire
from referee.simulated.sample import Sample, load_sample
from referee.simulated.sessions import Sessions
from streams.clock import SteppedClock

EMPTY_CANDLE_LAG_MS = 2_000
"""How long after its close an empty candle shows up by HTTP (H5)."""


class SimulatedVenue:
    """Recorded days behind real sockets; every answer depends on the clock and the sample only.

    Hyperliquid speaks at `hyperliquid_url` (`/info`) and `hyperliquid_socket_url`, Bybit at `bybit_url`
    (`/v5/market/kline`). `async with` starts and stops it.
    """

    def __init__(
        self,
        clock: SteppedClock,
        sample: Sample | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        empty_candle_lag_ms: int = EMPTY_CANDLE_LAG_MS,
    ) -> None:
        """Prepare a venue on `port` (0: any free one) with `sample`, the shipped one unless told otherwise."""
        sample = sample or load_sample()
        self.clock = clock
        self._host = host
        self._port = port
        self.hyperliquid = HyperliquidWire(sample, empty_lag_ms=empty_candle_lag_ms)
        self.bybit = BybitWire(sample)
        self.sessions = Sessions(self.hyperliquid, clock.now_ms())
        self._refusals: deque[tuple[int, bytes]] = deque()
        self._runner: web.AppRunner | None = None

    @property
    def hyperliquid_url(self) -> str:
        """Return the base URL for `HyperliquidHttp`."""
        return f"http://{self._host}:{self._port}/hyperliquid"

    @property
    def hyperliquid_socket_url(self) -> str:
        """Return the URL for `HyperliquidSocket`."""
        return f"ws://{self._host}:{self._port}/hyperliquid/ws"

    @property
    def bybit_url(self) -> str:
        """Return the base URL for `BybitHttp`."""
        return f"http://{self._host}:{self._port}/bybit"

    async def start(self) -> None:
        """Listen. Raises OSError when the port is taken."""
        app = web.Application()
        app.router.add_post("/hyperliquid/info", self._info)
        app.router.add_get("/hyperliquid/ws", self.sessions.serve)
        app.router.add_get("/bybit/v5/market/kline", self._kline)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port).start()
        self._port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Close every socket and stop listening."""
        if self._runner is not None:
            await self.sessions.close()
            await self._runner.cleanup()

    async def advance(self, to_ms: int) -> None:
        """Move the clock to `to_ms` and hand every socket what happened since the last call.

        Returns when all frames of (previous, to_ms] are handed over, in event-time order; a client that pings
        afterwards has them all before its pong. Raises ValueError when `to_ms` is in the past.
        """
        await self.clock.advance(to_ms)
        await self.sessions.show(to_ms)

    def refuse_next(self, status: int, body: bytes = b"") -> None:
        """Answer the next HTTP request with `status` and `body` instead, as a venue in trouble does (H4)."""
        self._refusals.append((status, body))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _info(self, request: web.Request) -> web.Response:
        if self._refusals:
            return self._refusal()
        status, body = self.hyperliquid.info(await request.read(), self.clock.now_ms())
        kind = "text/plain" if status == 422 else "application/json"
        return web.Response(status=status, body=body, content_type=kind)

    async def _kline(self, request: web.Request) -> web.Response:
        if self._refusals:
            return self._refusal()
        body = self.bybit.kline(request.query, self.clock.now_ms())
        return web.Response(body=body, content_type="application/json")

    def _refusal(self) -> web.Response:
        status, body = self._refusals.popleft()
        return web.Response(status=status, body=body)
