"""The recorded sample files as plain lists, read with csv and gzip alone."""

import csv
import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path

from rules.market import DAY_MS, HOUR_MS, Candle

FOLDER = Path(__file__).parents[2] / "referee" / "simulated" / "sample"


@dataclass
class Recorded:
    """Candles by coin in ascending order, funding rows as stamped, and the venue's list of perps."""

    fine: dict[str, list[Candle]] = field(default_factory=dict)
    hourly: dict[str, list[Candle]] = field(default_factory=dict)
    second: dict[str, list[Candle]] = field(default_factory=dict)
    funding: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    listed: list[str] = field(default_factory=list)
    delisted: list[str] = field(default_factory=list)

    def day_notional_usd(self, coin: str, hour_ms: int) -> float:
        """Return volume times close, in USD, of the hours of the day before a whole hour."""
        hours = [candle for candle in self.hourly.get(coin, []) if hour_ms - DAY_MS <= candle.open_time_ms]
        return sum(candle.volume * candle.close for candle in hours if candle.open_time_ms + HOUR_MS <= hour_ms)


def read_recorded(folder: Path = FOLDER) -> Recorded:
    """Read every file of the sample."""
    recorded = Recorded()
    for path in sorted(folder.glob("*.csv.gz")):
        venue, kind, coin = path.name.removesuffix(".csv.gz").split("-")
        with gzip.open(path, "rt", newline="") as lines:
            rows = list(csv.reader(lines))[1:]
        if kind == "funding":
            recorded.funding[coin] = [(int(time), float(rate)) for time, rate in rows]
            continue
        candles = [Candle(int(row[0]), *(float(text) for text in row[1:6])) for row in rows]
        if venue == "bybit":
            recorded.second[coin] = candles
        else:
            (recorded.fine if kind == "5m" else recorded.hourly)[coin] = candles
    for row in json.loads((folder / "universe.json").read_text()):
        recorded.listed.append(row["name"])
        if row.get("isDelisted"):
            recorded.delisted.append(row["name"])
    return recorded
