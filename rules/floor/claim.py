"""Whether a claim agrees with its terms (Rule F3)."""

from __future__ import annotations

from rules.floor.sources import SettleableList, Source
from rules.floor.terms import Side, Terms


def claim_disagreement(
    claim: str, source: Source, terms: Terms, side: Side | None, deadline_ms: int, settleable: SettleableList
) -> str | None:
    """Say in one sentence how a claim disagrees with its terms, None when it does not. Rule F3."""
    return None
