"""Settlement: one attempt's decision from what the venues showed, and its score (Rules F4, F8)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rules.floor.constants import (
    GRACE_MS,
    REFERENCE_SYMBOLS,
    RETRY_LIMIT_MS,
    SECOND_VENUE_MAX_AGE_MS,
    VENUE_DISTANCE,
)
from rules.floor.metric import MetricReading, value_at
from rules.floor.prices import fresh_close, holes, prints_inside
from rules.floor.rounding import within
from rules.floor.terms import Close, Metric, Range, Relative, Side, Terms, Touch
from rules.market import Candle

Status = Literal["hit", "miss", "void", "ask_again"]
Reason = Literal["delisted", "venue_halt", "data_gap", "tie", "venues_disagree", "source_unavailable"]
Value = float | tuple[float, float]


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What is settled: the sealed terms on a symbol, the window, and S (both symbols' for relative)."""

    symbol: str
    terms: Terms
    side: Side | None
    posted_at_ms: int
    deadline_ms: int
    price_at_posting: float | None = None
    versus_price_at_posting: float | None = None


@dataclass(frozen=True, slots=True)
class VenueReading:
    """What one attempt read: 5-minute candles of the pinned venue by symbol, ascending, fillers allowed.

    `candles` is None when the pinned venue did not answer; beside the call's own symbols it may hold BTC, ETH
    and SOL, which only a hole makes needed. `second` are the second venue's candles of the call's symbol, None
    when it did not answer. `metric` is the series of a metric call, None when its source did not answer.
    """

    candles: Mapping[str, Sequence[Candle]] | None = None
    second: Sequence[Candle] | None = None
    delisted_at_ms: Mapping[str, int | None] = field(default_factory=dict)
    metric: MetricReading | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """An attempt's outcome. `ask_again` names in `reason` what it waits for; ask after 60 s, with both venues re-read.

    `value` is the extreme reached (touch), X (close), (min low, max high) (range), the metric's value, or
    X_A/S_A − X_B/S_B (relative); `second_value` is Y. A void carries neither.
    """

    status: Status
    reason: Reason | None
    value: Value | None
    second_value: float | None
    decided_at_ms: int


@dataclass(frozen=True, slots=True)
class Score:
    """A score in Standing points: raw, weight (0.5 for a copy) and their product."""

    raw: float
    weight: float
    score: float


def score(p: float, b: float, hit: bool, weight: float = 1.0) -> Score:
    """Score a probability against the baseline: 100·log2 of the ratio of what they gave to the outcome. Rule F8."""
    raw = 100 * math.log2(p / b if hit else (1 - p) / (1 - b))
    return Score(raw, weight, raw * weight)


def decide(facts: CallFacts, reading: VenueReading, asked_at_ms: int) -> Decision:
    """Decide a call from one attempt's reading, or ask again while the hour of retries lasts. Rules F4, F8.

    Raises ValueError before deadline + 120 000 ms.
    """
    first_attempt_ms = facts.deadline_ms + GRACE_MS
    if asked_at_ms < first_attempt_ms:
        raise ValueError(f"asked_at_ms is {asked_at_ms}; the first attempt is at {first_attempt_ms}")
    for symbol in _symbols(facts):
        delisted_at_ms = reading.delisted_at_ms.get(symbol)
        if delisted_at_ms is not None and delisted_at_ms <= facts.deadline_ms:
            return _void("delisted", asked_at_ms)
    if isinstance(facts.terms, Metric):
        return _decide_metric(facts, facts.terms, reading.metric, asked_at_ms)
    if reading.candles is None:
        return _wait("source_unavailable", facts, asked_at_ms)
    prints = {
        symbol: prints_inside(reading.candles.get(symbol, ()), facts.posted_at_ms, facts.deadline_ms)
        for symbol in _symbols(facts)
    }
    hole = _hole_reason(facts, prints, reading.candles)
    if hole is not None:
        return _void(hole, asked_at_ms)
    if isinstance(facts.terms, Relative):
        return _decide_relative(facts, facts.terms, prints, asked_at_ms)
    return _decide_price(facts, facts.terms, prints[facts.symbol], reading.second, asked_at_ms)


def _decide_price(
    facts: CallFacts,
    terms: Touch | Close | Range,
    prints: Sequence[Candle],
    second: Sequence[Candle] | None,
    asked_at_ms: int,
) -> Decision:
    settlement_price = prints[-1].close
    second_price = None if second is None else fresh_close(second, facts.deadline_ms, SECOND_VENUE_MAX_AGE_MS)
    if second_price is None:
        return _wait("source_unavailable", facts, asked_at_ms)
    if not within(abs(settlement_price - second_price) / settlement_price, VENUE_DISTANCE):
        return _wait("venues_disagree", facts, asked_at_ms)
    hit, value = _price_outcome(terms, facts.side, prints)
    return Decision("hit" if hit else "miss", None, value, second_price, asked_at_ms)


def _price_outcome(terms: Touch | Close | Range, side: Side | None, prints: Sequence[Candle]) -> tuple[bool, Value]:
    if isinstance(terms, Close):
        last = prints[-1].close
        return (last > terms.level if terms.direction == "above" else last < terms.level), last
    if isinstance(terms, Touch) and side == "up":
        highest = max(candle.high for candle in prints)
        return highest >= terms.level, highest
    if isinstance(terms, Touch):
        lowest = min(candle.low for candle in prints)
        return lowest <= terms.level, lowest
    lowest = min(candle.low for candle in prints)
    highest = max(candle.high for candle in prints)
    return lowest > terms.low and highest < terms.high, (lowest, highest)


def _decide_relative(
    facts: CallFacts, terms: Relative, prints: Mapping[str, Sequence[Candle]], asked_at_ms: int
) -> Decision:
    if facts.price_at_posting is None or facts.versus_price_at_posting is None:
        raise ValueError("a relative call needs both symbols' price at posting")
    own = prints[facts.symbol][-1].close / facts.price_at_posting
    versus = prints[terms.versus][-1].close / facts.versus_price_at_posting
    if own == versus:
        return _void("tie", asked_at_ms)
    return Decision("hit" if own > versus else "miss", None, own - versus, None, asked_at_ms)


def _decide_metric(facts: CallFacts, terms: Metric, reading: MetricReading | None, asked_at_ms: int) -> Decision:
    if reading is None:
        return _wait("source_unavailable", facts, asked_at_ms)
    value = value_at(reading, facts.deadline_ms, known_by_ms=facts.deadline_ms + GRACE_MS)
    if value is None:
        return _void("data_gap", asked_at_ms)
    hit = value > terms.level if terms.direction == "above" else value < terms.level
    return Decision("hit" if hit else "miss", None, value, None, asked_at_ms)


def _hole_reason(
    facts: CallFacts, prints: Mapping[str, Sequence[Candle]], candles: Mapping[str, Sequence[Candle]]
) -> Reason | None:
    found: Reason | None = None
    for symbol, own_prints in prints.items():
        own_holes = holes(own_prints, facts.posted_at_ms, facts.deadline_ms)
        if not own_holes:
            continue
        references = [
            holes(
                prints_inside(candles[reference], facts.posted_at_ms, facts.deadline_ms),
                facts.posted_at_ms,
                facts.deadline_ms,
            )
            for reference in REFERENCE_SYMBOLS
            if reference != symbol and candles.get(reference)
        ]
        for hole in own_holes:
            if references and all(any(hole.overlaps(other) for other in others) for others in references):
                return "venue_halt"
        found = "data_gap"
    return found


def _symbols(facts: CallFacts) -> tuple[str, ...]:
    return (facts.symbol, facts.terms.versus) if isinstance(facts.terms, Relative) else (facts.symbol,)


def _void(reason: Reason, asked_at_ms: int) -> Decision:
    return Decision("void", reason, None, None, asked_at_ms)


def _wait(reason: Reason, facts: CallFacts, asked_at_ms: int) -> Decision:
    if asked_at_ms - (facts.deadline_ms + GRACE_MS) >= RETRY_LIMIT_MS:
        return _void(reason, asked_at_ms)
    return Decision("ask_again", reason, None, None, asked_at_ms)
