"""Cut the shipped sample from a folder of recorded data: `python -m referee.simulated.cut_sample SOURCE_DIR`."""

import gzip
import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from referee.simulated.sample import SAMPLE_DIRECTORY

COINS = ("BTC", "ETH", "SOL", "HYPE", "FARTCOIN")
SECOND_VENUE_COINS = ("BTC", "ETH", "SOL")
DELISTED_COIN = "MATIC"
LIMIT_BYTES = 3_000_000


@dataclass(frozen=True, slots=True)
class Cut:
    """One kind of recorded rows and the days [first, after) that the sample keeps of it."""

    source: str
    prefix: str
    coins: tuple[str, ...]
    first: datetime
    after: datetime


_AFTER = datetime(2025, 6, 17, tzinfo=UTC)
_HOURLY_FIRST = datetime(2025, 4, 21, tzinfo=UTC)
_FIVE_MINUTE_FIRST = datetime(2025, 6, 1, tzinfo=UTC)

CUTS = (
    Cut("hyperliquid/candles-1h", "hyperliquid-1h", COINS, _HOURLY_FIRST, _AFTER),
    Cut("hyperliquid/candles-5m", "hyperliquid-5m", COINS, _FIVE_MINUTE_FIRST, _AFTER),
    Cut("hyperliquid/funding", "hyperliquid-funding", COINS, _HOURLY_FIRST, _AFTER),
    Cut("bybit/candles-5m", "bybit-5m", SECOND_VENUE_COINS, _FIVE_MINUTE_FIRST, _AFTER),
)
"""Hourly rows reach 45 days back from the first demo day (2025-06-05), for 30 days of volatility."""


def cut(source: Path, target: Path) -> int:
    """Write the sample's files into `target` and return their size in bytes; rows keep the source's exact text.

    Raises FileNotFoundError for an absent source file and ValueError when the sample exceeds LIMIT_BYTES.
    """
    target.mkdir(parents=True, exist_ok=True)
    size_bytes = 0
    for part in CUTS:
        first_ms, after_ms = (int(day.timestamp() * 1000) for day in (part.first, part.after))
        for coin in part.coins:
            packed = _pack(source / part.source / f"{coin}.csv.gz", first_ms, after_ms)
            (target / f"{part.prefix}-{coin}.csv.gz").write_bytes(packed)
            size_bytes += len(packed)
    size_bytes += (target / "universe.json").write_text(_universe(source / "wire/http-meta-2025-08.json"))
    if size_bytes > LIMIT_BYTES:
        raise ValueError(f"sample is {size_bytes} bytes, more than the limit of {LIMIT_BYTES}")
    return size_bytes


def _pack(path: Path, first_ms: int, after_ms: int) -> bytes:
    header, *rows = gzip.decompress(path.read_bytes()).decode().splitlines()
    kept = [row for row in rows if first_ms <= int(row.split(",", 1)[0]) < after_ms]
    return gzip.compress("\n".join([header, *kept, ""]).encode(), compresslevel=9, mtime=0)


def _universe(path: Path) -> str:
    listed = json.loads(path.read_text())["response"]["universe"]
    kept = [json.dumps(row) for row in listed if row["name"] in (*COINS, DELISTED_COIN)]
    return "[\n" + ",\n".join(kept) + "\n]\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m referee.simulated.cut_sample SOURCE_DIR")
    print(f"{cut(Path(sys.argv[1]), SAMPLE_DIRECTORY)} bytes in {SAMPLE_DIRECTORY}")
