"""What an open record is made of and what its settlement gives: frozen values, times in unix seconds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import NamedTuple

from rules.arena.numbers import HOUR_S


class Interval(StrEnum):
    """A candle grid of the venue."""

    FINE = "5m"
    HOURLY = "1h"

    @property
    def step_s(self) -> int:
        """Return the seconds from one candle's open to the next."""
        return 300 if self is Interval.FINE else HOUR_S


class Status(StrEnum):
    """Where a prediction stands as of a moment (Rule A3)."""

    PENDING = "pending"
    REVEALED = "revealed"
    WITHHELD = "withheld"
    UNSCORABLE = "unscorable"


class Level(StrEnum):
    """How much a record's score rests on (Rule A8)."""

    NEW = "new"
    BUILDING = "building"
    FULL = "full"


class SaltState(Enum):
    """A salt that is no value: not read from the reveal yet, or read and none matched the hash."""

    NOT_READ = "not read yet"
    NONE_MATCHED = "none matched"


class Candle(NamedTuple):
    """One OHLCV row without its volume, named by the time it opens."""

    time_s: int
    open: float
    high: float
    low: float
    close: float


class Funding(NamedTuple):
    """One hourly funding payment as a rate of the position's value."""

    time_s: int
    rate: float


@dataclass(frozen=True, slots=True)
class CoinRows:
    """A coin's rows in ascending time, no time twice; may reach further than a record loads."""

    hourly: Sequence[Candle] = ()
    fine: Sequence[Candle] = ()
    funding: Sequence[Funding] = ()

    def candles(self, interval: Interval) -> Sequence[Candle]:
        """Return the candles of one grid."""
        return self.fine if interval is Interval.FINE else self.hourly


Market = Mapping[str, CoinRows]


@dataclass(frozen=True, slots=True)
class OpenRecord:
    """A record of free calls; `coins` is None when any coin may be called."""

    record_id: int
    owner: str
    coins: tuple[str, ...] | None
    min_horizon_s: int
    max_horizon_s: int
    opened_at_s: int
    closed_at_s: int | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """A sealed prediction; `nonce` is the owner's and binds the hash of an any-coin record."""

    call_id: int
    call_hash: bytes
    locked_at_s: int
    entry_at_s: int
    horizon_s: int
    nonce: int | None = None


@dataclass(frozen=True, slots=True)
class Reveal:
    """An opened prediction; `coin` is the text of an any-coin record or an index into the list."""

    call_id: int
    at_s: int
    side: int
    coin: str | int
    salt: bytes | SaltState


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst outcome over the candidates; `index` is the candidate's place (Rule A6)."""

    index: int
    coin: str | None
    side: int
    move: float

    @property
    def gross(self) -> float:
        """Return the outcome's gross return, never above 0."""
        return self.side * self.move


@dataclass(frozen=True, slots=True)
class Prediction:
    """One prediction as settled as of a moment (Rule A4); a field without a value is None.

    `move` is the own coin's; a withheld or unscorable prediction has `worst` instead.
    """

    call_id: int
    status: Status
    horizon_s: int
    entry_at_s: int
    exit_at_s: int
    symbol: str | None = None
    coin: str | None = None
    side: int | None = None
    interval: Interval | None = None
    entry_candle_s: int | None = None
    entry: float | None = None
    exit_candle_s: int | None = None
    exit: float | None = None
    move: float | None = None
    gross: float | None = None
    fee: float | None = None
    net: float | None = None
    worst: Worst | None = None
    resolved_at_s: int | None = None
    withheld_after_s: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """The track record score, 0 to 100, and its parts (Rule A8)."""

    value: int
    level: Level
    beta: float
    t_stat: float
    profit_t: float
    profit: float
    edge: float
    risk: float


@dataclass(frozen=True, slots=True)
class Extreme:
    """The best or the worst prediction of a record; `net` has 5 decimals."""

    call_id: int
    coin: str | None
    side: int
    net: float
    status: Status


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a record's page shows beside its score, unrounded (Rule A8)."""

    calls: int
    revealed: int
    withheld: int
    unscorable: int
    pending: int
    coverage: float | None
    days: float
    hit_rate: float | None
    mean_return: float | None
    mean_move: float | None
    versus_coin: float | None
    total_return: float
    t_stat: float
    max_drawdown: float
    average_horizon_hours: float | None
    short_on_hourly: int
    best: Extreme | None
    worst: Extreme | None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The record's running value, starting at 1, with 5 decimals."""

    time_s: int
    value: float
