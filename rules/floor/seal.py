"""The seal of a call: a hash over everything that it is held to (Rule F7)."""

from __future__ import annotations

from dataclasses import dataclass

from rules.canonical import canonical_sha256
from rules.floor.call import CheckedCall
from rules.floor.sources import Source
from rules.floor.terms import Terms


@dataclass(frozen=True, slots=True)
class SealedFields:
    """The fields of a call that are sealed, source and `versus` as stored."""

    claim: str
    deadline_ms: int
    invalidation: str
    p: float
    source: Source
    terms: Terms

    @staticmethod
    def of(checked: CheckedCall) -> SealedFields:
        """Take the sealed fields of a checked call."""
        call = checked.call
        return SealedFields(call.claim, call.deadline_ms, call.invalidation, call.p, checked.source, checked.terms)


@dataclass(frozen=True, slots=True)
class SealedBaseline:
    """The baseline as sealed: six decimals, and the version of the calibration in force."""

    b: float
    version: str


def seal_document(agent: str, fields: SealedFields, baseline: SealedBaseline, posted_at_ms: int) -> dict[str, object]:
    """Return the JSON document that the seal is the hash of. Rule F7."""
    return {
        "agent": agent,
        "baseline": {"b": baseline.b, "version": baseline.version},
        "fields": {
            "claim": fields.claim,
            "deadline": fields.deadline_ms,
            "invalidation": fields.invalidation,
            "p": fields.p,
            "source": fields.source.text,
            "terms": fields.terms.as_json(),
        },
        "posted_at": posted_at_ms,
    }


def seal(agent: str, fields: SealedFields, baseline: SealedBaseline, posted_at_ms: int) -> str:
    """Return the seal, SHA-256 in lower-case hex of the document's canonical JSON. Rule F7.

    Raises CanonicalError when a string cannot be UTF-8, which `check_shape` has refused before.
    """
    return canonical_sha256(seal_document(agent, fields, baseline, posted_at_ms))
