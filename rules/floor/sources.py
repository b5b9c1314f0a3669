"""Sources and the settleable list that they are looked up in (Rule F2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rules.floor.constants import CHAIN_VENUE, FLOOR_VENUE, VOLUME_FLOOR_USD

PRICE_MEASURE = "price"
FUNDING_MEASURE = "funding"


@dataclass(frozen=True, slots=True)
class Source:
    """A source `venue:symbol:measure`; the symbol is all between the first and the last colon."""

    venue: str
    symbol: str
    measure: str

    @property
    def text(self) -> str:
        """Write the source as it is sealed."""
        return f"{self.venue}:{self.symbol}:{self.measure}"

    @property
    def on_price_venue(self) -> bool:
        """Tell whether the venue trades symbols, that is, whether it is neither `chain` nor `floor`."""
        return self.venue not in (CHAIN_VENUE, FLOOR_VENUE)

    @property
    def is_price(self) -> bool:
        """Tell whether the source is the price of a venue's symbol."""
        return self.on_price_venue and self.measure == PRICE_MEASURE

    @property
    def is_funding(self) -> bool:
        """Tell whether the source is the funding of a venue's symbol."""
        return self.on_price_venue and self.measure == FUNDING_MEASURE

    @property
    def is_metric(self) -> bool:
        """Tell whether `metric` terms go with the source: funding, chain and floor sources. Rule F4."""
        return not self.on_price_venue or self.is_funding


def has_source_shape(text: str) -> bool:
    """Tell whether a text has at least three non-empty parts between colons. Rule F1."""
    return sum(1 for part in text.split(":") if part) >= 3


def parse_source(text: str) -> Source | None:
    """Split a source at its first and last colon, or return None when it has fewer than two colons. Rule F2."""
    venue, first, rest = text.partition(":")
    symbol, last, measure = rest.rpartition(":")
    return Source(venue, symbol, measure) if first and last else None


@dataclass(frozen=True, slots=True)
class SettleableList:
    """The settleable list in force at one moment, indexed for look-ups. Rule F2."""

    entries: tuple[Source, ...]
    exact: Mapping[str, Source]
    by_lower_symbol: Mapping[tuple[str, str, str], Source]
    price_symbols: frozenset[str]

    @staticmethod
    def of(texts: Iterable[str]) -> SettleableList:
        """Index a list of `venue:symbol:measure` texts in their order; raises ValueError for another shape."""
        entries: list[Source] = []
        exact: dict[str, Source] = {}
        by_lower_symbol: dict[tuple[str, str, str], Source] = {}
        for text in texts:
            source = parse_source(text)
            if source is None:
                raise ValueError(f"settleable entry {text!r} is not venue:symbol:measure")
            entries.append(source)
            exact.setdefault(text, source)
            by_lower_symbol.setdefault((source.venue, source.symbol.lower(), source.measure), source)
        symbols = frozenset(source.symbol for source in entries if source.on_price_venue)
        return SettleableList(tuple(entries), exact, by_lower_symbol, symbols)

    def find(self, text: str) -> Source | None:
        """Return the entry that equals the source, else the first that differs in the symbol's case only. Rule F2."""
        found = self.exact.get(text)
        if found is not None:
            return found
        source = parse_source(text)
        if source is None:
            return None
        return self.by_lower_symbol.get((source.venue, source.symbol.lower(), source.measure))

    def find_versus(self, source: Source, versus: str) -> str | None:
        """Return the stored spelling of another symbol whose price on the source's venue is settleable. Rule F4."""
        found = self.find(f"{source.venue}:{versus}:{PRICE_MEASURE}")
        if found is None or found.symbol == source.symbol:
            return None
        return found.symbol


def is_settleable_volume(day_volume_usd: float) -> bool:
    """Tell whether a symbol's 24-hour volume in USD is above the settleable limit. Rule F2."""
    return day_volume_usd > VOLUME_FLOOR_USD
