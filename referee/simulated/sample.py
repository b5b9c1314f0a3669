"""The recorded sample as plain data: candles and funding rows with their texts as recorded."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SAMPLE_DIRECTORY = Path(__file__).parent / "sample"
"""Where the shipped sample lies: `VENUE-INTERVAL-COIN.csv.gz`, `hyperliquid-funding-COIN.csv.gz`, `universe.json`."""

HYPERLIQUID = "hyperliquid"
BYBIT = "bybit"


@dataclass(frozen=True, slots=True)
class RecordedCandle:
    """One recorded candle: open time in ms, prices and volume as decimal text."""

    open_time_ms: int
    open: str
    high: str
    low: str
    close: str
    volume: str

    @property
    def empty(self) -> bool:
        """Tell whether nothing was traded in it (H5)."""
        return float(self.volume) == 0


@dataclass(frozen=True, slots=True)
class RecordedFunding:
    """One settled funding row: the time that the venue stamped, in ms, and the rate as text."""

    time_ms: int
    rate: str


@dataclass(frozen=True, slots=True)
class Sample:
    """All recorded rows: candles by (venue, coin, interval), funding by coin, and the rows of `meta`'s universe."""

    candles: Mapping[tuple[str, str, str], tuple[RecordedCandle, ...]]
    funding: Mapping[str, tuple[RecordedFunding, ...]]
    universe: tuple[Mapping[str, Any], ...]


def load_sample(directory: Path = SAMPLE_DIRECTORY) -> Sample:
    """Read a sample from `directory`, the shipped one unless told otherwise."""
    candles: dict[tuple[str, str, str], tuple[RecordedCandle, ...]] = {}
    funding: dict[str, tuple[RecordedFunding, ...]] = {}
    for path in sorted(directory.glob("*.csv.gz")):
        venue, kind, coin = path.name.removesuffix(".csv.gz").split("-")
        rows = [line.split(",") for line in gzip.decompress(path.read_bytes()).decode().splitlines()[1:]]
        if kind == "funding":
            funding[coin] = tuple(RecordedFunding(int(time), rate) for time, rate in rows)
        else:
            candles[venue, coin, kind] = tuple(RecordedCandle(int(row[0]), *row[1:6]) for row in rows)
    universe = json.loads((directory / "universe.json").read_text())
    return Sample(candles, funding, tuple(universe))
