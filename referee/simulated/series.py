"""One recorded candle series: its states inside each interval, and the window that is visible at a time."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from functools import lru_cache
from zlib import crc32

from referee.simulated.sample import RecordedCandle


@dataclass(frozen=True, slots=True)
class CandleState:
    """A candle as it stands from `at_ms` on: texts as recorded, partial until the last state."""

    at_ms: int
    open_time_ms: int
    open: str
    high: str
    low: str
    close: str
    volume: str
    trades: int


def states_of(candle: RecordedCandle, salt: int, interval_ms: int) -> tuple[CandleState, ...]:
    """Return the four states that a candle passes through inside its interval, none when nothing was traded.

    The first has the open only, the next two reach low and high (low first when it closed up), the last is the
    recorded candle. Times, partial volumes and the number of trades, which are not recorded, are functions of
    the candle and `salt`. Volume and trades never fall (W2).
    """
    if candle.empty:
        return ()
    mix = _mix(candle, salt)
    trades = _trades(mix)
    rising = float(candle.close) >= float(candle.open)
    first_turn, second_turn = (candle.low, candle.high) if rising else (candle.high, candle.low)
    opened, volume = candle.open, Decimal(candle.volume)
    start, end = candle.open_time_ms, candle.open_time_ms + interval_ms

    def state(at_ms: int, high: str, low: str, close: str, quarters: int) -> CandleState:
        part = candle.volume if quarters == 4 else _share(volume, quarters)
        return CandleState(at_ms, start, opened, high, low, close, part, max(1, trades * quarters // 4))

    high, low = (opened, candle.low) if rising else (candle.high, opened)
    return (
        state(start + 100 + mix % 1_400, opened, opened, opened, 1),
        state(start + interval_ms * (25 + mix % 20) // 100, high, low, first_turn, 2),
        state(start + interval_ms * (55 + mix % 20) // 100, candle.high, candle.low, second_turn, 3),
        state(end - 100 - mix % 4_900, candle.high, candle.low, candle.close, 4),
    )


def _mix(candle: RecordedCandle, salt: int) -> int:
    return (candle.open_time_ms // 60_000 * 2_654_435_761 ^ salt) & 0xFFFF_FFFF


def _trades(mix: int) -> int:
    return 4 + mix % 200


def _share(volume: Decimal, quarters: int) -> str:
    unit = Decimal((0, (1,), int(volume.as_tuple().exponent)))
    return format(max(unit, (volume * quarters / 4).quantize(unit, ROUND_DOWN)), "f")


class CandleSeries:
    """A coin's recorded candles of one interval on one venue, each encoded for its wire at most once."""

    def __init__(
        self,
        name: str,
        interval_ms: int,
        candles: tuple[RecordedCandle, ...],
        encode: Callable[[CandleState], bytes],
        *,
        empty_lag_ms: int | None,
    ) -> None:
        """Take `candles`, ascending, and how the wire writes one.

        `empty_lag_ms` is how long after its close an empty candle shows up (H5); None shows it from its open on.
        """
        self.interval_ms = interval_ms
        self.candles = candles
        self._salt = crc32(f"{name} {interval_ms}".encode())
        self._encode = encode
        self._empty_lag_ms = empty_lag_ms
        self._opens = [candle.open_time_ms for candle in candles]
        self._encoded: list[bytes | None] = [None] * len(candles)
        self.states = lru_cache(maxsize=64)(self._states)

    def window(self, start_ms: int, end_ms: int, now_ms: int, limit: int) -> list[bytes]:
        """Return the newest `limit` encoded candles that overlap [start_ms, end_ms] and are visible at `now_ms`.

        The newest empty candles may be absent for `empty_lag_ms`; the next trade fills them in at once (H5).
        """
        low = bisect_right(self._opens, start_ms - self.interval_ms)
        closed = bisect_right(self._opens, now_ms - self.interval_ms)
        forming = self.forming(now_ms)
        if forming is None:
            while closed > 0 and not self._shows(self.candles[closed - 1], now_ms):
                closed -= 1
        high = min(bisect_right(self._opens, end_ms), closed)
        rows = [self._encoded[index] or self._encode_closed(index) for index in range(max(low, high - limit), high)]
        if forming is not None and start_ms - self.interval_ms < forming.open_time_ms <= end_ms:
            rows.append(self._encode(forming))
        return rows[-limit:]

    def forming(self, now_ms: int) -> CandleState | None:
        """Return the state at `now_ms` of the candle whose interval contains it, None before its first trade."""
        index = bisect_right(self._opens, now_ms) - 1
        if index < 0 or now_ms >= self._opens[index] + self.interval_ms:
            return None
        candle = self.candles[index]
        if candle.empty:
            return self._final(candle) if self._empty_lag_ms is None else None
        reached = [state for state in self.states(index) if state.at_ms <= now_ms]
        return reached[-1] if reached else None

    def between(self, after_ms: int, to_ms: int) -> Iterator[CandleState]:
        """Yield the states reached in (after_ms, to_ms], in time order."""
        for index in range(bisect_right(self._opens, after_ms - self.interval_ms), bisect_right(self._opens, to_ms)):
            for state in self.states(index):
                if after_ms < state.at_ms <= to_ms:
                    yield state

    def closed_between(self, start_ms: int, end_ms: int) -> tuple[RecordedCandle, ...]:
        """Return the candles that open at or after `start_ms` and close at or before `end_ms`."""
        low, high = bisect_left(self._opens, start_ms), bisect_right(self._opens, end_ms - self.interval_ms)
        return self.candles[low:high]

    def _encode_closed(self, index: int) -> bytes:
        encoded = self._encoded[index] = self._encode(self._final(self.candles[index]))
        return encoded

    def _states(self, index: int) -> tuple[CandleState, ...]:
        return states_of(self.candles[index], self._salt, self.interval_ms)

    def _final(self, candle: RecordedCandle) -> CandleState:
        trades = 0 if candle.empty else _trades(_mix(candle, self._salt))
        start, prices = candle.open_time_ms, (candle.open, candle.high, candle.low, candle.close)
        return CandleState(start + self.interval_ms, start, *prices, candle.volume, trades)

    def _shows(self, candle: RecordedCandle, now_ms: int) -> bool:
        if not candle.empty or self._empty_lag_ms is None:
            return True
        return now_ms >= candle.open_time_ms + self.interval_ms + self._empty_lag_ms
