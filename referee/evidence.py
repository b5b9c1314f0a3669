"""Puts together what one settlement rests on, from ClickHouse, as a `floor-call` bundle (design principle 5)."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from referee.evidence_queries import ANSWERS, BODIES, CALL, CANDLES, LEDGER, LISTINGS, PAST_CALLS, RECEIPTS, SETTLEMENT
from referee.raw_answers import PINNED, SECOND, RawAnswer, Row, shown_by, venue_symbol
from rules.floor.baseline import Calibration
from rules.floor.constants import GRACE_MS, PRICE_MAX_AGE_MS, RETRY_LIMIT_MS, RULES_VERSION
from rules.floor.sources import is_settleable_volume
from rules.floor.standing import is_provisional
from rules.market import DAY_MS, FIVE_MINUTES_MS, HOUR_MS
from sinks.clickhouse.reader import Reader, Record

CANDLES_1H_MS = 32 * DAY_MS
CANDLES_5M_MS = PRICE_MAX_AGE_MS + 2 * FIVE_MINUTES_MS
WAITING_REASONS = ("source_unavailable", "venues_disagree")
CALL_ID = re.compile(r"[0-9a-f]{1,64}")


class EvidenceError(Exception):
    """A call has no settlement, or what is stored of it does not hold what a bundle needs."""


@dataclass(frozen=True, slots=True)
class Counts:
    """An agent's counts just before a post (Rules F1, F9)."""

    sealed_today: int
    open: int
    provisional: bool


async def call_bundle(reader: Reader, call: str) -> dict[str, Any]:
    """Return the evidence bundle of the settled call with this id, or with the only id that begins so.

    Raises `EvidenceError` for a call without one and for stored bytes that do not have their sha256, `SinkError`.
    """
    sealed = await _sealed(reader, call)
    settlement = await reader.row(SETTLEMENT, call=sealed["id"])
    if settlement is None:
        raise EvidenceError(f"call {sealed['id']}: is not settled yet, its deadline is {sealed['deadline_ms']}")
    if settlement["rules"] != RULES_VERSION or sealed["baseline_version"] != Calibration().version:
        raise EvidenceError(f"call {sealed['id']}: was settled by {settlement['rules']}, this is {RULES_VERSION}")
    answers = await _answers(reader, sealed["id"], settlement["id"])
    market = await _market(reader, sealed, answers)
    past = await reader.rows(PAST_CALLS, agent=sealed["agent"], before_ms=sealed["posted_at_ms"])
    receipts = await reader.row(
        RECEIPTS, agent=sealed["agent"], call=sealed["id"], until_ms=sealed["posted_at_ms"]
    ) or {"registrations": 0, "seals": 0}
    listed = await reader.rows(LISTINGS, venue=PINNED, until_ms=sealed["posted_at_ms"])
    counts = counts_before(past, sealed["posted_at_ms"])
    now_ms = settlement["final_at_ms"] if settlement["state"] == "final" else settlement["settled_at_ms"]
    return {
        "type": "floor-call",
        "rules": settlement["rules"],
        "note": _note(sealed, settlement),
        "now": now_ms,
        "agent": {
            "id": sealed["agent"],
            "operator": sealed["operator"],
            "known": receipts["registrations"] > 0,
            "signature_ok": receipts["seals"] > 0,
            "paused": False,
            "provisional": counts.provisional,
            "ranked": not counts.provisional,
            "sealed_today": counts.sealed_today,
            "open": counts.open,
        },
        "call": {
            "agent": sealed["agent"],
            "claim": sealed["claim"],
            "source": sealed["source"],
            "terms": json.loads(sealed["terms"]),
            "deadline": sealed["deadline_ms"],
            "p": sealed["p"],
            "invalidation": sealed["invalidation"],
        },
        "posted_at": sealed["posted_at_ms"],
        "settleable": [
            f"{PINNED}:{row['coin']}:price"
            for row in listed
            if not row["delisted"] and is_settleable_volume(row["day_notional_usd"])
        ],
        # This version fixes a call's labels from the call alone (Rule F7's copies and correlations come later).
        "earlier_calls": [],
        "calibration": _calibration(),
        "market": market,
        "second_venue": SECOND,
        "metrics": {},
        "recorded": {"status": settlement["status"], "score": settlement["score"]},
        "disputes": [],
        "expected": _expected(sealed, settlement),
        "answers": answers,
        "ledger": await _entries(reader, sealed["id"], settlement["id"]),
    }


def counts_before(past: Sequence[Record], posted_at_ms: int) -> Counts:
    """Return an agent's counts before a post, from its earlier calls with their first settlements (Rules F1, F9).

    A settlement of the post's own millisecond counts as before it, as it does for the sealing agent.
    """
    settled = [row for row in past if row["status"] and row["settled_at_ms"] <= posted_at_ms]
    return Counts(
        sealed_today=sum(row["posted_at_ms"] // DAY_MS == posted_at_ms // DAY_MS for row in past),
        open=len(past) - len(settled),
        provisional=is_provisional(sum(row["status"] != "void" for row in settled)),
    )


def is_retried(sealed: Record, settlement: Record) -> bool:
    """Tell whether a settlement came between the first attempt and the last, a time that a bundle cannot hold."""
    waited_ms = RETRY_LIMIT_MS if settlement["reason"] in WAITING_REASONS else 0
    return bool(settlement["settled_at_ms"] != sealed["deadline_ms"] + GRACE_MS + waited_ms)


async def _sealed(reader: Reader, call: str) -> Record:
    if CALL_ID.fullmatch(call) is None:
        raise EvidenceError(f"call {call!r}: is no id, which is 64 of 0-9 a-f, or the beginning of one")
    found = await reader.rows(CALL, call=call)
    if not found:
        raise EvidenceError(f"call {call}: there is no sealed call with this id")
    if len(found) > 1:
        raise EvidenceError(f"call {call}: the ids of several calls begin so")
    return found[0]


async def _answers(reader: Reader, call: str, settlement: str) -> list[dict[str, Any]]:
    """Return the raw answers that a settlement names, in base64, each held to its sha256."""
    named = await reader.rows(ANSWERS, settlement=settlement)
    if not any(row["venue"] == PINNED and "candleSnapshot" in row["request"] for row in named):
        raise EvidenceError(f"call {call}: rests on the silence of {PINNED}, of which no bundle can be made")
    stored = await reader.rows(BODIES, hashes=[row["sha256"] for row in named])
    bodies = {row["sha256"]: row["body"] for row in stored}
    for row in named:
        body = bodies.get(row["sha256"])
        if body is None:
            raise EvidenceError(f"call {call}: the raw answer {row['sha256']} is not stored")
        actual = hashlib.sha256(base64.b64decode(body)).hexdigest()
        if actual != row["sha256"]:
            raise EvidenceError(f"call {call}: the raw answer {row['sha256']} is stored with bytes of sha256 {actual}")
        row["body"] = body
    return named


async def _entries(reader: Reader, call: str, settlement: str) -> list[dict[str, Any]]:
    """Return the ledger's entries of the seal and the settlement, as far as they are appended already."""
    rows = await reader.rows(LEDGER, ids=[call, settlement])
    return [row | {"body": json.loads(row["body"])} for row in rows]


async def _market(reader: Reader, sealed: Record, answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the market that the call was priced and settled on, the settlement's part read from the raw answers."""
    posted_at_ms, coin = sealed["posted_at_ms"], sealed["coin"]
    shown = shown_by(
        [RawAnswer(row["venue"], row["request"], base64.b64decode(row["body"]), row["sha256"]) for row in answers]
    )
    before: dict[str, list[Row]] = {}
    for interval, step_ms, reach_ms in (("5m", FIVE_MINUTES_MS, CANDLES_5M_MS), ("1h", HOUR_MS, CANDLES_1H_MS)):
        rows = await reader.rows(
            CANDLES,
            venue=PINNED,
            coin=coin,
            interval=interval,
            from_ms=posted_at_ms - reach_ms,
            to_ms=posted_at_ms - step_ms,
        )
        before[interval] = [[row[name] for name in ("at_ms", "open", "high", "low", "close", "volume")] for row in rows]
    pinned = {
        symbol: {"5m": [row for row in rows if row[0] + FIVE_MINUTES_MS > posted_at_ms], "delisted_at": None}
        for (venue, symbol), rows in shown.rows.items()
        if venue == PINNED
    }
    own = pinned[coin]
    is_delisted = shown.listed is not None and coin not in shown.listed
    pinned[coin] = {
        "5m": [*before["5m"], *(own["5m"] or ())],
        "1h": before["1h"],
        "funding": [],
        "delisted_at": sealed["deadline_ms"] if is_delisted else None,
    }
    second = shown.rows.get((SECOND, venue_symbol(SECOND, coin)))
    return {PINNED: pinned, SECOND: {} if second is None else {coin: {"5m": second}}}


def _calibration() -> dict[str, Any]:
    calibration = Calibration()
    maps = {kind: getattr(calibration, kind) for kind in ("touch", "close", "range")}
    return {"version": calibration.version} | {kind: [each.alpha, each.gamma] for kind, each in maps.items()}


def _expected(sealed: Record, settlement: Record) -> dict[str, Any]:
    value, upper = settlement["value"], settlement["value_upper"]
    result = {
        "status": settlement["status"],
        "reason": settlement["reason"],
        "value": value if upper is None else [value, upper],
        "second_value": settlement["second_value"],
        "settled_at": settlement["settled_at_ms"],
        "raw_score": settlement["raw_score"],
        "weight": settlement["weight"],
        "score": settlement["score"],
        "state": settlement["state"],
        "final_at": settlement["final_at_ms"],
        "disputes": [],
    }
    if is_retried(sealed, settlement):
        del result["settled_at"], result["final_at"]
    return {
        "receipt": {"status": "accepted", "code": None},
        "s": sealed["s"],
        "sigma": sealed["sigma"],
        "b": sealed["b"],
        "baseline_version": sealed["baseline_version"],
        "side": sealed["side"],
        "seal": sealed["id"],
        "labels": {
            "baseline_hugging": sealed["baseline_hugging"],
            "copy_of": sealed["copy_of"],
            "correlated_with": list(sealed["correlated_with"]),
        },
        "settlement": result,
    }


def _note(sealed: Record, settlement: Record) -> str:
    note = f"settlement {settlement['id']}; candles after the post are read from the raw answers under `answers`"
    if is_retried(sealed, settlement):
        note += f"; decided at a retry, at {settlement['settled_at_ms']}, a time that is not compared"
    return note
