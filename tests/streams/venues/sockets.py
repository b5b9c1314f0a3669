"""Connected sockets and their candle frames, for tests."""

from streams.venues.hyperliquid_socket import CandleFrame, Frame, HyperliquidSocket
from tests.referee.simulated.rig import Rig


def candles(frames: list[Frame]) -> list[CandleFrame]:
    """Return the candle frames among `frames`."""
    return [frame for frame in frames if isinstance(frame, CandleFrame)]


async def open_socket(venue: Rig, *coins: str) -> HyperliquidSocket:
    """Return a connected socket that hears the 5-minute candles of `coins`."""
    socket = venue.socket()
    await socket.connect()
    for coin in coins:
        await socket.subscribe(coin, "5m")
    await socket.barrier()
    return socket
