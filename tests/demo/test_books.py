"""The demo's books: one answer an envelope, one settlement a call, the hash chain, the alerts, the summary's counts."""

import hashlib
from collections import Counter

from rules.canonical import canonical_sha256
from rules.market import HOUR_MS
from tests.demo.envelopes import Sent, in_order
from tests.demo.finished_run import FinishedRun, Json
from tests.demo.plain_ledger import chained, hourly_heads, seal_entry, settle_entry
from topics.registry import (
    ALERTS,
    CALLS,
    CANDLES,
    HEADS,
    INGRESS,
    LEDGER,
    OUTCOMES,
    RECEIPTS,
    SCORES,
    SETTLEMENTS,
)

RETRY_HOUR_MS = HOUR_MS


def recomputed_chain(run: FinishedRun) -> list[Json]:
    """Chain the recomputed seals and settlements; the hashes of evidence are the only thing taken from the run."""
    evidence = {one["id"]: [each["sha256"] for each in one["fetched"]] for one in run.sent(SETTLEMENTS)}
    floor = run.recomputed.floor
    seals = [seal_entry(document, call) for call, document in floor.seals.items()]
    return chained(seals + [settle_entry(one, evidence[one["id"]]) for one in floor.settlements])


def test_every_envelope_has_exactly_one_receipt_with_its_id(run: FinishedRun) -> None:
    sent = [Sent(one.partition, one.offset, one.timestamp, one.key, one.value) for one in run.records[INGRESS.name]]
    assert Counter(one["id"] for one in run.sent(RECEIPTS)) == Counter(request.id for request in in_order(sent))


def test_every_call_that_was_due_is_settled_exactly_once(run: FinishedRun) -> None:
    settled = Counter(one["call"] for one in run.sent(SETTLEMENTS))
    calls = {one["id"]: one["fields"]["deadline"] + 120_000 for one in run.sent(CALLS)}
    first_attempt_by = {call for call, at_ms in calls.items() if at_ms <= run.recomputed.end_ms}
    retried_out_by = {call for call, at_ms in calls.items() if at_ms + RETRY_HOUR_MS <= run.recomputed.end_ms}
    assert set(settled.values()) == {1}
    assert retried_out_by <= settled.keys() <= first_attempt_by
    assert settled.keys() == {one["call"] for one in run.recomputed.floor.settlements}


def test_the_ledger_is_the_recomputed_chain(run: FinishedRun) -> None:
    entries = sorted(run.sent(LEDGER), key=lambda one: one["seq"])
    assert entries == recomputed_chain(run)
    assert [one["prev"] for one in entries] == ["0" * 64, *(one["hash"] for one in entries[:-1])]


def test_every_seal_and_settlement_has_one_ledger_entry(run: FinishedRun) -> None:
    entered = Counter((one["kind"], one["id"]) for one in run.sent(LEDGER))
    seals = [("seal", one["id"]) for one in run.sent(CALLS)]
    settlements = [("settle", one["id"]) for one in run.sent(SETTLEMENTS)]
    assert entered == Counter(seals + settlements)


def test_the_head_of_each_hour_has_the_recomputed_root(run: FinishedRun) -> None:
    heads = sorted(run.sent(HEADS), key=lambda one: one["at"])
    assert heads == hourly_heads(recomputed_chain(run), run.recomputed.end_ms)
    assert len(heads) == run.days * 24


def test_each_void_has_exactly_one_alert_and_nothing_else_has(run: FinishedRun) -> None:
    voids = [one for one in run.sent(SETTLEMENTS) if one["status"] == "void"]
    expected = Counter(
        (hashlib.sha256(f"void:{one['id']}".encode()).hexdigest(), one["call"], one["reason"]) for one in voids
    )
    assert Counter((one["id"], one["subject"], one["reason"]) for one in run.sent(ALERTS)) == expected
    assert voids


def test_the_summary_counts_what_the_topics_hold(run: FinishedRun) -> None:
    settlements, calls, ledger = run.sent(SETTLEMENTS), run.sent(CALLS), run.sent(LEDGER)
    voids = [one for one in settlements if one["status"] == "void"]
    outcomes = {one["id"]: one for one in sorted(run.sent(OUTCOMES), key=lambda one: one["at"])}
    scores = {one["record"]: one for one in sorted(run.sent(SCORES), key=lambda one: one["as_of_s"])}
    last = max(ledger, key=lambda one: one["seq"])
    expected = {
        "days": run.days,
        "from": "2025-06-06T00:00:00Z",
        "to": "2025-06-09T00:00:00Z",
        "seed": 7,
        "envelopes": len(run.records[INGRESS.name]),
        "candles": sum(one["type"] == "candle" and one["closed"] for one in run.sent(CANDLES)),
        "calls": {
            kind: {
                "sealed": sum(one["kind"] == kind for one in calls),
                "settled": sum(one["kind"] == kind and one["status"] != "void" for one in settlements),
                "void": sum(one["kind"] == kind for one in voids),
            }
            for kind in ("touch", "close", "range")
        },
        "voids": Counter(one["reason"] for one in voids),
        "refused": Counter(one["code"] for one in run.sent(RECEIPTS) if one["status"] == "rejected"),
        "predictions": Counter(one["status"] for one in outcomes.values()),
        "records": {record: score["value"] for record, score in scores.items()},
        "ledger": {"size": len(ledger), "head": last["hash"]},
        "alerts": len(run.sent(ALERTS)),
        "page": None,
    }
    told = {name: value for name, value in run.summary.items() if name in expected}
    assert told == expected
    assert run.summary.keys() - expected.keys() == {"digest", "replay_seconds", "wall_seconds"}


def test_the_digest_is_that_of_the_recomputed_results(run: FinishedRun) -> None:
    floor, arena = run.recomputed.floor, run.recomputed.arena
    outcomes = {one["id"]: one for one in arena.outcomes}
    fields = {
        "settlement": ("id", "status", "reason", "value", "score", "settled_at"),
        "outcome": ("id", "status", "move", "net", "resolved_at_s"),
        "score": ("id", "value", "t_stat", "total_return", "max_drawdown"),
    }
    results = {"settlement": floor.settlements, "outcome": outcomes.values(), "score": arena.scores}
    lines = [[kind, *(row[name] for name in fields[kind])] for kind, rows in results.items() for row in rows]
    assert run.summary["digest"] == canonical_sha256(sorted(lines, key=lambda line: (line[0], line[1])))
