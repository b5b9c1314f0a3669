"""What the feed publishes: immutable events, each with the venue and the coin that it speaks of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CandleEvent:
    """A candle's state; `closed` is true once and for the last state only.

    A closed candle with volume 0 is a filler of the venue: a quiet or halted interval (H5, H6).
    """

    venue: str
    coin: str
    interval: str
    open_time_ms: int
    open: float
    high: float
    low: float
    close: float
    volume: float
    trades: int
    closed: bool


@dataclass(frozen=True, slots=True)
class FundingEvent:
    """A settled funding payment, `time_ms` as the venue stamps it: its hour and a little, minutes at worst (H2)."""

    venue: str
    coin: str
    time_ms: int
    rate: float


@dataclass(frozen=True, slots=True)
class ListingsEvent:
    """The venue's whole universe as seen at `at_ms`: (coin, 24-hour notional in USD, delisted)."""

    venue: str
    at_ms: int
    coins: tuple[tuple[str, float, bool], ...]


@dataclass(frozen=True, slots=True)
class CompleteEvent:
    """Every candle of the series that closed at or before `through_ms` is known: published, or proven absent."""

    venue: str
    coin: str
    interval: str
    through_ms: int


@dataclass(frozen=True, slots=True)
class FundingCompleteEvent:
    """Every funding payment of the hours up to `through_ms` is known: published, or missing for good."""

    venue: str
    coin: str
    through_ms: int


FeedEvent = CandleEvent | FundingEvent | ListingsEvent | CompleteEvent | FundingCompleteEvent
