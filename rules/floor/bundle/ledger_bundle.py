"""`floor-ledger` bundles: the hash chain, the root and the proofs asked for, recomputed."""

from __future__ import annotations

from collections.abc import Mapping

from rules.canonical import CanonicalError
from rules.floor.bundle.fields import BundleError, Fields
from rules.floor.constants import RULES_VERSION
from rules.floor.ledger import GENESIS_HASH, Entry, append
from rules.floor.merkle import consistency_proof, inclusion_proof, leaf_hash, root


def evaluate_ledger(document: Mapping[str, object]) -> dict[str, object]:
    """Recompute a `floor-ledger` bundle; raises BundleError when it is malformed. Rule F12."""
    bundle = Fields(document)
    if "rules" in bundle.raw:
        bundle.choice("rules", (RULES_VERSION,))
    entries: list[Entry] = []
    for fields in bundle.objects("entries"):
        entries.append(_append(entries[-1] if entries else None, fields))
    leaves = [leaf_hash(entry.leaf()) for entry in entries]
    return {
        "hashes": [entry.hash for entry in entries],
        "head": entries[-1].hash if entries else GENESIS_HASH,
        "root": root(leaves).hex(),
        "inclusion": _inclusion(bundle, leaves),
        "consistency": _consistency(bundle, leaves),
    }


def _append(last: Entry | None, fields: Fields) -> Entry:
    kind = fields.choice("kind", ("settle", "seal"))
    unit = fields.text("unit")
    body = fields.fields("body")
    try:
        return append(last, kind, fields.time_ms("at"), body.raw, unit)
    except CanonicalError as error:
        raise BundleError(f"{fields.path}: {error}") from error


def _inclusion(bundle: Fields, leaves: list[bytes]) -> list[str] | None:
    if not bundle.has("prove"):
        return None
    asked = bundle.fields("prove")
    try:
        return [node.hex() for node in inclusion_proof(leaves, asked.count("leaf"), asked.count("size"))]
    except ValueError as error:
        raise error if isinstance(error, BundleError) else BundleError(f"prove: {error}") from error


def _consistency(bundle: Fields, leaves: list[bytes]) -> list[str] | None:
    if not bundle.has("consistency"):
        return None
    asked = bundle.fields("consistency")
    try:
        return [node.hex() for node in consistency_proof(leaves, asked.count("from"), asked.count("to"))]
    except ValueError as error:
        raise error if isinstance(error, BundleError) else BundleError(f"consistency: {error}") from error
