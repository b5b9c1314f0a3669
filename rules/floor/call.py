"""A call's shape and the refusals of a post, in their order (Rule F1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rules.floor.claim import claim_disagreement
from rules.floor.constants import (
    DAILY_CAP,
    DEADLINE_STEP_MS,
    HORIZON_MAX_MS,
    HORIZON_MIN_MS,
    OPEN_CAP,
    OPEN_CAP_PROVISIONAL,
    PROBABILITY_MAX,
    PROBABILITY_MIN,
)
from rules.floor.refusal import Refusal
from rules.floor.rounding import finite_number, whole_number
from rules.floor.sources import SettleableList, Source, has_source_shape
from rules.floor.terms import Side, Terms, TermsInvalidError, read_terms, side_of
from rules.floor.window import is_window_closing, natural_window_ms


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the right shape, as the agent sent it; terms are read later, against the source."""

    agent: str
    claim: str
    source: str
    terms: Mapping[str, object]
    deadline_ms: int
    p: float
    invalidation: str


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """A call that passed every check up to the claim: source and terms are those that will be sealed."""

    call: Call
    source: Source
    terms: Terms
    side: Side | None


def check_shape(body: object) -> Call | Refusal:
    """Read a post's body as a call, or refuse it as `malformed`. Rule F1."""
    if not isinstance(body, Mapping):
        return Refusal("malformed", "the call must be an object")
    texts: dict[str, str] = {}
    for name in ("agent", "claim", "source", "invalidation"):
        text = body.get(name)
        if not isinstance(text, str):
            return Refusal("malformed", f"{name} must be a string")
        if not _is_unicode(text):
            return Refusal("malformed", f"{name} holds a lone surrogate, which is no text")
        texts[name] = text
    if not texts["agent"]:
        return Refusal("malformed", "agent must not be empty")
    if not has_source_shape(texts["source"]):
        return Refusal("malformed", "source must have at least three non-empty parts between colons")
    terms = body.get("terms")
    if not isinstance(terms, Mapping):
        return Refusal("malformed", "terms must be an object")
    deadline_ms = whole_number(body.get("deadline"))
    if deadline_ms is None:
        return Refusal("malformed", "deadline must be a whole number of ms since the epoch")
    p = finite_number(body.get("p"))
    if p is None:
        return Refusal("malformed", "p must be a number")
    return Call(texts["agent"], texts["claim"], texts["source"], terms, deadline_ms, p, texts["invalidation"])


def check_agent(known: bool, signature_ok: bool, paused: bool) -> Refusal | None:
    """Refuse a post of an unknown agent, with a bad signature or by a paused agent, in this order. Rule F1."""
    if not known:
        return Refusal("unknown_agent", "agent is not registered on the Floor")
    if not signature_ok:
        return Refusal("bad_signature", "signature is not by the wallet of agent")
    if paused:
        return Refusal("paused", "agent is paused until it passes a challenge")
    return None


def check_call(
    call: Call, posted_at_ms: int, settleable: SettleableList, price_at_posting: float | None
) -> CheckedCall | Refusal:
    """Check source, terms, deadline, horizon, window, probability and claim, the first refusal wins.

    `settleable` is the list in force at `posted_at_ms`; `price_at_posting` is S of the stored source's
    symbol (`settleable.find(call.source)`), None when there is none or the source is no price. Rule F1.
    """
    source = settleable.find(call.source)
    if source is None:
        return Refusal("source_not_settleable", f"source is none of the {len(settleable.entries)} settleable ones")
    try:
        terms = read_terms(call.terms, source, settleable, price_at_posting)
    except TermsInvalidError as error:
        return Refusal("terms_invalid", str(error))
    refusal = check_deadline(call.deadline_ms, posted_at_ms) or check_probability(call.p)
    if refusal is not None:
        return refusal
    side = side_of(terms, price_at_posting)
    disagreement = claim_disagreement(call.claim, source, terms, side, call.deadline_ms, settleable)
    if disagreement is not None:
        return Refusal("claim_disagrees", disagreement)
    return CheckedCall(call, source, terms, side)


def check_deadline(deadline_ms: int, posted_at_ms: int) -> Refusal | None:
    """Refuse a deadline off the 5-minute grid, too near, too far or in its window's last tenth. Rules F1, F5."""
    if deadline_ms % DEADLINE_STEP_MS:
        return Refusal(
            "deadline_misaligned", f"deadline {_shown(deadline_ms)} is not a multiple of {DEADLINE_STEP_MS} ms"
        )
    horizon_ms = deadline_ms - posted_at_ms
    if horizon_ms < HORIZON_MIN_MS:
        return Refusal(
            "horizon_too_short", f"deadline is {_shown(horizon_ms)} ms ahead; the least is {HORIZON_MIN_MS} ms"
        )
    if horizon_ms > HORIZON_MAX_MS:
        return Refusal(
            "horizon_too_long", f"deadline is {_shown(horizon_ms)} ms ahead; the most is {HORIZON_MAX_MS} ms"
        )
    if is_window_closing(posted_at_ms, deadline_ms):
        window_ms = natural_window_ms(deadline_ms)
        return Refusal(
            "window_closing", f"deadline is {horizon_ms} ms ahead, in the last tenth of its window of {window_ms} ms"
        )
    return None


def check_probability(p: float) -> Refusal | None:
    """Refuse a probability outside [0.02, 0.98]. Rule F1."""
    if PROBABILITY_MIN <= p <= PROBABILITY_MAX:
        return None
    return Refusal("probability_out_of_range", f"p is {p!r}; it must lie in [{PROBABILITY_MIN}, {PROBABILITY_MAX}]")


def check_caps(sealed_today: int, open_calls: int, provisional: bool) -> Refusal | None:
    """Refuse a call beyond the caps; counts are those before this post, the day is UTC of `posted_at`. Rule F1."""
    if sealed_today >= DAILY_CAP:
        return Refusal("daily_cap", f"agent has {sealed_today} calls sealed this UTC day; the most is {DAILY_CAP}")
    open_cap = OPEN_CAP_PROVISIONAL if provisional else OPEN_CAP
    if open_calls >= open_cap:
        return Refusal("open_cap", f"agent has {open_calls} open calls; the most is {open_cap}")
    return None


def _shown(time_ms: int) -> str:
    # An absurd deadline must not become an absurd sentence (nor meet Python's limit on digits)
    return str(time_ms) if abs(time_ms) < 10**18 else "beyond 10^18"


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    return not any("\ud800" <= character <= "\udfff" for character in text)
