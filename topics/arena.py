"""The Arena's messages: commits, reveals, outcomes, scores. Times are whole unix seconds (`_s`)."""

from typing import Literal

from topics.base import Message
from topics.floor import Position


class Opened(Message):
    """An open record that `arena.open` made; key: record."""

    type: Literal["open"] = "open"
    post: str
    record: str
    book_id: int
    owner: str
    coins: tuple[str, ...] | None
    min_horizon_s: int
    max_horizon_s: int
    at: int
    position: Position


class Commit(Message):
    """A sealed prediction as its owner signed it; `hash` hides coin, side and salt; key: record."""

    type: Literal["commit"] = "commit"
    post: str
    record: str
    book_id: int
    owner: str
    call_id: int | None
    nonce: int | None
    hash: str
    horizon_s: int
    at: int
    position: Position


class Reveal(Message):
    """What a commit hid; key: record."""

    post: str
    record: str
    owner: str
    call_id: int
    coin: str | None
    coin_index: int | None
    side: int
    horizon_s: int
    salt: str
    at: int
    position: Position


class Outcome(Message):
    """A prediction's state when it changed; `id` is the commit's fingerprint (record, call, hash); key: record."""

    id: str
    record: str
    owner: str
    call_id: int
    status: Literal["revealed", "withheld", "unscorable", "pending"]
    horizon_s: int
    locked_at_s: int
    entry_at_s: int
    exit_at_s: int
    coin: str | None
    side: int | None
    candles: Literal["5m", "1h"] | None
    entry: float | None
    exit: float | None
    move: float | None
    gross: float | None
    fee: float | None
    net: float | None
    resolved_at_s: int | None
    at: int


class CurvePoint(Message):
    """One day's end of a record's return curve (Rule A8)."""

    t: int
    v: float


class Score(Message):
    """A record's track record score as of `as_of_s` (Rule A8); `id` is record@as_of; key: record."""

    id: str
    record: str
    owner: str
    as_of_s: int
    value: int
    level: Literal["new", "building", "full"]
    beta: float
    t_stat: float
    profit_t: float
    profit: float
    edge: float
    risk: float
    calls: int
    revealed: int
    withheld: int
    unscorable: int
    pending: int
    coverage: float | None
    days: float
    hit_rate: float | None
    mean_return: float | None
    total_return: float
    max_drawdown: float
    curve: tuple[CurvePoint, ...]
