"""Which words of a claim name which symbols (Rule F3)."""

from __future__ import annotations

from collections.abc import Sequence

from rules.floor.claim_reader import Word
from rules.floor.constants import CHAIN_VENUE, FLOOR_VENUE
from rules.floor.sources import SettleableList, Source

_GROUPS = tuple(
    frozenset(line.split())
    for line in (
        "btc xbt bitcoin",
        "eth ether ethereum",
        "sol solana",
        "xrp ripple",
        "doge dogecoin",
        "avax avalanche",
        "ena ethena",
        "tao bittensor",
        "wif dogwifhat",
        "kpepe pepe",
    )
)
_GROUP_OF = {word: group for group in _GROUPS for word in group}


def group_of(text: str) -> frozenset[str]:
    """Return a word's or symbol's group in small letters; one that is in none is its own group."""
    lower = text.lower()
    return _GROUP_OF.get(lower, frozenset({lower}))


def is_named(source: Source, words: Sequence[Word]) -> bool:
    """Tell whether a word names the symbol, chain or scope of a source. Rule F3."""
    names = group_of(source.symbol)
    if source.venue == CHAIN_VENUE and source.symbol.lower() != "ethereum":
        names = frozenset({source.symbol.lower()})
    elif source.venue == FLOOR_VENUE:
        names = frozenset({source.symbol.lower(), FLOOR_VENUE})
    return any(word.lower in names for word in words)


def first_naming(symbol: str, words: Sequence[Word]) -> int | None:
    """Return the place of the first word that names a venue's symbol, None when none does."""
    names = group_of(symbol)
    return next((place for place, word in enumerate(words) if word.lower in names), None)


def names_another(words: Sequence[Word], source: Source, versus: str | None, settleable: SettleableList) -> bool:
    """Tell whether a word names a price venue's settleable symbol beside the source's group and `versus`. Rule F3."""
    own = group_of(source.symbol)
    others = {symbol for symbol in settleable.price_symbols if symbol != versus and symbol.lower() not in own}
    lowered = {symbol.lower() for symbol in others}
    return any(_names_any(word, others, lowered) for word in words)


def _names_any(word: Word, symbols: set[str], lowered: set[str]) -> bool:
    if word.lower in _GROUP_OF:
        return not lowered.isdisjoint(_GROUP_OF[word.lower])
    # Outside the groups small letters are English: `near` and `ai` are words, NEAR and AI symbols
    return word.text in symbols or (word.text.isupper() and word.lower in lowered)
