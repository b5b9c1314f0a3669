"""Names of coins as people write them, resolved to the exchange's spelling."""

from collections.abc import Iterable, Mapping
from typing import Final

# what JavaScript's trim removes; Python's strip differs on U+FEFF and U+001C to U+001F
_OUTER_SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def spellings(listed: Iterable[str]) -> dict[str, str]:
    """Map each listed name's lower-case form to the first listed spelling of it (Rule A2)."""
    known: dict[str, str] = {}
    for name in listed:
        known.setdefault(name.lower(), name)
    return known


def resolve(text: str | None, known: Mapping[str, str]) -> str | None:
    """Return the exchange's spelling of a coin's text, None when it lists no such coin (Rule A2)."""
    if text is None:
        return None
    return known.get(text.strip(_OUTER_SPACE).lower())
