"""The recorded rows as the Arena's rules take them, and which of them count as of a moment."""

from dataclasses import dataclass

from rules.arena.types import Candle, CoinRows, Funding
from rules.market import Candle as RecordedCandle
from tests.demo.recorded import Recorded

HOUR_S, STEP_S = 3_600, 300
ASKED_AFTER_S = 120


@dataclass
class Market:
    """All recorded rows of a coin as the rules take them, each with the second from which it counts.

    The venue is asked two minutes after a moment. It shows a candle without trades when that is over, and funding when
    it has been paid, which after a halt is late.
    """

    hourly: list[tuple[int, Candle]]
    fine: list[tuple[int, Candle]]
    funding: list[tuple[int, Funding]]

    def as_of(self, as_of_s: int) -> CoinRows:
        """Return the rows that count as of a moment."""
        return CoinRows(
            hourly=[row for from_s, row in self.hourly if from_s <= as_of_s],
            fine=[row for from_s, row in self.fine if from_s <= as_of_s],
            funding=[row for from_s, row in self.funding if from_s <= as_of_s],
        )


def market_of(recorded: Recorded) -> dict[str, Market]:
    """Return every coin's rows."""

    def candles(series: list[RecordedCandle], step_s: int) -> list[tuple[int, Candle]]:
        rows = [Candle(one.open_time_ms // 1_000, one.open, one.high, one.low, one.close) for one in series]
        empty = [one.volume == 0 for one in series]
        return [(row.time_s + step_s * late, row) for row, late in zip(rows, empty, strict=True)]

    def funding(series: list[tuple[int, float]]) -> list[tuple[int, Funding]]:
        return [
            (-(-time_ms // 1_000) - ASKED_AFTER_S, Funding(round(time_ms / 3_600_000) * HOUR_S, rate))
            for time_ms, rate in series
        ]

    return {
        coin: Market(candles(recorded.hourly[coin], HOUR_S), candles(fine, STEP_S), funding(recorded.funding[coin]))
        for coin, fine in recorded.fine.items()
    }
