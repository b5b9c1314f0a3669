"""The ledger recomputed: one sorted list, a loop of hashes, and Merkle roots straight from RFC 6962's recursion."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import rfc8785

Json = dict[str, Any]
HOUR_MS = 3_600_000


def seal_entry(document: Json, call: str) -> Json:
    """Return the entry of a seal."""
    body = {"type": "seal", "call": call, "seal": call, "document": document}
    return {"id": call, "kind": "seal", "unit": "standing", "at": document["posted_at"], "body": body}


def settle_entry(settlement: Json, evidence: Iterable[str]) -> Json:
    """Return the entry of a settlement; `evidence` are the hashes of the raw answers that it rests on."""
    names = ("call", "agent", "status", "reason", "value", "second_value", "score", "rules")
    body = {
        "type": "void" if settlement["status"] == "void" else "settle",
        **{name: settlement[name] for name in names},
        "evidence": sorted(set(evidence)),
    }
    return {
        "id": settlement["id"],
        "kind": "settle",
        "unit": "standing",
        "at": settlement["settled_at"],
        "body": body,
    }


def chained(entries: Iterable[Json]) -> list[Json]:
    """Return the entries in their order, each with its number, the hash before it and its own (Rule F12)."""
    chain: list[Json] = []
    prev = "0" * 64
    for seq, entry in enumerate(sorted(entries, key=lambda one: (one["at"], one["kind"], one["id"]))):
        hashed = {name: entry[name] for name in ("kind", "unit", "at", "body")} | {"seq": seq, "prev": prev}
        prev = hashlib.sha256(rfc8785.dumps(hashed)).hexdigest()
        chain.append({**entry, "seq": seq, "prev": hashed["prev"], "hash": prev})
    return chain


def hourly_heads(chain: Sequence[Json], end_ms: int) -> list[Json]:
    """Return the head of every whole hour after the first entry, up to `end_ms` (Rule F12)."""
    first_ms = (chain[0]["at"] // HOUR_MS + 1) * HOUR_MS
    leaves = [_leaf(entry) for entry in chain]
    heads = []
    for at_ms in range(first_ms, end_ms + 1, HOUR_MS):
        size = sum(entry["at"] < at_ms for entry in chain)
        heads.append({"at": at_ms, "size": size, "head": chain[size - 1]["hash"], "root": _root(leaves[:size]).hex()})
    return heads


def _leaf(entry: Json) -> bytes:
    published = {name: value for name, value in entry.items() if name != "id"}
    return hashlib.sha256(b"\x00" + rfc8785.dumps(published)).digest()


def _root(leaves: Sequence[bytes]) -> bytes:
    if len(leaves) == 1:
        return leaves[0]
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return hashlib.sha256(b"\x01" + _root(leaves[:half]) + _root(leaves[half:])).digest()
