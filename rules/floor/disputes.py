"""Disputes of a settlement and when its result becomes final (Rule F11)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rules.floor.constants import FINALITY_MS

FinalStatus = Literal["hit", "miss", "void"]
FINAL_STATUSES: tuple[FinalStatus, ...] = ("hit", "miss", "void")
DisputeOutcome = Literal["upheld", "overturned", "evidence_required", "window_closed"]

_RELATIVE_TOLERANCE = 1e-9
_ABSOLUTE_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Dispute:
    """A flag or dispute: when, by whom, ranked or not, with what evidence."""

    at_ms: int
    by: str
    ranked: bool
    evidence: str


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """A result as published or last corrected; a void has no score."""

    status: FinalStatus
    score: float | None


@dataclass(frozen=True, slots=True)
class JudgedDispute:
    """A dispute and what came of it."""

    dispute: Dispute
    outcome: DisputeOutcome


def screen_dispute(dispute: Dispute, settled_at_ms: int) -> Literal["evidence_required", "window_closed"] | None:
    """Turn away a dispute out of the 24 hours or, of an unranked agent, without evidence; None opens it. Rule F11."""
    if not settled_at_ms <= dispute.at_ms < settled_at_ms + FINALITY_MS:
        return "window_closed"
    if not dispute.ranked and not dispute.evidence.strip():
        return "evidence_required"
    return None


def is_same_result(published: PublishedResult, rerun: PublishedResult) -> bool:
    """Tell whether a re-run upholds a result: same status, same score to 1e-9 relative or 1e-12. Rule F11."""
    if published.status != rerun.status:
        return False
    if published.score is None or rerun.score is None:
        return published.score is rerun.score
    return math.isclose(published.score, rerun.score, rel_tol=_RELATIVE_TOLERANCE, abs_tol=_ABSOLUTE_TOLERANCE)


def judge_disputes(
    disputes: Iterable[Dispute], settled_at_ms: int, published: PublishedResult, rerun: PublishedResult
) -> tuple[JudgedDispute, ...]:
    """Judge disputes in order of time, each decided the moment it comes; one that overturns corrects. Rule F11."""
    judged: list[JudgedDispute] = []
    for dispute in sorted(disputes, key=lambda dispute: dispute.at_ms):
        outcome: DisputeOutcome | None = screen_dispute(dispute, settled_at_ms)
        if outcome is None and is_same_result(published, rerun):
            outcome = "upheld"
        elif outcome is None:
            outcome = "overturned"
            published = rerun
        judged.append(JudgedDispute(dispute, outcome))
    return tuple(judged)


def final_at_ms(settled_at_ms: int, decided_at_ms: Sequence[int | None] = ()) -> int | None:
    """Return when a result becomes final: after 24 hours, or with the last of its opened disputes to be decided.

    `decided_at_ms` has one entry an opened dispute, None while it is open: then the time is not known. Rule F11.
    """
    decided = [at_ms for at_ms in decided_at_ms if at_ms is not None]
    if len(decided) < len(decided_at_ms):
        return None
    return max(settled_at_ms + FINALITY_MS, *decided) if decided else settled_at_ms + FINALITY_MS
