"""The deterministic reader of claims: a sentence as dates, times, numbers, words and comparison signs (Rule F3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH_NUMBERS = {
    **{name: number for number, name in enumerate(_MONTHS, start=1)},
    **{name[:3]: number for number, name in enumerate(_MONTHS, start=1)},
    "sept": 9,
}
_FLAGS = re.ASCII | re.IGNORECASE

_END = r"(?![a-z0-9])"
_ZONE = rf"(?: ?(?:UTC|GMT|Z){_END})?"
_HOUR_12 = r"(?P<hour12>0?[1-9]|1[0-2])"
_TIME = (
    rf"(?:{_HOUR_12}(?::(?P<minute12>[0-5][0-9])(?::[0-5][0-9])?)? ?(?P<half>[ap])m{_END}"
    rf"|(?P<hour>[01]?[0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?::[0-5][0-9])?(?![0-9])){_ZONE}"
)
_TIME_AHEAD = re.sub(r"\?P<\w+>", "?:", _TIME)
# A day or year that goes on as another number (`May 1,200`) is none
_NUMBER_END = r"(?![a-z0-9]|[.,:_][0-9])"
_MONTH = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_YEAR = rf"(?:,? (?P<year>20[0-9]{{2}}){_NUMBER_END})?"
_ORDINAL = "(?:st|nd|rd|th)?"

_TIME_PATTERN = re.compile(_TIME, _FLAGS)
_DATE_PATTERNS = (
    re.compile(rf"(?P<year>[0-9]{{4}})-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})(?:T(?={_TIME_AHEAD})|{_END})", _FLAGS),
    re.compile(rf"(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})(?= {_TIME_AHEAD})", _FLAGS),
    re.compile(rf"(?P<day>[0-9]{{1,2}}){_ORDINAL} (?:of )?(?P<month>{_MONTH}){_END}{_YEAR}", _FLAGS),
    re.compile(rf"(?P<month>{_MONTH}) (?P<day>[0-9]{{1,2}}){_ORDINAL}{_NUMBER_END}{_YEAR}", _FLAGS),
)
_NUMBER_PATTERN = re.compile(
    r"[+\-−]?(?:[0-9]{1,3}(?:[,_][0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?(?:e[+\-]?[0-9]+)?", _FLAGS
)
_SCALE_PATTERN = re.compile(rf"(?:(?P<letter>[kmb])| (?P<word>thousand|million|billion)){_END}", _FLAGS)
_NO_LEVEL_PATTERN = re.compile(
    rf" ?%| ?(?:percent|pct|bps|bp){_END}"
    rf"|[ \-]?(?:s|h|d|w|(?:sec|second|min|minute|hr|hour|day|week|month)s?){_END}",
    _FLAGS,
)
_WORD_PATTERN = re.compile(rf"[a-z0-9]+(?:['’]t{_END})?", _FLAGS)
_SIGN_PATTERN = re.compile(r"([<≤>≥])=?")
_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "thousand": 1e3, "million": 1e6, "billion": 1e9}


@dataclass(frozen=True, slots=True)
class Date:
    """A calendar day; the year is None where the sentence leaves it out."""

    year: int | None
    month: int
    day: int


@dataclass(frozen=True, slots=True)
class Time:
    """A time of day, UTC; seconds are ignored."""

    hour: int
    minute: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number; percentages, basis points and durations are no levels."""

    value: float
    is_level: bool


@dataclass(frozen=True, slots=True)
class Word:
    """A run of ASCII letters and digits as it is written, with an ending `'t`."""

    text: str

    @property
    def lower(self) -> str:
        """Return the word in small letters."""
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Sign:
    """One of `<` `≤` `>` `≥`."""

    text: str


Item = Date | Time | Number | Word | Sign


def read_claim(claim: str) -> tuple[Item, ...]:
    """Take a sentence apart, from left to right, the first kind that fits at each place. Rule F3."""
    items: list[Item] = []
    position = 0
    while position < len(claim):
        taken = (
            _date(claim, position)
            or _time(claim, position)
            or _number(claim, position)
            or _word(claim, position)
            or _sign(claim, position)
        )
        if taken is None:
            position += 1
        else:
            item, position = taken
            items.append(item)
    return tuple(items)


def _date(claim: str, position: int) -> tuple[Date, int] | None:
    for pattern in _DATE_PATTERNS:
        found = pattern.match(claim, position)
        if found is None:
            continue
        parts = found.groupdict()
        month, day, year = parts["month"], int(parts["day"]), parts.get("year")
        month_number = int(month) if month.isdigit() else _MONTH_NUMBERS[month.lower()]
        if 1 <= month_number <= 12 and 1 <= day <= 31:
            return Date(None if year is None else int(year), month_number, day), found.end()
    return None


def _time(claim: str, position: int) -> tuple[Time, int] | None:
    found = _TIME_PATTERN.match(claim, position)
    if found is None:
        return None
    if found["half"] is None:
        return Time(int(found["hour"]), int(found["minute"])), found.end()
    hour = int(found["hour12"]) % 12 + (12 if found["half"].lower() == "p" else 0)
    return Time(hour, int(found["minute12"] or "0")), found.end()


def _number(claim: str, position: int) -> tuple[Number, int] | None:
    found = _NUMBER_PATTERN.match(claim, position)
    if found is None:
        return None
    before = claim[position - 1] if position else " "
    signed = not claim[position].isdigit()
    if not (before.isspace() or before == "(") if signed else before.isalnum():
        return None
    value = float(found[0].replace(",", "").replace("_", "").replace("−", "-"))
    end = found.end()
    scale = _SCALE_PATTERN.match(claim, end)
    if scale is not None:
        value *= _SCALES[(scale["letter"] or scale["word"]).lower()]
        end = scale.end()
    no_level = _NO_LEVEL_PATTERN.match(claim, end)
    if no_level is not None:
        return Number(value, is_level=False), no_level.end()
    if end < len(claim) and claim[end].isalnum():
        return None
    return Number(value, is_level=True), end


def _word(claim: str, position: int) -> tuple[Word, int] | None:
    found = _WORD_PATTERN.match(claim, position)
    return None if found is None else (Word(found[0].replace("’", "'")), found.end())


def _sign(claim: str, position: int) -> tuple[Sign, int] | None:
    found = _SIGN_PATTERN.match(claim, position)
    return None if found is None else (Sign(found[1]), found.end())
