"""One message of every kind that the sinks keep, for tests."""

from typing import Any

from topics.arena import Commit, CurvePoint, Opened, Outcome, Score
from topics.base import Message
from topics.floor import Call, Evidence, Fetched, Fields, Labels, Position, Settlement, Standing, Touch
from topics.ingress import Receipt
from topics.market import Candle, Complete, Funding, Listed, Listings, Volatility
from topics.operations import Alert, DeadLetter, Head, LedgerEntry

T0 = 1_749_340_800_000
"""2025-06-08T00:00:00Z in ms."""
HOUR_MS = 3_600_000

POSITION = Position(partition=0, offset=7)


def candle(**changes: Any) -> Candle:
    """Return a closed 5-minute candle of BTC."""
    values: dict[str, Any] = {
        "venue": "hyperliquid", "coin": "BTC", "interval": "5m", "open_time": T0, "open": 100.0, "high": 102.0,
        "low": 99.0, "close": 101.0, "volume": 5.0, "trades": 12, "closed": True,
    }  # fmt: skip
    return Candle(**(values | changes))


def call(**changes: Any) -> Call:
    """Return a sealed touch call; `claim`, `terms`, `deadline`, `p`, `source`, `invalidation` go to its fields."""
    fields: dict[str, Any] = {
        "claim": "BTC touches 105 by 12:00", "source": "hyperliquid:BTC:price",
        "terms": {"kind": "touch", "level": 105.0}, "deadline": T0 + 12 * HOUR_MS, "p": 0.4, "invalidation": "",
    }  # fmt: skip
    fields |= {name: changes.pop(name) for name in list(changes) if name in fields}
    values: dict[str, Any] = {
        "id": "c" * 64, "post": "a" * 64, "agent": "alpha", "operator": "house", "coin": "BTC", "kind": "touch",
        "fields": Fields(**fields), "posted_at": T0, "s": 100.0, "sigma": 0.005, "b": 0.3, "baseline_version": "b-1",
        "side": "up", "labels": Labels(baseline_hugging=False, copy_of=None, correlated_with=()),
    }  # fmt: skip
    return Call(**(values | changes))


def settlement(**changes: Any) -> Settlement:
    """Return a provisional hit of the call that `call()` returns."""
    values: dict[str, Any] = {
        "id": "c" * 64 + "/1", "call": "c" * 64, "attempt": 1, "agent": "alpha", "operator": "house", "coin": "BTC",
        "kind": "touch", "source": "hyperliquid:BTC:price", "claim": "BTC touches 105 by 12:00",
        "terms": {"kind": "touch", "level": 105.0}, "side": "up", "posted_at": T0, "deadline": T0 + 12 * HOUR_MS,
        "p": 0.4, "b": 0.3, "baseline_version": "b-1", "rules": "floor-1.0", "status": "hit", "reason": None,
        "value": 105.5, "second_value": 105.4, "raw_score": 41.503749927884, "weight": 1.0, "score": 41.503749927884,
        "settled_at": T0 + 12 * HOUR_MS + 120_000, "final_at": T0 + 36 * HOUR_MS + 120_000, "state": "provisional",
        "fetched": (
            Fetched(venue="hyperliquid", request="candleSnapshot BTC 5m", status=200, sha256="e" * 64,
                    at=T0 + 12 * HOUR_MS + 120_000),
        ),
    }  # fmt: skip
    return Settlement(**(values | changes))


def outcome(**changes: Any) -> Outcome:
    """Return a pending Arena prediction."""
    values: dict[str, Any] = {
        "id": "f" * 64, "record": "r1", "owner": "0xabc", "call_id": 3, "status": "pending", "horizon_s": 3600,
        "locked_at_s": T0 // 1000, "entry_at_s": T0 // 1000 + 60, "exit_at_s": T0 // 1000 + 3660, "coin": None,
        "side": None, "candles": None, "entry": None, "exit": None, "move": None, "gross": None, "fee": None,
        "net": None, "resolved_at_s": None, "at": T0,
    }  # fmt: skip
    return Outcome(**(values | changes))


def score(**changes: Any) -> Score:
    """Return a score of record r1 with a curve of two points."""
    values: dict[str, Any] = {
        "id": f"r1@{T0 // 1000}", "record": "r1", "owner": "0xabc", "as_of_s": T0 // 1000, "value": 412,
        "level": "building", "beta": 0.1, "t_stat": 1.2, "profit_t": 1.1, "profit": 0.02, "edge": 0.5, "risk": 0.4,
        "calls": 12, "revealed": 10, "withheld": 1, "unscorable": 0, "pending": 1, "coverage": 0.91, "days": 3.0,
        "hit_rate": 0.6, "mean_return": 0.002, "total_return": 0.021, "max_drawdown": 0.004,
        "curve": (CurvePoint(t=T0 // 1000 - 86_400, v=1.01), CurvePoint(t=T0 // 1000, v=1.021)),
    }  # fmt: skip
    return Score(**(values | changes))


def standing(**changes: Any) -> Standing:
    """Return a provisional agent's Standing."""
    values: dict[str, Any] = {
        "agent": "alpha", "operator": "house", "at": T0, "standing": 41.5, "settled": 1, "voids": 0, "brier": 0.36,
        "provisional": True,
    }  # fmt: skip
    return Standing(**(values | changes))


def alert(**changes: Any) -> Alert:
    """Return the alert of a void."""
    values: dict[str, Any] = {
        "id": "v1", "kind": "void", "severity": "warning", "subject": "c" * 64, "coin": "BTC", "agent": "alpha",
        "reason": "venue_halt", "text": "call void: venue_halt", "at": T0,
    }  # fmt: skip
    return Alert(**(values | changes))


def messages() -> dict[str, tuple[Message, ...]]:
    """Return messages of every topic that ClickHouse keeps, by topic name."""
    return {
        "market.candles": (
            candle(), candle(interval="1h", trades=None), candle(closed=False),
            Complete(venue="hyperliquid", coin="BTC", interval="5m", through=T0),
        ),
        "market.funding": (Funding(venue="hyperliquid", coin="BTC", time=T0 + 17, rate=1.25e-5),),
        "market.listings": (
            Listings(venue="hyperliquid", at=T0, coins=(
                Listed(coin="BTC", day_notional_usd=2.5e9, delisted=False),
                Listed(coin="OLD", day_notional_usd=0.0, delisted=True),
            )),
        ),
        "market.volatility": (Volatility(venue="hyperliquid", coin="BTC", at=T0, sigma=0.005, returns=720),),
        "floor.calls": (call(),),
        "floor.settlements": (settlement(),),
        "floor.evidence": (
            Evidence(sha256="e" * 64, venue="hyperliquid", request="candleSnapshot BTC 5m", status=200,
                     body="W3sidCI6MX1d/w==", at=T0),
        ),
        "floor.touches": (
            Touch(call="c" * 64, coin="BTC", level=105.0, side="up", candle_open_time=T0, reached=105.5, at=T0),
        ),
        "floor.standings": (standing(),),
        "arena.commits": (
            Opened(post="p", record="r1", book_id=1, owner="0xabc", coins=None, min_horizon_s=3600,
                   max_horizon_s=86_400, at=T0, position=POSITION),
            Commit(post="p", record="r1", book_id=1, owner="0xabc", call_id=3, nonce=None, hash="0x" + "f" * 64,
                   horizon_s=3600, at=T0, position=POSITION),
        ),
        "arena.settlements": (outcome(),),
        "arena.scores": (score(),),
        "receipts": (
            Receipt(id="s", kind="floor.call", agent="alpha", status="rejected", code="open_cap",
                    detail="5 calls are open, 5 are allowed", ref=None, at=T0),
        ),
        "ledger": (
            LedgerEntry(id="l0", seq=0, kind="seal", unit="standing", at=T0, body={"call": "c" * 64}, prev="0" * 64,
                        hash="b" * 64),
        ),
        "heads": (Head(at=T0 + HOUR_MS, size=1, head="b" * 64, root="d" * 64),),
        "alerts": (alert(),),
        "dead-letters": (
            DeadLetter(id="d1", agent="ingress", topic="ingress", partition=0, offset=4, cause="malformed",
                       detail="not JSON", key=None, value="/wA=", at=T0),
        ),
    }  # fmt: skip
