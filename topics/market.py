"""What the venues say: candles, settled funding, the universe, and σ derived from them."""

from typing import Literal

from topics.base import Message

Interval = Literal["5m", "1h"]
INTERVAL_MS: dict[str, int] = {"5m": 300_000, "1h": 3_600_000}


class Candle(Message):
    """One candle of a coin; forming while `closed` is false. `trades` is null where the venue does not say."""

    type: Literal["candle"] = "candle"
    venue: str
    coin: str
    interval: Interval
    open_time: int
    open: float
    high: float
    low: float
    close: float
    volume: float
    trades: int | None
    closed: bool

    @property
    def close_time(self) -> int:
        """Return the end of the candle's interval in ms (exclusive)."""
        return self.open_time + INTERVAL_MS[self.interval]


class Complete(Message):
    """Every candle of the coin and interval that closed at or before `through` is on the topic ahead of this record."""

    type: Literal["complete"] = "complete"
    venue: str
    coin: str
    interval: Interval
    through: int


class Funding(Message):
    """A settled hourly funding rate; `time` as the venue sent it, unrounded."""

    venue: str
    coin: str
    time: int
    rate: float


class Listed(Message):
    """One coin of a venue's universe with its 24-hour notional in USD."""

    coin: str
    day_notional_usd: float
    delisted: bool


class Listings(Message):
    """A venue's universe as read at `at`; sent to every partition (Rule F2: the list in force decides)."""

    venue: str
    at: int
    coins: tuple[Listed, ...]


class Volatility(Message):
    """The rolling EWMA volatility of a coin per √hour after its hourly candle that closed at `at` (Rule F6)."""

    venue: str
    coin: str
    at: int
    sigma: float | None
    returns: int
