"""Hyperliquid over websocket, against the simulated venue and against true frames."""

import asyncio
import itertools
from pathlib import Path

import orjson
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError

from streams.venues.hyperliquid_socket import (
    CandleFrame,
    ErrorFrame,
    SubscriptionFrame,
    UnlistedCoinError,
    parse_frame,
)
from tests.referee.simulated.rig import FIVE_MINUTES_MS, SAMPLE, ms, rig
from tests.streams.venues.sockets import candles, open_socket

WIRE = Path(__file__).parent / "wire"


async def told(connection: ClientConnection, message: object) -> dict[str, object]:
    """Send a message on a raw connection and return the venue's next one."""
    await connection.send(orjson.dumps(message).decode())
    answer: dict[str, object] = orjson.loads(await connection.recv())
    return answer


def subscription(method: str, coin: str) -> dict[str, object]:
    """Return a request for a coin's 5-minute candles."""
    return {"method": method, "subscription": {"type": "candle", "coin": coin, "interval": "5m"}}


def test_true_frames_parse_and_other_channels_are_left_alone() -> None:
    frames = [parse_frame(line) for line in (WIRE / "ws-frames.jsonl").read_bytes().splitlines()]
    kinds = [type(frame) for frame in frames if frame is not None]
    assert kinds.count(CandleFrame) == 5
    assert kinds.count(ErrorFrame) == 2
    assert len(kinds) == 7
    first = next(frame for frame in frames if isinstance(frame, CandleFrame))
    assert (first.coin, first.interval) == ("BTC", "1m")
    assert (first.candle.open, first.candle.high, first.candle.volume, first.candle.trades) == (
        84_143.0,
        84_144.0,
        14.27847,
        114,
    )


def test_a_true_last_update_arrived_after_its_candle_had_closed() -> None:
    """Rule W1: what the closing policy must wait for."""
    line = (WIRE / "ws-candle-1m-received-ns.txt").read_bytes().splitlines()[0]
    received_ns, raw = line.split(b" ", 1)
    late_ms = int(received_ns) // 1_000_000 - orjson.loads(raw)["data"]["T"]
    assert late_ms == 157


async def test_the_simulated_acknowledgement_and_candle_look_like_true_ones() -> None:
    true = [orjson.loads(line) for line in (WIRE / "ws-frames.jsonl").read_bytes().splitlines()]
    async with rig("2025-06-05T12:03:00") as venue, connect(venue.venue.hyperliquid_socket_url) as connection:
        acknowledgement = await told(connection, subscription("subscribe", "BTC"))
        forming = orjson.loads(await connection.recv())
    assert acknowledgement == {"channel": "subscriptionResponse", "data": subscription("subscribe", "BTC")}
    assert acknowledgement.keys() == true[0].keys()
    assert list(forming["data"]) == list(true[2]["data"])
    assert [type(value) for value in forming["data"].values()] == [type(value) for value in true[2]["data"].values()]


async def test_a_subscription_brings_the_forming_candle_and_no_history() -> None:
    """Rule W1."""
    async with rig("2025-06-05T12:03:00") as venue:
        socket = await open_socket(venue, "BTC")
        frames = socket.take()
        await socket.close()
    assert [frame.candle.open_time_ms for frame in candles(frames)] == [ms("2025-06-05T12:00:00")]
    assert frames[0] == SubscriptionFrame("subscribe", "BTC", "5m")


async def test_a_forming_candle_moves_inside_its_interval_and_never_goes_back() -> None:
    """Rules W1 and W2: open first, both extremes reached, the last frame is the recorded candle."""
    async with rig("2025-06-05T12:00:00") as venue:
        socket = await open_socket(venue, "BTC", "FARTCOIN")
        await venue.venue.advance(ms("2025-06-05T13:00:00") - 1)
        await socket.barrier()
        frames = candles(socket.take())
        await socket.close()
    for coin in ("BTC", "FARTCOIN"):
        recorded = [
            row
            for row in SAMPLE.candles["hyperliquid", coin, "5m"]
            if ms("2025-06-05T12:00:00") <= row.open_time_ms < ms("2025-06-05T13:00:00")
        ]
        for row in recorded:
            states = [
                frame.candle for frame in frames if frame.coin == coin and frame.candle.open_time_ms == row.open_time_ms
            ]
            assert len(states) >= 3
            assert states[0].high == states[0].low == states[0].close == states[0].open == float(row.open)
            last = states[-1]
            assert (last.open, last.high, last.low, last.close, last.volume) == tuple(
                map(float, (row.open, row.high, row.low, row.close, row.volume))
            )
            for one, two in itertools.pairwise(states):
                assert two.trades >= one.trades
                assert two.volume >= one.volume
                assert two.high >= one.high
                assert two.low <= one.low
    assert [frame.candle.open_time_ms for frame in frames if frame.coin == "BTC"] == sorted(
        frame.candle.open_time_ms for frame in frames if frame.coin == "BTC"
    )


async def test_no_frame_carries_a_closed_flag() -> None:
    """Rule W1."""
    async with rig("2025-06-05T12:03:00") as venue, connect(venue.venue.hyperliquid_socket_url) as connection:
        await told(connection, subscription("subscribe", "BTC"))
        await connection.recv()
        await venue.venue.advance(ms("2025-06-05T12:10:00"))
        keys = {key for _ in range(4) for key in orjson.loads(await connection.recv())["data"]}
    assert keys == set("tTsiocnhlv")


async def test_an_empty_candle_brings_no_frame() -> None:
    """Rules H5 and H6: a halt looks like a quiet market."""
    async with rig("2025-06-08T09:45:00") as venue:
        socket = await open_socket(venue, "BTC", "ETH", "SOL")
        await venue.venue.advance(ms("2025-06-08T10:25:00"))
        await socket.barrier()
        assert candles(socket.take()) == []
        await venue.venue.advance(ms("2025-06-08T10:30:00"))
        await socket.barrier()
        assert candles(socket.take())[0].candle.open_time_ms == ms("2025-06-08T10:25:00")
        await socket.close()


async def test_an_earlier_candle_may_come_again_after_a_later_one() -> None:
    """Rule W2."""
    async with rig("2025-06-05T12:00:00") as venue:
        socket = await open_socket(venue, "BTC")
        await venue.venue.advance(ms("2025-06-05T12:06:00"))
        await socket.barrier()
        before = candles(socket.take())
        late = orjson.dumps(
            {
                "channel": "candle",
                "data": {
                    "t": before[0].candle.open_time_ms,
                    "T": before[0].candle.open_time_ms + FIVE_MINUTES_MS - 1,
                    "s": "BTC",
                    "i": "5m",
                    "o": "1.0",
                    "c": "1.0",
                    "h": "1.0",
                    "l": "1.0",
                    "v": "1.0",
                    "n": 1,
                },
            }
        )
        await venue.venue.sessions.send_raw("BTC", "5m", late.decode())
        await socket.barrier()
        after = candles(socket.take())
        await socket.close()
    assert before[-1].candle.open_time_ms > after[0].candle.open_time_ms == before[0].candle.open_time_ms


@pytest.mark.parametrize("coin", ["btc", "XYZ:SP500", "NOTHING"])
async def test_a_wrong_coin_kills_the_whole_socket_without_an_error(coin: str) -> None:
    """Rule W4."""
    async with rig("2025-06-05T12:03:00") as venue, connect(venue.venue.hyperliquid_socket_url) as connection:
        await told(connection, subscription("subscribe", "BTC"))
        await connection.recv()
        await connection.send(orjson.dumps(subscription("subscribe", coin)).decode())
        with pytest.raises(ConnectionClosedError) as caught:
            await connection.recv()
    assert caught.value.rcvd is None


async def test_a_wrong_coin_is_refused_before_it_is_sent() -> None:
    """Rule W4."""
    async with rig("2025-06-05T12:03:00") as venue:
        socket = await open_socket(venue, "BTC")
        with pytest.raises(UnlistedCoinError, match="'btc' is not in meta"):
            await socket.subscribe("btc", "5m")
        await socket.barrier()
        await socket.close()


async def test_a_delisted_coin_is_acknowledged_and_silent() -> None:
    """Rule W4."""
    async with rig("2025-06-05T12:00:00") as venue:
        socket = await open_socket(venue, "MATIC")
        await venue.venue.advance(ms("2025-06-05T13:00:00"))
        await socket.barrier()
        assert socket.take() == [SubscriptionFrame("subscribe", "MATIC", "5m")]
        await socket.close()


async def test_a_second_subscription_is_an_error_of_the_venue_and_is_not_sent_twice() -> None:
    """Rule W5."""
    async with rig("2025-06-05T12:00:00") as venue:
        async with connect(venue.venue.hyperliquid_socket_url) as connection:
            await told(connection, subscription("subscribe", "BTC"))
            answer = await told(connection, subscription("subscribe", "BTC"))
            assert answer == {
                "channel": "error",
                "data": 'Already subscribed: {"type":"candle","coin":"BTC","interval":"5m"}',
            }
            nonsense = await told(connection, {"method": "subscribe", "subscription": {"type": "candle"}})
            assert str(nonsense["data"]).startswith("Error parsing JSON into valid websocket request: ")
        socket = await open_socket(venue, "BTC", "BTC")
        assert socket.take() == [SubscriptionFrame("subscribe", "BTC", "5m")]
        await socket.close()


async def test_a_late_acknowledgement_of_an_end_does_not_end_a_new_subscription() -> None:
    """Rule W5."""
    async with rig("2025-06-05T12:00:00") as venue:
        socket = await open_socket(venue, "BTC")
        await socket.unsubscribe("BTC", "5m")
        await socket.subscribe("BTC", "5m")
        await socket.barrier()
        methods = [frame.method for frame in socket.take() if isinstance(frame, SubscriptionFrame)]
        assert methods == ["subscribe", "unsubscribe", "subscribe"]
        assert socket.wanted == {("BTC", "5m")}
        await venue.venue.advance(ms("2025-06-05T12:05:00"))
        await socket.barrier()
        assert candles(socket.take())
        await socket.unsubscribe("BTC", "5m")
        await venue.venue.advance(ms("2025-06-05T12:05:00"))
        await socket.barrier()
        await venue.venue.advance(ms("2025-06-05T12:20:00"))
        await socket.barrier()
        assert candles(socket.take()) == []
        await socket.close()


async def test_a_barrier_ends_behind_everything_that_was_sent_before() -> None:
    async with rig("2025-06-05T00:00:00") as venue:
        socket = await open_socket(venue, "BTC", "ETH", "SOL")
        total = 0
        for hour in range(1, 25):
            await venue.venue.advance(ms("2025-06-05") + hour * 12 * FIVE_MINUTES_MS - 1)
            await socket.barrier()
            total += len(candles(socket.take()))
        await socket.close()
    assert total == 3 * 288 * 4


async def test_frames_come_in_event_time_order_across_coins() -> None:
    async with rig("2025-06-05T00:00:00") as venue:
        one, two = await open_socket(venue, "BTC", "ETH"), await open_socket(venue, "ETH", "BTC")
        await venue.venue.advance(ms("2025-06-05T06:00:00"))
        for socket in (one, two):
            await socket.barrier()
        first, second = candles(one.take()), candles(two.take())
        for socket in (one, two):
            await socket.close()
    assert first == second
    opens = [frame.candle.open_time_ms for frame in first]
    assert opens == sorted(opens)


async def test_subscriptions_are_paced_by_the_clock() -> None:
    """Rule W7."""
    async with rig("2025-06-05T12:00:00") as venue:
        socket = venue.socket(pace_ms=500)
        await socket.connect()
        await socket.subscribe("BTC", "5m")
        second = asyncio.create_task(socket.subscribe("ETH", "5m"))
        await socket.barrier()
        assert socket.wanted == {("BTC", "5m")}
        await venue.clock.advance(venue.clock.now_ms() + 500)
        await second
        assert socket.wanted == {("BTC", "5m"), ("ETH", "5m")}
        await socket.close()
