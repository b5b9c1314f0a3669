"""The five kinds of terms, read from a call's JSON (Rule F4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rules.floor.rounding import finite_number
from rules.floor.sources import SettleableList, Source

Direction = Literal["above", "below"]
Side = Literal["up", "down", "above", "below"]
Kind = Literal["touch", "close", "range", "metric", "relative"]


@dataclass(frozen=True, slots=True)
class Touch:
    """The price reaches a level inside the window."""

    level: float
    kind: Literal["touch"] = "touch"

    def as_json(self) -> dict[str, object]:
        """Return the terms as they are sealed."""
        return {"kind": self.kind, "level": self.level}


@dataclass(frozen=True, slots=True)
class Close:
    """The last print of the window is strictly above or below a level."""

    level: float
    direction: Direction
    kind: Literal["close"] = "close"

    def as_json(self) -> dict[str, object]:
        """Return the terms as they are sealed."""
        return {"kind": self.kind, "level": self.level, "direction": self.direction}


@dataclass(frozen=True, slots=True)
class Range:
    """The price stays strictly between two edges."""

    low: float
    high: float
    kind: Literal["range"] = "range"

    def as_json(self) -> dict[str, object]:
        """Return the terms as they are sealed."""
        return {"kind": self.kind, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Metric:
    """The last value of a funding, chain or floor metric is strictly above or below a level."""

    level: float
    direction: Direction
    kind: Literal["metric"] = "metric"

    def as_json(self) -> dict[str, object]:
        """Return the terms as they are sealed."""
        return {"kind": self.kind, "level": self.level, "direction": self.direction}


@dataclass(frozen=True, slots=True)
class Relative:
    """The source's symbol gains more than another symbol of its venue."""

    versus: str
    kind: Literal["relative"] = "relative"

    def as_json(self) -> dict[str, object]:
        """Return the terms as they are sealed."""
        return {"kind": self.kind, "versus": self.versus}


Terms = Touch | Close | Range | Metric | Relative

_KEYS: Mapping[str, frozenset[str]] = {
    "touch": frozenset({"kind", "level"}),
    "close": frozenset({"kind", "level", "direction"}),
    "range": frozenset({"kind", "low", "high"}),
    "metric": frozenset({"kind", "level", "direction"}),
    "relative": frozenset({"kind", "versus"}),
}


class TermsInvalidError(ValueError):
    """Say in one sentence why terms cannot be settled."""


def read_terms(
    raw: Mapping[str, object], source: Source, settleable: SettleableList, price_at_posting: float | None
) -> Terms:
    """Read the terms of a call on a stored source; without a price S what needs it is not checked.

    Raises TermsInvalidError when a key, a number or the fit to the source is wrong. Rule F4.
    """
    terms = parse_terms(raw)
    if isinstance(terms, Metric):
        if not source.is_metric:
            raise TermsInvalidError("terms.kind metric goes with funding, chain and floor sources only")
        return terms
    if not source.is_price:
        raise TermsInvalidError(f"terms.kind {terms.kind} goes with a venue's price only")
    if isinstance(terms, Relative):
        versus = settleable.find_versus(source, terms.versus)
        if versus is None:
            raise TermsInvalidError("terms.versus is not another settleable price symbol of the source's venue")
        return Relative(versus)
    for name, level in named_levels(terms):
        if level <= 0:
            raise TermsInvalidError(f"terms.{name} is {level!r}; on a price it must be above 0")
    if isinstance(terms, Range) and not terms.low < terms.high:
        raise TermsInvalidError(f"terms.low is {terms.low!r}; it must be below terms.high, {terms.high!r}")
    if price_at_posting is not None:
        _check_against_price(terms, price_at_posting)
    return terms


def parse_terms(raw: Mapping[str, object]) -> Terms:
    """Read terms by their keys and types alone; raises TermsInvalidError. Rule F4."""
    kind = raw.get("kind")
    if not isinstance(kind, str) or kind not in _KEYS:
        raise TermsInvalidError(f"terms.kind must be one of {', '.join(_KEYS)}")
    if raw.keys() != _KEYS[kind]:
        raise TermsInvalidError(f"terms of kind {kind} must have exactly the keys {', '.join(sorted(_KEYS[kind]))}")
    if kind == "touch":
        return Touch(_level(raw, "level"))
    if kind == "close":
        return Close(_level(raw, "level"), _direction(raw))
    if kind == "range":
        return Range(_level(raw, "low"), _level(raw, "high"))
    if kind == "metric":
        return Metric(_level(raw, "level"), _direction(raw))
    versus = raw["versus"]
    if not isinstance(versus, str):
        raise TermsInvalidError("terms.versus must be a string")
    return Relative(versus)


def side_of(terms: Terms, price_at_posting: float | None) -> Side | None:
    """Return up or down for touch (None without a price S), above or below for close and metric. Rule F4."""
    if isinstance(terms, Touch):
        if price_at_posting is None:
            return None
        return "up" if terms.level > price_at_posting else "down"
    if isinstance(terms, Close | Metric):
        return terms.direction
    return None


def named_levels(terms: Terms) -> tuple[tuple[str, float], ...]:
    """Return the levels that the terms name, with their keys."""
    if isinstance(terms, Range):
        return (("low", terms.low), ("high", terms.high))
    if isinstance(terms, Relative):
        return ()
    return (("level", terms.level),)


def _check_against_price(terms: Touch | Close | Range, price_at_posting: float) -> None:
    if isinstance(terms, Touch) and terms.level == price_at_posting:
        raise TermsInvalidError(f"terms.level is {terms.level!r}, which is the price at posting itself")
    if isinstance(terms, Range) and not terms.low < price_at_posting < terms.high:
        raise TermsInvalidError(
            f"terms.low {terms.low!r} and terms.high {terms.high!r} must lie around the price at posting, "
            f"{price_at_posting!r}"
        )


def _level(raw: Mapping[str, object], key: str) -> float:
    level = finite_number(raw[key])
    if level is None:
        raise TermsInvalidError(f"terms.{key} must be a number")
    return level


def _direction(raw: Mapping[str, object]) -> Direction:
    direction = raw["direction"]
    if direction == "above":
        return "above"
    if direction == "below":
        return "below"
    raise TermsInvalidError("terms.direction must be above or below")
