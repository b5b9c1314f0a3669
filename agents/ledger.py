"""Appends entries to the hash chain in one order, and publishes its head on every hour (Rule F12)."""

from dataclasses import dataclass, field, replace

import orjson
from aiokafka.structs import ConsumerRecord

from rules.canonical import CanonicalError, canonical_json
from rules.floor import ledger
from rules.floor.merkle import Frontier
from rules.market import HOUR_MS
from streams.delivery.outbox import Outbox
from streams.delivery.pending import Order, Pending
from streams.delivery.reducer import AgentSpec, PoisonError, Reducer
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from topics.operations import Entry, Head, LedgerEntry
from topics.registry import ENTRIES, HEADS, LEDGER

PENDING = "pending/"
APPENDED = "appended/"
CHAIN = "chain"


@dataclass(frozen=True, slots=True)
class Chain:
    """How far the chain has come: its last entry, its Merkle tree, and the hour of its next head."""

    last: ledger.Entry | None = None
    tree: Frontier = field(default_factory=Frontier)
    next_head_ms: int | None = None

    def encode(self) -> bytes:
        """Return the chain's end as the state holds it."""
        return orjson.dumps(
            {
                "last": None if self.last is None else self.last.as_json(),
                "size": self.tree.size,
                "subtrees": [subtree.hex() for subtree in self.tree.subtrees],
                "next_head_ms": self.next_head_ms,
            }
        )

    @classmethod
    def decode(cls, raw: bytes) -> "Chain":
        """Return the chain's end that `encode` wrote."""
        fields = orjson.loads(raw)
        last = fields["last"]
        if last is not None:
            last = ledger.Entry(last.pop("seq"), last.pop("kind"), last.pop("unit"), last.pop("at"), **last)
        tree = Frontier(fields["size"], tuple(bytes.fromhex(subtree) for subtree in fields["subtrees"]))
        return cls(last, tree, fields["next_head_ms"])

    def follow(self, entry: Entry) -> ledger.Entry:
        """Return the entry as the next of the chain. Rule F12."""
        return ledger.append(self.last, entry.kind, entry.at, entry.body, entry.unit)

    def append(self, entry: ledger.Entry) -> "Chain":
        """Return the chain with the entry that follows; the first one fixes the hour of the first head. Rule F12."""
        next_head_ms = self.next_head_ms
        if next_head_ms is None:
            next_head_ms = (entry.at_ms // HOUR_MS + 1) * HOUR_MS
        return Chain(entry, self.tree.append(entry.leaf()), next_head_ms)


def append_order(entry: Entry) -> Order:
    """Return the order in which entries are appended."""
    return entry.at, entry.kind, entry.id


class LedgerReducer(Reducer):
    """The one chain: entries by (`at`, kind, id) once the watermark has passed them, each id once for good.

    The head of hour H covers the entries with `at` < H and is published once the watermark has reached H, before any
    entry of a later time is appended: it depends on the entries alone, not on the steps in which the watermark moved.
    There is a head for every hour from the first entry's on, also for hours without an entry. An entry from behind the
    watermark is appended as it comes, and the next head is the first to cover it: a published head never changes.
    """

    def __init__(self, state: PartitionState) -> None:
        super().__init__(state)
        self._pending = Pending(state, PENDING, Entry, append_order)
        known = state.get(CHAIN)
        self._chain = Chain() if known is None else Chain.decode(known)

    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Let an entry wait for its turn; raises PoisonError for a body that has no canonical JSON."""
        entry = Entry.decode(record.value)
        try:
            canonical_json(entry.body)
        except CanonicalError as error:
            raise PoisonError("not_canonical", f"body of entry {entry.id}: {error}") from error
        self._pending.add(entry)

    async def advance(self, watermarks: WatermarkTracker, out: Outbox) -> int | None:
        """Append what the watermark has passed, and publish the head of each hour that it has reached."""
        watermark = watermarks.current()
        if watermark is None:
            return None
        before = self._chain
        for entry in self._pending.pop_before(watermark):
            if self.state.get(APPENDED + entry.id) is None:
                self._publish_heads(entry.at, out)
                self._append(entry, out)
        self._publish_heads(watermark, out)
        if self._chain is not before:
            self.state.put(CHAIN, self._chain.encode())
        return watermark

    def _append(self, entry: Entry, out: Outbox) -> None:
        last = self._chain.follow(entry)
        self._chain = self._chain.append(last)
        self.state.put(APPENDED + entry.id, str(last.seq).encode())
        appended = LedgerEntry(
            id=entry.id,
            seq=last.seq,
            kind=entry.kind,
            unit=entry.unit,
            at=entry.at,
            body=entry.body,
            prev=last.prev,
            hash=last.hash,
        )
        out.emit(LEDGER, str(last.seq), appended, entry.at)

    def _publish_heads(self, through_ms: int, out: Outbox) -> None:
        chain = self._chain
        while chain.last is not None and chain.next_head_ms is not None and chain.next_head_ms <= through_ms:
            at_ms = chain.next_head_ms
            head = Head(at=at_ms, size=chain.tree.size, head=chain.last.hash, root=chain.tree.root().hex())
            out.emit(HEADS, str(at_ms), head, at_ms)
            chain = replace(chain, next_head_ms=at_ms + HOUR_MS)
        self._chain = chain


def spec() -> AgentSpec:
    """Return the agent that appends `ledger.entries` to `ledger` and publishes `heads`; it has one partition."""
    return AgentSpec(
        name="ledger",
        inputs=(ENTRIES,),
        outputs=(LEDGER, HEADS),
        reducer=LedgerReducer,
        single_partition=True,
    )
