"""Measures what a candle costs with 100, 10 000 and 1 000 000 open levels; run `python -m tests.bench.bench_levels`."""

import random
import statistics
import time

from agents import levels
from streams.delivery.outbox import Outbox
from streams.delivery.reducer import Reducer
from streams.delivery.state import PartitionState
from tests.agents.records import RecordMaker
from topics.floor import OpenLevel
from topics.market import Candle
from topics.registry import CANDLES, LEVELS

SIZES = (100, 10_000, 1_000_000)
CANDLES_MEASURED = 2_000
TOUCHING_CANDLES = 10
TOUCHES_A_CANDLE = 5
T0 = 1_749_340_800_000
FIVE_MINUTES_MS = 300_000
PRICE = 100_000.0
STEP = 0.01

record = RecordMaker()


def open_levels(size: int) -> Reducer:
    """Return a reducer with `size` open levels of one coin, half on each side, each a step beyond the last."""
    reducer = levels.spec().reducer(PartitionState(0, {}))
    order = list(range(size))
    random.Random(7).shuffle(order)
    out = Outbox()
    for number in order:
        away = (1 + number // 2) * STEP
        level = OpenLevel(
            call=f"call-{number}",
            coin="BTC",
            level=PRICE + away if number % 2 else PRICE - away,
            side="up" if number % 2 else "down",
            posted_at=T0 - number % 1_000,
            deadline=T0 + 20 * 86_400_000,
        )
        reducer.apply(record(LEVELS, "btc", level, level.posted_at), out)
    return reducer


def cost_us(reducer: Reducer, first: int, highs: list[float]) -> tuple[float, int]:
    """Return the median cost in µs of a candle, decoding included, and the number of touches in all."""
    out = Outbox()
    costs = []
    for number, high in enumerate(highs, first):
        candle = Candle(
            venue="hyperliquid",
            coin="BTC",
            interval="5m",
            open_time=T0 + number * FIVE_MINUTES_MS,
            open=PRICE,
            high=high,
            low=PRICE,
            close=PRICE,
            volume=1.0,
            trades=1,
            closed=True,
        )
        arrived = record(CANDLES, "btc", candle, candle.close_time)
        started = time.perf_counter()
        reducer.apply(arrived, out)
        costs.append((time.perf_counter() - started) * 1e6)
    return statistics.median(costs), len(out.outputs)


def main() -> None:
    """Print the costs and their ratios to the smallest size."""
    quiet_of: dict[int, float] = {}
    touching_of: dict[int, float] = {}
    for size in SIZES:
        started = time.perf_counter()
        reducer = open_levels(size)
        opened_s = time.perf_counter() - started
        cost_us(reducer, 0, [PRICE])
        quiet_of[size], none = cost_us(reducer, 1, [PRICE] * CANDLES_MEASURED)
        rising = [PRICE + STEP * (TOUCHES_A_CANDLE * step + 0.5) for step in range(1, TOUCHING_CANDLES + 1)]
        touching_of[size], some = cost_us(reducer, 1 + CANDLES_MEASURED, rising)
        if (none, some) != (0, TOUCHING_CANDLES * TOUCHES_A_CANDLE):
            raise AssertionError(f"{size} levels: {none} and {some} touches")
        print(
            f"{size:>9} open levels (opened in {opened_s:6.2f} s): quiet candle {quiet_of[size]:7.1f} µs"
            f" ({quiet_of[size] / quiet_of[SIZES[0]]:4.2f}x), candle with {TOUCHES_A_CANDLE} touches"
            f" {touching_of[size]:7.1f} µs ({touching_of[size] / touching_of[SIZES[0]]:4.2f}x)"
        )


if __name__ == "__main__":
    main()
