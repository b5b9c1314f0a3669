"""Whether a claim agrees with its terms, so that the sentence people read is the one that settles (Rule F3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from rules.floor.claim_reader import Date, Item, Number, Sign, Time, Word, read_claim
from rules.floor.claim_symbols import first_naming, is_named, names_another
from rules.floor.constants import CLAIM_LEVEL_TOLERANCE
from rules.floor.rounding import within
from rules.floor.sources import SettleableList, Source
from rules.floor.terms import Range, Relative, Side, Terms, named_levels
from rules.floor.window import moment
from rules.market import DAY_MS

_NEGATIONS = frozenset({"not", "never", "cannot", "fails"})
_UP_WORDS = frozenset({"above", "exceed", "exceeds"})
_DOWN_WORDS = frozenset({"below"})
_UP_PAIRS = frozenset({("rise", "to"), ("rises", "to"), ("climb", "to"), ("climbs", "to")}) | {
    ("touch", "up"),
    ("touches", "up"),
}
_DOWN_PAIRS = frozenset({("fall", "to"), ("falls", "to"), ("drop", "to"), ("drops", "to")}) | {
    ("touch", "down"),
    ("touches", "down"),
}
_UP_BEFORE_LEVEL = frozenset({"over", ">", "≥"})
_DOWN_BEFORE_LEVEL = frozenset({"under", "<", "≤"})
_RANGE_WORDS = frozenset({"inside", "range"})
_WINS = frozenset({"outperform", "outperforms", "beat", "beats"})
_LOSES = frozenset({"underperform", "underperforms", "lag", "lags"})


def claim_disagreement(
    claim: str, source: Source, terms: Terms, side: Side | None, deadline_ms: int, settleable: SettleableList
) -> str | None:
    """Say in one sentence how a claim disagrees with its terms, None when it does not.

    Source and terms are as stored; without a side (touch without a price S) directions are not checked. Rule F3.
    """
    items = read_claim(claim)
    words = [item for item in items if isinstance(item, Word)]
    checks: tuple[Callable[[], str | None], ...] = (
        lambda: None if is_named(source, words) else "claim does not name the source's symbol",
        lambda: _other_symbol(words, source, terms, settleable),
        lambda: _other_level(items, terms),
        lambda: _negation(words),
        lambda: _other_direction(items, side),
        lambda: _range_words(items, terms),
        lambda: _other_winner(items, source, terms),
        lambda: _other_moment(items, deadline_ms),
    )
    return next((found for found in (check() for check in checks) if found is not None), None)


def _other_symbol(words: Sequence[Word], source: Source, terms: Terms, settleable: SettleableList) -> str | None:
    versus = terms.versus if isinstance(terms, Relative) else None
    if names_another(words, source, versus, settleable):
        return "claim names a settleable symbol that is neither the source's nor versus"
    return None


def _other_level(items: Sequence[Item], terms: Terms) -> str | None:
    levels = named_levels(terms)
    for item in items:
        if not isinstance(item, Number) or not item.is_level:
            continue
        if not any(within(abs(item.value - level), CLAIM_LEVEL_TOLERANCE * abs(level)) for _, level in levels):
            return f"claim has the level {item.value!r}, which is not within 0.05 % of a level of the terms"
    return None


def _negation(words: Sequence[Word]) -> str | None:
    if any(word.lower in _NEGATIONS or word.lower.endswith("n't") for word in words):
        return "claim says what will not happen; it must say what will"
    return None


def _other_direction(items: Sequence[Item], side: Side | None) -> str | None:
    if side in ("up", "above") and any(_says_down(item, after) for item, after in _with_next(items)):
        return f"claim says down, the terms say {side}"
    if side in ("down", "below") and any(_says_up(item, after) for item, after in _with_next(items)):
        return f"claim says up, the terms say {side}"
    return None


def _says_up(item: Item, after: Item | None) -> bool:
    text, pair = _text(item), (_text(item), _text(after))
    return text in _UP_WORDS or pair in _UP_PAIRS or (text in _UP_BEFORE_LEVEL and _is_level(after))


def _says_down(item: Item, after: Item | None) -> bool:
    text, pair = _text(item), (_text(item), _text(after))
    return text in _DOWN_WORDS or pair in _DOWN_PAIRS or (text in _DOWN_BEFORE_LEVEL and _is_level(after))


def _range_words(items: Sequence[Item], terms: Terms) -> str | None:
    if isinstance(terms, Range):
        return None
    for item, after in _with_next(items):
        if _text(item) in _RANGE_WORDS or (_text(item) == "between" and _is_level(after)):
            return f"claim speaks of a range, terms.kind is {terms.kind}"
    return None


def _other_winner(items: Sequence[Item], source: Source, terms: Terms) -> str | None:
    if not isinstance(terms, Relative):
        return None
    words = [item for item in items if isinstance(item, Word)]
    own = first_naming(source.symbol, words)
    versus = first_naming(terms.versus, words)
    if own is None or versus is None:
        return None
    wrong = _WINS if versus < own else _LOSES
    if any(word.lower in wrong for word in words):
        return "claim lets versus win, the terms the source's symbol"
    return None


def _other_moment(items: Sequence[Item], deadline_ms: int) -> str | None:
    deadline = moment(deadline_ms)
    times = [item for item in items if isinstance(item, Time)]
    if any((time.hour, time.minute) != (deadline.hour, deadline.minute) for time in times):
        return f"claim has a time that is not the deadline's, {deadline:%H:%M} UTC"
    days = [deadline]
    if deadline_ms % DAY_MS == 0 and not times:
        days.append(deadline - timedelta(days=1))
    for item in items:
        if isinstance(item, Date) and not any(
            (item.month, item.day) == (day.month, day.day) and item.year in (None, day.year) for day in days
        ):
            return f"claim has a date that is not the deadline's, {deadline:%Y-%m-%d}"
    return None


def _with_next(items: Sequence[Item]) -> list[tuple[Item, Item | None]]:
    return list(zip(items, (*items[1:], None), strict=True))


def _is_level(item: Item | None) -> bool:
    return isinstance(item, Number) and item.is_level


def _text(item: Item | None) -> str:
    if isinstance(item, Word):
        return item.lower
    return item.text if isinstance(item, Sign) else ""
