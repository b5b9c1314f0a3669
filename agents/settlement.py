"""Settlement: at deadline + 2 minutes asks the venues, decides hit, miss or void, scores, keeps the evidence (Rule F8).

Deadlines are timers in event time: they fire when the clock's watermark passes them, so that a recorded week settles as
a live one does. Attempts stand 60 s apart; when the watermark jumps over several, one reading answers them all.
A venue's silence now says nothing of attempts missed: it voids a call only when it meets three readings after the hour.
A settled call is remembered for a week: were it sent again, the venues would be asked again, and answers of another
moment would stand beside the ledger's entry.
"""

import asyncio
from dataclasses import dataclass

import orjson
from aiokafka.structs import ConsumerRecord
from sortedcontainers import SortedSet

from agents.venue_reading import Reading, Venues
from rules.floor.constants import COPY_WEIGHT, FINALITY_MS, GRACE_MS, HORIZON_MIN_MS, RETRY_MS, RULES_VERSION
from rules.floor.settle import CallFacts, Decision, decide, score
from rules.floor.terms import parse_terms
from rules.market import WEEK_MS
from streams.delivery.outbox import Outbox
from streams.delivery.reducer import AgentSpec, Reducer
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from streams.venues.base import Answer
from topics.floor import Call, Settlement
from topics.operations import Entry
from topics.registry import CALLS, CLOCK, ENTRIES, EVIDENCE, RESULTS, SETTLEMENTS

CALLS_PREFIX = "calls/"
SETTLED_PREFIX = "settled/"
SETTLES_AFTER_MS = HORIZON_MIN_MS + GRACE_MS
AT_ONCE = 16
SILENT_READINGS = 3


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that is not settled yet, when it is asked for next, and how many last attempts met a silent venue."""

    call: Call
    next_attempt_ms: int
    silent_readings: int = 0


class SettlementReducer(Reducer):
    """The open calls of one partition and their deadlines, and the calls settled of late."""

    def __init__(self, state: PartitionState, venues: Venues) -> None:
        super().__init__(state)
        self._venues = venues
        self._open: dict[str, OpenCall] = {}
        self._due: SortedSet[tuple[int, str]] = SortedSet()
        for _, raw in state.items(CALLS_PREFIX):
            stored = orjson.loads(raw)
            call = Call.model_validate(stored["call"])
            self._remember(OpenCall(call, stored["next_attempt"], stored.get("silent", 0)))
        self._settled = SortedSet((int(raw), call) for call, raw in state.items(SETTLED_PREFIX))

    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Take a sealed call in; a call that is open or settled already is the same call."""
        call = Call.decode(record.value)
        if call.id not in self._open and self.state.get(SETTLED_PREFIX + call.id) is None:
            self._keep(OpenCall(call, call.fields.deadline + GRACE_MS))

    async def advance(self, watermarks: WatermarkTracker, out: Outbox) -> int | None:
        """Settle what is due; promise that no settlement comes before what calls yet unseen allow (Rule F1)."""
        clock_ms = watermarks.current(CLOCK.name)
        if clock_ms is None:
            return None
        await self._settle_due(clock_ms, out)
        while self._settled and self._settled[0][0] < clock_ms - WEEK_MS:
            self.state.delete(SETTLED_PREFIX + self._settled.pop(0)[1])
        calls_ms = watermarks.current(CALLS.name)
        if calls_ms is None:
            return None
        next_ms = self._due[0][0] if self._due else clock_ms
        return min(clock_ms, next_ms, calls_ms + SETTLES_AFTER_MS)

    async def _settle_due(self, clock_ms: int, out: Outbox) -> None:
        due = [self._open[call] for _, call in self._due.irange(maximum=(clock_ms, "~"))]
        if not due:
            return
        listed = await self._venues.listed()
        gate = asyncio.Semaphore(AT_ONCE)
        attempts = await asyncio.gather(*(self._attempt(entry, clock_ms, listed, gate) for entry in due))
        kept: set[str] = set()
        for entry, (decision, reading) in zip(due, attempts, strict=True):
            if decision.status == "ask_again":
                self._keep(OpenCall(entry.call, decision.decided_at_ms + RETRY_MS))
                continue
            silent = entry.silent_readings + 1
            if decision.reason == "source_unavailable" and _is_silent(reading) and silent < SILENT_READINGS:
                self._keep(OpenCall(entry.call, decision.decided_at_ms, silent))
                continue
            self._close(entry, decision.decided_at_ms)
            _emit(entry.call, decision, reading, kept, out)

    async def _attempt(
        self, entry: OpenCall, clock_ms: int, listed: Answer[str] | None, gate: asyncio.Semaphore
    ) -> tuple[Decision, Reading]:
        call = entry.call
        async with gate:
            reading = await self._venues.read(call, entry.next_attempt_ms)
            if listed is None:
                reading.candles = None
            else:
                reading.keep("hyperliquid", listed, entry.next_attempt_ms)
                if call.coin not in listed.rows:
                    reading.delisted_at_ms[call.coin] = call.fields.deadline
            decision = decide(facts_of(call), reading.for_rules(), entry.next_attempt_ms)
            if decision.reason == "data_gap":
                await self._venues.add_references(call, entry.next_attempt_ms, reading)
                decision = decide(facts_of(call), reading.for_rules(), entry.next_attempt_ms)
        attempt_ms = entry.next_attempt_ms
        while decision.status == "ask_again" and attempt_ms + RETRY_MS <= clock_ms:
            attempt_ms += RETRY_MS
            decision = decide(facts_of(call), reading.for_rules(), attempt_ms)
        return decision, reading

    def _keep(self, entry: OpenCall) -> None:
        known = self._open.get(entry.call.id)
        if known is not None:
            self._due.discard((known.next_attempt_ms, known.call.id))
        self._remember(entry)
        stored = {
            "call": entry.call.model_dump(),
            "next_attempt": entry.next_attempt_ms,
            "silent": entry.silent_readings,
        }
        self.state.put(CALLS_PREFIX + entry.call.id, orjson.dumps(stored))

    def _remember(self, entry: OpenCall) -> None:
        self._open[entry.call.id] = entry
        self._due.add((entry.next_attempt_ms, entry.call.id))

    def _close(self, entry: OpenCall, settled_at_ms: int) -> None:
        del self._open[entry.call.id]
        self._due.discard((entry.next_attempt_ms, entry.call.id))
        self.state.delete(CALLS_PREFIX + entry.call.id)
        self._settled.add((settled_at_ms, entry.call.id))
        self.state.put(SETTLED_PREFIX + entry.call.id, str(settled_at_ms).encode())


def _is_silent(reading: Reading) -> bool:
    return reading.candles is None


def facts_of(call: Call) -> CallFacts:
    """Return what the rulebook settles of a call."""
    terms = parse_terms(call.fields.terms)
    return CallFacts(call.coin, terms, call.side, call.posted_at, call.fields.deadline, price_at_posting=call.s)


def settlement_of(call: Call, decision: Decision, reading: Reading) -> Settlement:
    """Return the settlement of a decided call, scored unless it is void (Rule F8)."""
    scored = None
    if decision.status in ("hit", "miss"):
        weight = COPY_WEIGHT if call.labels.copy_of is not None else 1.0
        scored = score(call.fields.p, call.b, decision.status == "hit", weight)
    return Settlement(
        id=f"{call.id}/0",
        call=call.id,
        attempt=0,
        agent=call.agent,
        operator=call.operator,
        coin=call.coin,
        kind=call.kind,
        source=call.fields.source,
        claim=call.fields.claim,
        terms=call.fields.terms,
        side=call.side,
        posted_at=call.posted_at,
        deadline=call.fields.deadline,
        p=call.fields.p,
        b=call.b,
        baseline_version=call.baseline_version,
        rules=RULES_VERSION,
        status=decision.status,
        reason=decision.reason,
        value=decision.value,
        second_value=decision.second_value,
        raw_score=None if scored is None else scored.raw,
        weight=None if scored is None else scored.weight,
        score=None if scored is None else scored.score,
        settled_at=decision.decided_at_ms,
        final_at=decision.decided_at_ms + FINALITY_MS,
        state="provisional",
        fetched=tuple(reading.fetched),
    )


def _emit(call: Call, decision: Decision, reading: Reading, kept: set[str], out: Outbox) -> None:
    settlement = settlement_of(call, decision, reading)
    at_ms = settlement.settled_at
    for evidence in reading.evidence:
        if evidence.sha256 not in kept:
            kept.add(evidence.sha256)
            out.emit(EVIDENCE, evidence.sha256, evidence, at_ms)
    out.emit(SETTLEMENTS, call.id, settlement, at_ms)
    out.emit(RESULTS, call.agent, settlement, at_ms)
    body = {
        "type": "void" if settlement.status == "void" else "settle",
        "call": call.id,
        "agent": call.agent,
        "status": settlement.status,
        "reason": settlement.reason,
        "value": list(settlement.value) if isinstance(settlement.value, tuple) else settlement.value,
        "second_value": settlement.second_value,
        "score": settlement.score,
        "rules": settlement.rules,
        "evidence": sorted({fetched.sha256 for fetched in settlement.fetched}),
    }
    entry = Entry(id=settlement.id, kind="settle", unit="standing", at=at_ms, body=body)
    out.emit(ENTRIES, settlement.id, entry, at_ms)


def spec(venues: Venues) -> AgentSpec:
    """Return the agent: sealed calls and the clock in, settlements, evidence and ledger entries out."""
    return AgentSpec(
        "settlement",
        (CALLS, CLOCK),
        (SETTLEMENTS, RESULTS, EVIDENCE, ENTRIES),
        lambda state: SettlementReducer(state, venues),
        asks_venue=True,
    )
