"""The settlement of a `floor-call` bundle at its `now`, with its disputes (Rules F8, F11)."""

from __future__ import annotations

from rules.floor.bundle.call_bundle import CallBundle
from rules.floor.constants import GRACE_MS, RETRY_LIMIT_MS
from rules.floor.disputes import PublishedResult, final_at_ms, judge_disputes
from rules.floor.settle import CallFacts, Decision, Score, VenueReading, decide, score
from rules.floor.sources import Source
from rules.floor.terms import Metric


def settlement_result(
    bundle: CallBundle, source: Source, facts: CallFacts, p: float, b: float, weight: float
) -> dict[str, object] | None:
    """Settle a sealed call from what its bundle holds; None before deadline + 120 000 ms. Rule F8."""
    first_attempt_ms = facts.deadline_ms + GRACE_MS
    if bundle.now_ms < first_attempt_ms:
        return None
    reading = _reading(bundle, source, facts)
    decision = decide(facts, reading, first_attempt_ms)
    if decision.status == "ask_again" and bundle.now_ms >= first_attempt_ms + RETRY_LIMIT_MS:
        decision = decide(facts, reading, first_attempt_ms + RETRY_LIMIT_MS)
    if decision.status == "ask_again":
        return _shape("pending", None, None, None)
    if decision.status == "void":
        return _finish(bundle, decision, PublishedResult("void", None), None)
    scored = score(p, b, decision.status == "hit", weight)
    return _finish(bundle, decision, PublishedResult(decision.status, scored.score), scored)


def _reading(bundle: CallBundle, source: Source, facts: CallFacts) -> VenueReading:
    symbols = bundle.market.get(source.venue, {})
    second = None
    if bundle.second_venue is not None:
        second = bundle.symbol(bundle.second_venue, facts.symbol).candles_5m
    return VenueReading(
        candles={symbol: market.candles_5m for symbol, market in symbols.items()},
        second=second,
        delisted_at_ms={symbol: market.delisted_at_ms for symbol, market in symbols.items()},
        metric=bundle.metric(source) if isinstance(facts.terms, Metric) else None,
    )


def _finish(bundle: CallBundle, decision: Decision, rerun: PublishedResult, scored: Score | None) -> dict[str, object]:
    settled_at_ms = decision.decided_at_ms
    final_ms = final_at_ms(settled_at_ms)
    judged = judge_disputes(
        (dispute for dispute in bundle.disputes if dispute.at_ms <= bundle.now_ms),
        settled_at_ms,
        bundle.recorded or rerun,
        rerun,
    )
    shape = _shape(rerun.status, decision, scored, settled_at_ms)
    shape["state"] = "final" if final_ms is not None and bundle.now_ms >= final_ms else "provisional"
    shape["final_at"] = final_ms
    shape["disputes"] = [
        {"at": entry.dispute.at_ms, "by": entry.dispute.by, "outcome": entry.outcome} for entry in judged
    ]
    return shape


def _shape(
    status: str, decision: Decision | None, scored: Score | None, settled_at_ms: int | None
) -> dict[str, object]:
    value: object = None if decision is None else decision.value
    return {
        "status": status,
        "reason": None if decision is None else decision.reason,
        "value": list(value) if isinstance(value, tuple) else value,
        "second_value": None if decision is None else decision.second_value,
        "settled_at": settled_at_ms,
        "raw_score": None if scored is None else scored.raw,
        "weight": None if scored is None else scored.weight,
        "score": None if scored is None else scored.score,
        "state": None,
        "final_at": None,
        "disputes": [],
    }
