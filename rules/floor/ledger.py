"""The append-only ledger: entries chained by their hashes, and the heads published over them (Rule F12)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from rules.canonical import canonical_json

GENESIS_HASH = "0" * 64
STANDING_UNIT = "standing"


@dataclass(frozen=True, slots=True)
class Entry:
    """One ledger entry; `kind` is `settle` or `seal`, `at_ms` its time, `prev` the hash of the entry before."""

    seq: int
    kind: str
    unit: str
    at_ms: int
    body: Mapping[str, object]
    prev: str
    hash: str

    def as_json(self) -> dict[str, object]:
        """Return the entry as it is published, with its hash."""
        return {**entry_content(self.seq, self.kind, self.unit, self.at_ms, self.body, self.prev), "hash": self.hash}

    def leaf(self) -> bytes:
        """Return the entry's canonical JSON bytes, the leaf of the Merkle tree. Rule F12."""
        return canonical_json(self.as_json())


def entry_content(
    seq: int, kind: str, unit: str, at_ms: int, body: Mapping[str, object], prev: str
) -> dict[str, object]:
    """Return an entry without its hash, which is what the hash is taken of. Rule F12."""
    return {"seq": seq, "kind": kind, "unit": unit, "at": at_ms, "body": body, "prev": prev}


def entry_hash(seq: int, kind: str, unit: str, at_ms: int, body: Mapping[str, object], prev: str) -> str:
    """Return an entry's hash in hex; raises CanonicalError when the body has no canonical JSON. Rule F12."""
    return hashlib.sha256(canonical_json(entry_content(seq, kind, unit, at_ms, body, prev))).hexdigest()


def append(last: Entry | None, kind: str, at_ms: int, body: Mapping[str, object], unit: str = STANDING_UNIT) -> Entry:
    """Return the entry that follows `last` (None for the first one). Rule F12."""
    seq = 0 if last is None else last.seq + 1
    prev = GENESIS_HASH if last is None else last.hash
    return Entry(seq, kind, unit, at_ms, body, prev, entry_hash(seq, kind, unit, at_ms, body, prev))
