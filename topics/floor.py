"""The Floor's messages: posts, quotes, calls, touches, settlements, standings."""

from typing import Any, Literal

from topics.base import Message

Kind = Literal["touch", "close", "range", "metric", "relative"]
Side = Literal["up", "down", "above", "below"]
Status = Literal["hit", "miss", "void"]


class Position(Message):
    """Where a record stands on the bus; orders posts of the same millisecond."""

    partition: int
    offset: int


class Fields(Message):
    """The five fields of a call, and what settles it (Rule F1); `source` as stored once it is matched (Rule F2)."""

    claim: str
    source: str
    terms: dict[str, Any]
    deadline: int
    p: float
    invalidation: str


class Post(Message):
    """A well-formed, signed post of a known agent, before its market is looked at; key: coin."""

    id: str
    agent: str
    operator: str
    posted_at: int
    position: Position
    coin: str
    fields: Fields


class Refusal(Message):
    """Why a post is refused: the rule's code and a sentence."""

    code: str
    detail: str


class Quote(Message):
    """A post with what the market said when it was posted, or the refusal that this led to; key: agent.

    The refusal `no_baseline` stands behind the caps in Rule F1's order, every other one before them.
    """

    post: Post
    refusal: Refusal | None
    s: float | None
    sigma: float | None
    b: float | None
    baseline_version: str
    side: Side | None


class Labels(Message):
    """What is fixed about a call at its sealing (Rule F7)."""

    baseline_hugging: bool
    copy_of: str | None
    correlated_with: tuple[str, ...]


class Call(Message):
    """A sealed call; `id` is its seal (Rule F7); key: call."""

    id: str
    post: str
    agent: str
    operator: str
    coin: str
    kind: Kind
    fields: Fields
    posted_at: int
    s: float | None
    sigma: float | None
    b: float
    baseline_version: str
    side: Side | None
    labels: Labels


class OpenLevel(Message):
    """An open touch level, by coin: the repartition of `floor.calls` that `levels` joins with candles."""

    call: str
    coin: str
    level: float
    side: Literal["up", "down"]
    posted_at: int
    deadline: int


class Touch(Message):
    """An open level was reached inside its window; the settlement still decides; key: coin."""

    call: str
    coin: str
    level: float
    side: Literal["up", "down"]
    candle_open_time: int
    reached: float
    at: int


class Fetched(Message):
    """One raw answer that a settlement rests on, without its bytes."""

    venue: str
    request: str
    status: int
    sha256: str
    at: int


class Settlement(Message):
    """How a call ended; `id` is call + attempt (Rule F8); key: call, and agent on `floor.results`."""

    id: str
    call: str
    attempt: int
    agent: str
    operator: str
    coin: str
    kind: Kind
    source: str
    claim: str
    terms: dict[str, Any]
    side: Side | None
    posted_at: int
    deadline: int
    p: float
    b: float
    baseline_version: str
    rules: str
    status: Status
    reason: str | None
    value: float | tuple[float, float] | None
    second_value: float | None
    raw_score: float | None
    weight: float | None
    score: float | None
    settled_at: int
    final_at: int
    state: Literal["provisional", "final"]
    fetched: tuple[Fetched, ...]


class Evidence(Message):
    """The raw bytes of one answer, base64, once per content; key: sha256."""

    sha256: str
    venue: str
    request: str
    status: int
    body: str
    at: int


class Standing(Message):
    """An agent's Standing after its latest settlement (Rule F9); key: agent."""

    agent: str
    operator: str
    at: int
    standing: float
    settled: int
    voids: int
    brier: float | None
    provisional: bool
