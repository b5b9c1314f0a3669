"""How a lost Hyperliquid socket shows: cut, half-open, or never there."""

import asyncio
from contextlib import suppress

import pytest
from websockets.http11 import Request
from websockets.server import ServerProtocol

from streams.clock import SteppedClock
from streams.venues.hyperliquid_socket import HyperliquidSocket, SocketLostError
from tests.referee.simulated.rig import ms, rig
from tests.streams.venues.sockets import candles, open_socket


async def test_a_lost_socket_says_so_and_gives_what_it_had() -> None:
    """Rule W3: no close frame."""
    async with rig("2025-06-05T12:00:00") as venue:
        socket = await open_socket(venue, "BTC")
        await venue.venue.advance(ms("2025-06-05T12:05:00") - 1)
        await socket.barrier()
        venue.venue.sessions.drop()
        with pytest.raises(SocketLostError):
            await socket.barrier()
        assert len(candles(socket.take())) == 4
        with pytest.raises(SocketLostError):
            await socket.subscribe("ETH", "5m")
        await socket.close()


async def test_a_socket_that_answers_no_ping_is_lost() -> None:
    """Rule W6: half-open."""
    gone = asyncio.Event()

    async def upgrade_and_fall_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        protocol = ServerProtocol()
        while not (events := protocol.events_received()):
            protocol.receive_data(await reader.read(4_096))
        request = events[0]
        assert isinstance(request, Request)
        protocol.send_response(protocol.accept(request))
        writer.writelines(protocol.data_to_send())
        with suppress(ConnectionResetError):
            await reader.read()
        writer.close()
        gone.set()

    server = await asyncio.start_server(upgrade_and_fall_silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    socket = HyperliquidSocket(f"ws://127.0.0.1:{port}", frozenset({"BTC"}), SteppedClock(0))
    await socket.connect()
    with pytest.raises(SocketLostError, match=r"no pong within 0\.05 s"):
        await socket.barrier(timeout_s=0.05)
    await socket.close()
    await gone.wait()
    server.close()
    await server.wait_closed()


async def test_a_venue_that_is_not_there_is_a_lost_socket() -> None:
    async with rig("2025-06-05T12:00:00") as venue:
        url = venue.venue.hyperliquid_socket_url
    socket = HyperliquidSocket(url, frozenset({"BTC"}), SteppedClock(0))
    with pytest.raises(SocketLostError, match="cannot connect"):
        await socket.connect()
    await socket.close()
    refused = HyperliquidSocket(f"{url}/nowhere", frozenset({"BTC"}), SteppedClock(0))
    with pytest.raises(SocketLostError):
        await refused.barrier()
