"""The door of the bus: takes signed envelopes in, once each, and answers every other record with a rejection.

The id of an envelope, bare, belongs to the one time it was taken in. A rejection given here has the record's position
behind it, `<id>:<partition>:<offset>`: anyone can send a copy of somebody's envelope again, late or under another key,
and must not get to overwrite the answer to the original. For the same reason nothing here becomes a dead letter, of
which the worker bears only so many.
"""

import hashlib
import heapq
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import orjson
from aiokafka.partitioner import DefaultPartitioner
from aiokafka.structs import ConsumerRecord

from agents.ingress_arena import read_commit, read_open, read_reveal
from agents.ingress_envelope import Place, RejectedError, read_envelope
from agents.ingress_floor import is_name, post_of, read_call, read_name, read_register
from rules.floor.call import check_agent
from streams.delivery.outbox import Outbox
from streams.delivery.reducer import AgentSpec, Reducer
from streams.delivery.state import PartitionState
from streams.signing import envelope_id, recover_signer
from topics.floor import Position
from topics.ingress import KINDS, Envelope, Receipt
from topics.keys import coin_key
from topics.registry import COMMITS, INGRESS, POSTS, RECEIPTS, REVEALS

STALE_AFTER_MS: Final = 600_000
# an envelope is good from 10 minutes before its issued_at to 10 minutes behind it, so a copy is for no longer than this
REMEMBERED_MS: Final = 2 * STALE_AFTER_MS

AGENTS_PREFIX: Final = "agents/"
SEEN_PREFIX: Final = "seen/"
OPENED_PREFIX: Final = "opened/"

UNKNOWN: Final = ""

Handler = Callable[[Envelope, Place, Outbox], None]


class IngressReducer(Reducer):
    """The agents, the opened records' count and the envelopes seen lately, of the keys of one partition."""

    def __init__(self, state: PartitionState, partitions: int) -> None:
        super().__init__(state)
        self._partitions = partitions
        self._seen = [(int(orjson.loads(raw)["at"]), key) for key, raw in state.items(SEEN_PREFIX)]
        heapq.heapify(self._seen)
        self._handlers: Mapping[str, Handler] = {
            "floor.register": self._register,
            "floor.call": self._call,
            "arena.open": self._open,
            "arena.commit": self._commit,
            "arena.reveal": self._reveal,
        }

    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Take one envelope in, or answer why not."""
        self._forget_before(record.timestamp - REMEMBERED_MS)
        envelope = None
        try:
            envelope = read_envelope(record.value)
            handler = self._handler(envelope.kind)
            self._check_route(envelope, record)
            self._check_age(envelope, record)
            handler(envelope, place_of(envelope, record), out)
        except RejectedError as error:
            self._reject(envelope, error, record, out)

    def _handler(self, kind: str) -> Handler:
        if kind not in KINDS:
            raise RejectedError("unknown_kind", f"kind must be one of {', '.join(KINDS)}")
        handler = self._handlers.get(kind)
        if handler is None:
            raise RejectedError("not_supported", f"kind {kind} is known, but this version does not handle it")
        return handler

    def _check_route(self, envelope: Envelope, record: ConsumerRecord) -> None:
        on_the_floor = envelope.kind.startswith("floor.")
        owner = read_name("agent", envelope.body) if on_the_floor else envelope.signer
        if record.key != owner.encode():
            name = "agent of the body" if on_the_floor else "signer in lower case"
            raise RejectedError("misrouted", f"the record's key must be the {name}, as UTF-8 text")
        home = partition_of(record.key, self._partitions)
        if record.partition != home:
            raise RejectedError(
                "misrouted",
                f"partition is {record.partition}, this key belongs to partition {home} of {self._partitions}"
                " (murmur2 of the key, the default of Kafka's own client)",
            )

    def _check_age(self, envelope: Envelope, record: ConsumerRecord) -> None:
        age_ms = record.timestamp - envelope.issued_at
        if abs(age_ms) > STALE_AFTER_MS:
            raise RejectedError(
                "stale",
                f"issued_at is {envelope.issued_at}, {age_ms} ms before the record's time {record.timestamp};"
                f" the most is {STALE_AFTER_MS} ms either way",
            )

    def _check_signature(self, envelope: Envelope) -> None:
        if recover_signer(envelope) != envelope.signer:
            raise RejectedError(
                "bad_signature",
                "signature is not by signer over the envelope's text, or not in the one accepted form:"
                " 65 bytes as lower-case 0x hex, low s, v 27 or 28",
            )

    def _take_in(self, place: Place) -> None:
        """Let an envelope in once, and remember it until every copy of it is stale."""
        earlier = self.state.get(SEEN_PREFIX + place.id)
        if earlier is not None:
            seen = orjson.loads(earlier)
            raise RejectedError(
                "duplicate", f"this envelope was taken in at partition {seen['partition']}, offset {seen['offset']}"
            )
        entry = {"at": place.at_ms, "partition": place.position.partition, "offset": place.position.offset}
        self.state.put(SEEN_PREFIX + place.id, orjson.dumps(entry))
        heapq.heappush(self._seen, (place.at_ms, place.id))

    def _forget_before(self, time_ms: int) -> None:
        while self._seen and self._seen[0][0] < time_ms:
            self.state.delete(SEEN_PREFIX + heapq.heappop(self._seen)[1])

    def _register(self, envelope: Envelope, place: Place, out: Outbox) -> None:
        wish = read_register(envelope.body)
        self._check_signature(envelope)
        wallet, _ = self._agent(wish.agent)
        if wallet not in (UNKNOWN, envelope.signer):
            raise RejectedError("agent_taken", "agent is registered already, with the wallet of another signer")
        self._take_in(place)
        if wallet == UNKNOWN:
            entry = {"wallet": envelope.signer, "operator": wish.operator}
            self.state.put(AGENTS_PREFIX + wish.agent, orjson.dumps(entry))
            detail = "agent is registered with the wallet of signer"
        else:
            detail = "agent was registered with this wallet before, nothing changed"
        receipt = Receipt(
            id=place.id,
            kind=envelope.kind,
            agent=wish.agent,
            status="accepted",
            code=None,
            detail=detail,
            ref=wish.agent,
            at=place.at_ms,
        )
        out.emit(RECEIPTS, wish.agent, receipt, place.at_ms)

    def _call(self, envelope: Envelope, place: Place, out: Outbox) -> None:
        call = read_call(envelope.body)
        wallet, operator = self._agent(call.agent)
        refusal = check_agent(known=wallet != UNKNOWN, signature_ok=wallet == envelope.signer, paused=False)
        if refusal is not None:
            raise RejectedError(refusal.code, refusal.detail)
        self._check_signature(envelope)
        self._take_in(place)
        post = post_of(call, operator, place)
        out.emit(POSTS, coin_key(post.coin), post, place.at_ms)

    def _open(self, envelope: Envelope, place: Place, out: Outbox) -> None:
        counter = OPENED_PREFIX + envelope.signer
        number = int(self.state.get(counter) or b"0") + 1
        opened = read_open(envelope, place, number)
        self._check_signature(envelope)
        self._take_in(place)
        self.state.put(counter, str(number).encode())
        out.emit(COMMITS, opened.record, opened, place.at_ms)

    def _commit(self, envelope: Envelope, place: Place, out: Outbox) -> None:
        commit = read_commit(envelope, place)
        self._check_signature(envelope)
        self._take_in(place)
        out.emit(COMMITS, commit.record, commit, place.at_ms)

    def _reveal(self, envelope: Envelope, place: Place, out: Outbox) -> None:
        reveal = read_reveal(envelope, place)
        self._check_signature(envelope)
        self._take_in(place)
        out.emit(REVEALS, reveal.record, reveal, place.at_ms)

    def _agent(self, agent: str) -> tuple[str, str]:
        raw = self.state.get(AGENTS_PREFIX + agent)
        entry = {} if raw is None else orjson.loads(raw)
        return entry.get("wallet", UNKNOWN), entry.get("operator", UNKNOWN)

    def _reject(self, envelope: Envelope | None, error: RejectedError, record: ConsumerRecord, out: Outbox) -> None:
        identity = None if envelope is None else envelope_id(envelope)
        identity = identity or hashlib.sha256(record.value or b"").hexdigest()
        answer_id = f"{identity}:{record.partition}:{record.offset}"
        sender = sender_of(record.key)
        receipt = Receipt(
            id=answer_id,
            kind=envelope.kind if envelope is not None and envelope.kind in KINDS else "unknown",
            agent=sender,
            status="rejected",
            code=error.code,
            detail=error.detail,
            ref=None,
            at=record.timestamp,
        )
        out.emit(RECEIPTS, sender or answer_id, receipt, record.timestamp)


def partition_of(key: bytes, partitions: int) -> int:
    """Return the partition that Kafka's default partitioner gives a key: murmur2 modulo the count."""
    everywhere = range(partitions)
    return int(DefaultPartitioner()(key, everywhere, everywhere))


def place_of(envelope: Envelope, record: ConsumerRecord) -> Place:
    """Return the place of an envelope; its id is empty where the signature is in no form that will be taken in."""
    position = Position(partition=record.partition, offset=record.offset)
    return Place(envelope_id(envelope) or "", record.timestamp, position)


def sender_of(key: bytes | None) -> str:
    """Return the agent or account that a record's key names; empty where it can name none."""
    text = (key or b"").decode("utf-8", "replace")
    return text if is_name(text) else ""


def spec(partitions: int) -> AgentSpec:
    """Describe the agent on a bus whose spread topics have this many partitions."""
    return AgentSpec(
        name="ingress",
        inputs=(INGRESS,),
        outputs=(RECEIPTS, POSTS, COMMITS, REVEALS),
        reducer=partial(IngressReducer, partitions=partitions),
    )
