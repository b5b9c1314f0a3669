"""The result of a `floor-call` bundle: receipt, seal, settlement and disputes, recomputed from its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rules.floor.baseline import baseline
from rules.floor.bundle.call_bundle import CallBundle, read_call_bundle
from rules.floor.bundle.fields import BundleError
from rules.floor.bundle.settlement_result import settlement_result
from rules.floor.call import Call, CheckedCall, check_agent, check_call, check_caps, check_shape
from rules.floor.labels import PostedCall, labels
from rules.floor.metric import metric_baseline
from rules.floor.prices import price_at_posting
from rules.floor.refusal import Refusal
from rules.floor.relative import relative_baseline
from rules.floor.seal import SealedBaseline, SealedFields, seal
from rules.floor.settle import CallFacts
from rules.floor.terms import Metric, Relative
from rules.floor.volatility import volatility


@dataclass(frozen=True, slots=True)
class _Priced:
    """A call with its baseline, and what the baseline and the settlement start from."""

    b: float
    s: float | None
    versus_s: float | None
    sigma: float | None


def evaluate_call(document: Mapping[str, object]) -> dict[str, object]:
    """Recompute a `floor-call` bundle; raises BundleError when it is malformed. Rules F1–F11."""
    bundle = read_call_bundle(document)
    call = check_shape(bundle.call)
    if isinstance(call, Refusal):
        return _rejected(call)
    checked = _check(bundle, call)
    if isinstance(checked, Refusal):
        return _rejected(checked)
    priced = _price(bundle, checked)
    if isinstance(priced, Refusal):
        return _rejected(priced)
    return _accepted(bundle, checked, priced)


def _check(bundle: CallBundle, call: Call) -> CheckedCall | Refusal:
    agent = bundle.agent
    if agent.id != call.agent:
        raise BundleError("agent.id: must be that of call.agent")
    refusal = check_agent(agent.known, agent.signature_ok, agent.paused)
    if refusal is not None:
        return refusal
    source = bundle.settleable.find(call.source)
    s = None
    if source is not None and source.is_price:
        s = price_at_posting(bundle.symbol(source.venue, source.symbol).candles_5m, bundle.posted_at_ms)
    checked = check_call(call, bundle.posted_at_ms, bundle.settleable, s)
    if isinstance(checked, Refusal):
        return checked
    return check_caps(agent.sealed_today, agent.open_calls, agent.provisional) or checked


def _price(bundle: CallBundle, checked: CheckedCall) -> _Priced | Refusal:
    source, terms = checked.source, checked.terms
    posted_at_ms, deadline_ms = bundle.posted_at_ms, checked.call.deadline_ms
    if isinstance(terms, Metric):
        b = metric_baseline(bundle.metric(source), terms, source, posted_at_ms, deadline_ms)
        return (
            Refusal("no_baseline", "fewer than 24 windows in the base rate") if b is None else _Priced(b, *[None] * 3)
        )
    own = bundle.symbol(source.venue, source.symbol)
    s = price_at_posting(own.candles_5m, posted_at_ms)
    if s is None:
        return Refusal("no_baseline", "no print within 600000 ms before posting")
    if isinstance(terms, Relative):
        versus = bundle.symbol(source.venue, terms.versus)
        versus_s = price_at_posting(versus.candles_5m, posted_at_ms)
        if versus_s is None:
            return Refusal("no_baseline", "no print of versus within 600000 ms before posting")
        b = relative_baseline(own.candles_1h, versus.candles_1h, posted_at_ms, deadline_ms)
        return _Priced(b, s, versus_s, None)
    sigma = volatility(own.candles_1h, posted_at_ms)
    if sigma is None:
        return Refusal("no_baseline", "fewer than 168 hourly returns, or none that moved")
    return _Priced(baseline(terms, s, sigma, posted_at_ms, deadline_ms, bundle.calibration), s, None, sigma)


def _accepted(bundle: CallBundle, checked: CheckedCall, priced: _Priced) -> dict[str, object]:
    call, source, terms = checked.call, checked.source, checked.terms
    version = bundle.calibration.version
    posted = PostedCall(
        call="",
        agent=call.agent,
        operator=bundle.agent.operator,
        ranked=bundle.agent.ranked,
        source=source.text,
        terms=terms,
        side=checked.side,
        posted_at_ms=bundle.posted_at_ms,
    )
    fixed = labels(posted, call.p, priced.b, bundle.earlier_calls)
    facts = CallFacts(
        source.symbol, terms, checked.side, bundle.posted_at_ms, call.deadline_ms, priced.s, priced.versus_s
    )
    return {
        "receipt": {"status": "accepted", "code": None},
        "s": priced.s,
        "sigma": priced.sigma,
        "b": priced.b,
        "baseline_version": version,
        "side": checked.side,
        "seal": seal(call.agent, SealedFields.of(checked), SealedBaseline(priced.b, version), bundle.posted_at_ms),
        "labels": {
            "baseline_hugging": fixed.baseline_hugging,
            "copy_of": fixed.copy_of,
            "correlated_with": list(fixed.correlated_with),
        },
        "settlement": settlement_result(bundle, source, facts, call.p, priced.b, fixed.weight),
    }


def _rejected(refusal: Refusal) -> dict[str, object]:
    return {"receipt": {"status": "rejected", "code": refusal.code}}
