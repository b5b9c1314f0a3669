"""Refusals: why a post is not sealed, as a code and one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RefusalCode = Literal[
    "malformed",
    "unknown_agent",
    "bad_signature",
    "paused",
    "source_not_settleable",
    "terms_invalid",
    "deadline_misaligned",
    "horizon_too_short",
    "horizon_too_long",
    "window_closing",
    "probability_out_of_range",
    "claim_disagrees",
    "daily_cap",
    "open_cap",
    "no_baseline",
]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused post. The detail names field, value and limit and never repeats an agent's words. Rule F1."""

    code: RefusalCode
    detail: str
