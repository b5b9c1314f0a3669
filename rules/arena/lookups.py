"""Price look-ups on one candle grid: the open at a time, and the index that carries funding."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TypeVar

from rules.arena.numbers import HOUR_S
from rules.arena.transcendentals import exp
from rules.arena.types import Candle, Funding, Interval, Market

_Row = TypeVar("_Row", Candle, Funding)


class CoinSeries:
    """One coin's visible candles and its loaded funding, both in ascending time."""

    __slots__ = ("_candles", "_funding_sums", "_funding_times", "_indexes", "_step_s", "_times")

    def __init__(self, candles: Sequence[Candle], funding: Sequence[Funding], step_s: int) -> None:
        self._candles = candles
        self._times = [row[0] for row in candles]
        self._funding_times = [row[0] for row in funding]
        # a running sum from 0 is the left-to-right sum of Rule A1 at every prefix
        self._funding_sums = list(accumulate((row[1] for row in funding), initial=0.0))
        self._step_s = step_s
        self._indexes: dict[int, float] = {}

    def find(self, time_s: int) -> Candle | None:
        """Return the first candle at or after a time and less than one step away (Rule A1, find)."""
        place = bisect_left(self._times, time_s)
        if place == len(self._times) or self._times[place] - time_s >= self._step_s:
            return None
        return self._candles[place]

    def index_of(self, candle: Candle) -> float:
        """Return a candle's open times exp(-F), F the funding paid up to its open (Rule A1, index)."""
        known = self._indexes.get(candle[0])
        if known is None:
            paid = self._funding_sums[bisect_right(self._funding_times, candle[0])]
            known = self._indexes[candle[0]] = candle[1] * exp(-paid)
        return known


class PriceBook:
    """The look-ups of Rule A1 over some coins on one grid."""

    __slots__ = ("_series", "interval")

    def __init__(self, interval: Interval, series: dict[str, CoinSeries]) -> None:
        self.interval = interval
        self._series = series

    def find(self, coin: str, time_s: int) -> Candle | None:
        """Return the candle that prices a coin at a time, None when there is none (Rule A1, find)."""
        series = self._series.get(coin)
        return None if series is None else series.find(time_s)

    def price(self, coin: str, time_s: int) -> float | None:
        """Return the open that prices a coin at a time (Rule A1, price)."""
        candle = self.find(coin, time_s)
        return None if candle is None else candle.open

    def index(self, coin: str, time_s: int) -> float | None:
        """Return the coin's index at a time (Rule A1, index)."""
        series = self._series.get(coin)
        if series is None:
            return None
        candle = series.find(time_s)
        return None if candle is None else series.index_of(candle)

    def move(self, coin: str, from_s: int, to_s: int) -> float | None:
        """Return the index's relative change between two times, None without both (Rule A1, move)."""
        start = self.index(coin, from_s)
        if start is None or start <= 0:
            return None
        end = self.index(coin, to_s)
        if end is None or end <= 0:
            return None
        return end / start - 1


def build_book(
    market: Market,
    interval: Interval,
    coins: Iterable[str],
    from_s: int,
    to_s: int,
    as_of_s: int,
    fold_funding: bool = True,
) -> PriceBook:
    """Cut the market to what a load takes and what is visible, and index it (Rules A1, A2).

    Candles with from_s <= t <= min(to_s, as_of_s) are kept, and funding with from_s - 3600 <= t <= to_s.
    Rows must ascend in time. A coin without rows has no price.
    """
    last_s = min(to_s, as_of_s)
    series: dict[str, CoinSeries] = {}
    for coin in coins:
        rows = market.get(coin)
        if rows is None or coin in series:
            continue
        candles = _between(rows.candles(interval), from_s, last_s)
        funding = _between(rows.funding, from_s - HOUR_S, to_s) if fold_funding else ()
        series[coin] = CoinSeries(candles, funding, interval.step_s)
    return PriceBook(interval, series)


def _between(rows: Sequence[_Row], from_s: int, to_s: int) -> Sequence[_Row]:
    start = bisect_left(rows, from_s, key=lambda row: row[0])
    return rows[start : bisect_right(rows, to_s, lo=start, key=lambda row: row[0])]
