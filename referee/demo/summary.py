"""What a run came to: counts, scores and a digest, from the topics themselves."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from referee.demo.topics_reader import messages, raw_messages
from rules.canonical import canonical_sha256
from streams.app import Bus
from topics.arena import Outcome, Score
from topics.floor import Call, Settlement
from topics.ingress import Receipt
from topics.market import Candle
from topics.operations import Alert, LedgerEntry
from topics.registry import ALERTS, CALLS, CANDLES, LEDGER, OUTCOMES, RECEIPTS, SCORES, SETTLEMENTS


async def summarise(bus: Bus) -> dict[str, Any]:
    """Return the run's summary as one JSON-able document."""
    calls = await messages(bus, CALLS, Call)
    settlements = await messages(bus, SETTLEMENTS, Settlement)
    outcomes = {outcome.id: outcome for outcome in await messages(bus, OUTCOMES, Outcome)}
    scores = await messages(bus, SCORES, Score)
    latest = {score.record: score for score in sorted(scores, key=lambda score: score.as_of_s)}
    ledger = sorted(await messages(bus, LEDGER, LedgerEntry), key=lambda entry: entry.seq)
    alerts = await messages(bus, ALERTS, Alert)
    receipts = await messages(bus, RECEIPTS, Receipt)
    return {
        "candles": await _closed_candles(bus),
        "calls": {
            kind: {
                "sealed": sum(call.kind == kind for call in calls),
                "settled": sum(one.kind == kind and one.status != "void" for one in settlements),
                "void": sum(one.kind == kind and one.status == "void" for one in settlements),
            }
            for kind in ("touch", "close", "range")
        },
        "voids": _counted(one.reason for one in settlements if one.status == "void"),
        "refused": _counted(receipt.code for receipt in receipts if receipt.status == "rejected"),
        "predictions": _counted(outcome.status for outcome in outcomes.values()),
        "records": {record: latest[record].value for record in sorted(latest)},
        "ledger": {"size": len(ledger), "head": ledger[-1].hash if ledger else "0" * 64},
        "alerts": len(alerts),
        "digest": digest(settlements, outcomes.values(), scores),
    }


def digest(settlements: Iterable[Settlement], outcomes: Iterable[Outcome], scores: Iterable[Score]) -> str:
    """Return the sha256 of every settlement, outcome and score, sorted by id: equal runs have equal digests."""
    lines: list[Any] = [
        ["settlement", one.id, one.status, one.reason, one.value, one.score, one.settled_at] for one in settlements
    ]
    lines += [["outcome", one.id, one.status, one.move, one.net, one.resolved_at_s] for one in outcomes]
    lines += [["score", one.id, one.value, one.t_stat, one.total_return, one.max_drawdown] for one in scores]
    return canonical_sha256(sorted(lines, key=lambda line: (line[0], line[1])))


async def _closed_candles(bus: Bus) -> int:
    seen: set[tuple[str, str, int]] = set()
    async for raw in raw_messages(bus, CANDLES):
        if b'"closed":true' in raw:
            candle = Candle.decode(raw)
            seen.add((candle.coin, candle.interval, candle.open_time))
    return len(seen)


def _counted(values: Iterable[str | None]) -> dict[str, int]:
    return dict(sorted(Counter(str(value) for value in values).items()))
