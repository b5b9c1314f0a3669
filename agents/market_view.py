"""What the volatility agent remembers of one coin: its closed candles, how complete they are, and the rolling σ."""

from bisect import bisect_left, bisect_right, insort

import orjson

from rules.floor.constants import VOLATILITY_RETURNS
from rules.floor.prices import price_at_posting
from rules.floor.volatility import RollingVolatility, squared_returns, volatility
from rules.market import DAY_MS, HOUR_MS, Candle
from streams.delivery.state import PartitionState
from topics.market import INTERVAL_MS, Complete, Interval
from topics.market import Candle as CandleMessage

KEEP_5M_MS = 2 * HOUR_MS
KEEP_1H_MS = 32 * DAY_MS
ROLLING = "rolling"


class CoinView:
    """Closed candles of one coin as far as posts that may still come need them, kept one key a candle."""

    def __init__(self, state: PartitionState, coin: str) -> None:
        """Rebuild the view from the state."""
        self._state = state
        self._prefix = f"candles/{coin.lower()}/"
        self.coin = coin
        self.through: dict[str, int] = {}
        self.candles: dict[str, list[Candle]] = {"5m": [], "1h": []}
        sums: dict[str, float] | None = None
        for key, raw in state.items(self._prefix):
            interval, _, _ = key.partition("/")
            if interval == ROLLING:
                sums = orjson.loads(raw)
            elif interval == "through":
                complete = Complete.decode(raw)
                self.through[complete.interval] = complete.through
                self.coin = complete.coin
            else:
                message = CandleMessage.decode(raw)
                self.candles[interval].append(candle_of(message))
                self.coin = message.coin
        self.rolling = rolled(self.candles["1h"]) if sums is None else resumed(self.candles["1h"], **sums)

    def add(self, message: CandleMessage) -> bool:
        """Take a closed candle in and tell whether it is new; a correction of a known one replaces it."""
        candles = self.candles[message.interval]
        candle = candle_of(message)
        position = bisect_left(candles, candle.open_time_ms, key=_open_time)
        known = candles[position] if position < len(candles) else None
        if known is not None and known.open_time_ms == candle.open_time_ms:
            if known == candle:
                return False
            candles[position] = candle
        else:
            insort(candles, candle, key=_open_time)
        self._state.put(self._key(message.interval, message.open_time), message.encode())
        if message.interval == "1h":
            in_order = known is None and position == len(candles) - 1
            self.rolling = self.rolling.add(candle) if in_order else rolled(candles)
            sums = {"weighted_sum": self.rolling.weighted_sum, "error": self.rolling.error}
            self._state.put(self._prefix + ROLLING, orjson.dumps(sums))
        return True

    def complete(self, message: Complete) -> None:
        """Note how far the coin's candles are complete."""
        if message.through > self.through.get(message.interval, -1):
            self.through[message.interval] = message.through
            self._state.put(f"{self._prefix}through/{message.interval}", message.encode())

    def knows(self, time_ms: int) -> bool:
        """Tell whether every candle that closed at or before a time has been seen, of both intervals."""
        return all(
            self.through.get(interval, -1) >= time_ms - time_ms % step_ms for interval, step_ms in INTERVAL_MS.items()
        )

    def forget_before(self, time_ms: int) -> None:
        """Drop the candles that neither a post at or after a time nor the rolling σ can need."""
        for interval, keep_ms in (("5m", KEEP_5M_MS), ("1h", KEEP_1H_MS)):
            candles = self.candles[interval]
            cut = bisect_left(candles, time_ms - keep_ms, key=_open_time)
            if cut and interval == "1h":
                cut = min(cut, first_needed(candles, time_ms))
            for candle in candles[:cut]:
                self._state.delete(self._key(interval, candle.open_time_ms))
            del candles[:cut]

    def price_at(self, time_ms: int) -> float | None:
        """Return S at a time (Rule F4)."""
        return price_at_posting(self.candles["5m"], time_ms)

    def sigma_at(self, time_ms: int) -> float | None:
        """Return σ per √hour at a time as the plain sum, which is the one that is sealed (Rule F6)."""
        return volatility(self.candles["1h"], time_ms)

    def _key(self, interval: str | Interval, open_time_ms: int) -> str:
        return f"{self._prefix}{interval}/{open_time_ms:015d}"


def candle_of(message: CandleMessage) -> Candle:
    """Return the rulebook's candle of a message."""
    return Candle(message.open_time, message.open, message.high, message.low, message.close, message.volume)


def rolled(candles_1h: list[Candle]) -> RollingVolatility:
    """Return the rolling σ over hourly candles in ascending order (Rule F6)."""
    rolling = RollingVolatility()
    for candle in candles_1h:
        rolling = rolling.add(candle)
    return rolling


def resumed(candles_1h: list[Candle], weighted_sum: float, error: float) -> RollingVolatility:
    """Return the rolling σ as it stood: taken anew, its last digits would depend on when the state was restored."""
    newest = next((candle for candle in reversed(candles_1h) if candle.volume > 0), None)
    if newest is None:
        return RollingVolatility()
    squares = squared_returns(candles_1h, newest.open_time_ms + HOUR_MS)
    return RollingVolatility(newest.open_time_ms, newest.close, tuple(reversed(squares)), weighted_sum, error)


def first_needed(candles_1h: list[Candle], time_ms: int) -> int:
    """Return the position of the oldest hourly candle that σ at or after a time needs, over any gap (Rule F6)."""
    newest = _print_before(candles_1h, bisect_right(candles_1h, time_ms - HOUR_MS, key=_open_time))
    if newest is None:
        return 0
    oldest_ms = candles_1h[newest].open_time_ms - VOLATILITY_RETURNS * HOUR_MS
    return _print_before(candles_1h, bisect_right(candles_1h, oldest_ms, key=_open_time)) or 0


def _print_before(candles: list[Candle], end: int) -> int | None:
    return next((position for position in reversed(range(end)) if candles[position].volume > 0), None)


def _open_time(candle: Candle) -> int:
    return candle.open_time_ms
