"""Reads the open-record vectors and the unit vectors of the Arena into the rules' own types."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rules.arena.commitment import Deployment
from rules.arena.numbers import EXITS_SINCE_S
from rules.arena.open_record import OpenResult, score_open
from rules.arena.types import (
    Candle,
    CoinRows,
    Commit,
    CurvePoint,
    Extreme,
    Funding,
    Metrics,
    OpenRecord,
    Prediction,
    Reveal,
    SaltState,
    Score,
)

VECTORS = Path(__file__).parents[2] / "vectors"
MARKER_HEX = b"XIT1".hex()


@dataclass(frozen=True)
class Bundle:
    """One open-record vector: what goes in, and the raw JSON of what must come out."""

    name: str
    raw: dict[str, Any]
    deployment: Deployment
    record: OpenRecord
    commits: list[Commit]
    reveals: list[Reveal]
    market: dict[str, CoinRows]
    listed: list[str]
    as_of_s: int

    @property
    def expected(self) -> dict[str, Any]:
        """Return what the vector says must come out."""
        expected: dict[str, Any] = self.raw["expected"]
        return expected

    def settle(self) -> OpenResult:
        """Score the record as of the bundle's moment."""
        return score_open(self.record, self.commits, self.reveals, self.market, self.listed, self.as_of_s)


def load_bundles() -> list[Bundle]:
    """Return every open-record vector in order of name."""
    return [_bundle(path) for path in sorted((VECTORS / "arena").glob("*.json"))]


def exits_in_play(raw: dict[str, Any]) -> set[int]:
    """Return the call ids whose visible reveals bring a stop or a target, or calldata to search for one."""
    locked_at = {commit["callId"]: commit["lockedAt"] for commit in raw["commits"]}
    return {
        reveal["callId"]
        for reveal in raw["reveals"]
        if reveal["at"] <= raw["asOf"]
        and locked_at[reveal["callId"]] >= EXITS_SINCE_S
        and ("input" in reveal or (reveal.get("salt") or "")[34:42] == MARKER_HEX)
    }


def unit_calls(function: str) -> list[tuple[list[Any], Any]]:
    """Return the arguments and the result of every unit vector of one function."""
    pairs = []
    for path in sorted((VECTORS / "arena-units").glob("*.json")):
        raw = json.loads(path.read_text())
        for call, answer in zip(raw["calls"], raw["expected"], strict=True):
            if call["fn"] == function:
                pairs.append((call["args"], answer["result"]))
    return pairs


def coin_rows(raw: dict[str, Any]) -> CoinRows:
    """Return a bundle's rows of one coin; a funding read that failed has no rows."""
    return CoinRows(
        [_candle(row) for row in raw.get("1h", [])],
        [_candle(row) for row in raw.get("5m", [])],
        [Funding(row[0], float(row[1])) for row in raw.get("funding") or []],
    )


def prediction_json(row: Prediction) -> dict[str, Any]:
    """Return a prediction with the keys of a bundle's result, without its free-text note."""
    shown: dict[str, Any] = {
        "callId": row.call_id,
        "status": row.status,
        "horizon": row.horizon_s,
        "exitAt": row.exit_at_s,
    }
    if row.symbol is not None:
        shown |= {"symbol": row.symbol, "coin": row.coin, "side": row.side}
    optional = {
        "candles": row.interval,
        "entryT": row.entry_candle_s,
        "entry": row.entry,
        "exitT": row.exit_candle_s,
        "exit": row.exit,
        "move": row.move,
        "gross": row.gross,
        "fee": row.fee,
        "net": row.net,
        "resolvedAt": row.resolved_at_s,
        "withheldAfter": row.withheld_after_s,
    }
    shown |= {key: value for key, value in optional.items() if value is not None}
    if row.worst is not None:
        shown["worst"] = {"coin": row.worst.coin, "side": row.worst.side, "horizon": row.horizon_s}
        shown["worstMove"] = row.worst.move
    return shown


def metrics_json(metrics: Metrics) -> dict[str, Any]:
    """Return metrics with the keys of a bundle's result."""
    return {
        "calls": metrics.calls,
        "revealed": metrics.revealed,
        "withheld": metrics.withheld,
        "unscorable": metrics.unscorable,
        "pending": metrics.pending,
        "coverage": metrics.coverage,
        "days": metrics.days,
        "hitRate": metrics.hit_rate,
        "meanReturn": metrics.mean_return,
        "meanMove": metrics.mean_move,
        "vsCoin": metrics.versus_coin,
        "totalReturn": metrics.total_return,
        "tStat": metrics.t_stat,
        "maxDrawdown": metrics.max_drawdown,
        "avgHorizonHours": metrics.average_horizon_hours,
        "shortOnHourly": metrics.short_on_hourly,
        "best": _extreme_json(metrics.best),
        "worst": _extreme_json(metrics.worst),
    }


def score_json(score: Score) -> dict[str, Any]:
    """Return a score with the keys of a bundle's result."""
    return {
        "value": score.value,
        "level": score.level,
        "beta": score.beta,
        "tStat": score.t_stat,
        "profitT": score.profit_t,
        "profit": score.profit,
        "edge": score.edge,
        "risk": score.risk,
    }


def curve_json(curve: tuple[CurvePoint, ...]) -> list[dict[str, Any]]:
    """Return a curve with the keys of a bundle's result."""
    return [{"t": point.time_s, "v": point.value} for point in curve]


def _bundle(path: Path) -> Bundle:
    raw = json.loads(path.read_text())
    record, chain = raw["record"], raw["chain"]
    return Bundle(
        name=path.stem,
        raw=raw,
        deployment=Deployment(chain["chainId"], chain["callbook"]),
        record=OpenRecord(
            record_id=record["id"],
            owner=record["owner"],
            coins=None if record["coins"] is None else tuple(record["coins"]),
            min_horizon_s=record["minHorizon"],
            max_horizon_s=record["maxHorizon"],
            opened_at_s=record["openedAt"],
            closed_at_s=record["closedAt"],
        ),
        commits=[
            Commit(
                call_id=commit["callId"],
                call_hash=bytes.fromhex(commit.get("hash", "0x")[2:]),
                locked_at_s=commit["lockedAt"],
                entry_at_s=commit["entryAt"],
                horizon_s=commit["horizon"],
                nonce=commit.get("nonce"),
            )
            for commit in raw["commits"]
        ],
        reveals=[
            Reveal(
                call_id=reveal["callId"],
                at_s=reveal["at"],
                side=reveal["side"],
                coin=reveal["coin"] if "coin" in reveal else reveal["coinIndex"],
                salt=_salt(reveal),
            )
            for reveal in raw["reveals"]
        ],
        market={coin: coin_rows(rows) for coin, rows in raw["market"].items()},
        listed=raw["listed"],
        as_of_s=raw["asOf"],
    )


def _salt(reveal: dict[str, Any]) -> bytes | SaltState:
    if "salt" not in reveal:
        return SaltState.NOT_READ
    return SaltState.NONE_MATCHED if reveal["salt"] is None else bytes.fromhex(reveal["salt"][2:])


def _candle(row: list[float]) -> Candle:
    return Candle(int(row[0]), float(row[1]), float(row[2]), float(row[3]), float(row[4]))


def _extreme_json(extreme: Extreme | None) -> dict[str, Any] | None:
    if extreme is None:
        return None
    return {
        "callId": extreme.call_id,
        "coin": extreme.coin,
        "side": extreme.side,
        "ret": extreme.net,
        "status": extreme.status,
    }
