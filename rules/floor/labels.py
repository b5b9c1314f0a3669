"""Labels fixed at sealing: baseline hugging, copies and correlated calls (Rule F7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rules.floor.constants import (
    COPY_LEVEL_DISTANCE,
    COPY_WEIGHT,
    COPY_WINDOW_MS,
    CORRELATION_WINDOW_MS,
    HUGGING_DISTANCE,
)
from rules.floor.rounding import within
from rules.floor.terms import Metric, Relative, Side, Terms, named_levels


@dataclass(frozen=True, slots=True)
class PostedCall:
    """What labels need of a call: who posted it, when, on what; `ranked` is as of its own posting."""

    call: str
    agent: str
    operator: str
    ranked: bool
    source: str
    terms: Terms
    side: Side | None
    posted_at_ms: int


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a sealed call; `correlated_with` names earlier calls in order of posting."""

    baseline_hugging: bool
    copy_of: str | None
    correlated_with: tuple[str, ...]

    @property
    def weight(self) -> float:
        """Return the weight of the call's score: 0.5 for a copy, else 1. Rule F8."""
        return 1.0 if self.copy_of is None else COPY_WEIGHT


def labels(new: PostedCall, p: float, b: float, earlier: Sequence[PostedCall]) -> Labels:
    """Return the labels of a new call; `earlier` are the calls before it, in broker order. Rule F7."""
    return Labels(is_hugging(p, b), copy_of(new, earlier), correlated_with(new, earlier))


def is_hugging(p: float, b: float) -> bool:
    """Tell whether a probability lies within five points of the baseline. Rule F7."""
    return within(abs(p - b), HUGGING_DISTANCE)


def copy_of(new: PostedCall, earlier: Sequence[PostedCall]) -> str | None:
    """Name the earliest call of another ranked agent that a new call copies, None for an original. Rule F7."""
    copied = [other for other in earlier if _is_copy(new, other)]
    return min(copied, key=_posted_at).call if copied else None


def correlated_with(new: PostedCall, earlier: Sequence[PostedCall]) -> tuple[str, ...]:
    """Name the calls of the operator's other agents on the same source in the hour before. Rule F7."""
    correlated = [
        other
        for other in earlier
        if other.operator == new.operator
        and other.agent != new.agent
        and other.source == new.source
        and 0 <= new.posted_at_ms - other.posted_at_ms <= CORRELATION_WINDOW_MS
    ]
    return tuple(other.call for other in sorted(correlated, key=_posted_at))


def _is_copy(new: PostedCall, other: PostedCall) -> bool:
    return (
        other.ranked
        and other.agent != new.agent
        and other.source == new.source
        and other.terms.kind == new.terms.kind
        and other.side == new.side
        and 0 <= new.posted_at_ms - other.posted_at_ms <= COPY_WINDOW_MS
        and _is_similar(new.terms, other.terms)
    )


def _is_similar(new: Terms, other: Terms) -> bool:
    if isinstance(new, Relative) and isinstance(other, Relative):
        return new.versus == other.versus
    if isinstance(new, Metric) and isinstance(other, Metric):
        return within(abs(new.level - other.level), COPY_LEVEL_DISTANCE * abs(other.level))
    pairs = zip(named_levels(new), named_levels(other), strict=True)
    return all(within(abs(math.log(level / earlier)), COPY_LEVEL_DISTANCE) for (_, level), (_, earlier) in pairs)


def _posted_at(call: PostedCall) -> int:
    return call.posted_at_ms
