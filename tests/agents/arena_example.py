"""Days of open records for the Arena agent's tests: signed-looking messages, and what a plain program makes of them."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from aiokafka.structs import ConsumerRecord
from eth_hash.auto import keccak

from rules.arena.commitment import Deployment, locked_hash, symbol_hash
from rules.arena.contract import entry_at
from rules.arena.open_record import score_open
from rules.arena.types import Candle, CoinRows, Commit, Funding, OpenRecord, Prediction, Reveal
from tests.agents.records import RecordMaker
from tests.referee.simulated.rig import COINS, SAMPLE, ms
from topics import arena
from topics.floor import Position
from topics.keys import book_id, record_key
from topics.registry import COMMITS, REVEALS

DEPLOYMENT = Deployment(5_042_002, "0x" + "cb" * 20)
LISTED = [str(row["name"]) for row in SAMPLE.universe]
ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20
LIST_COINS = ("BTC", "sol", "NOPE")
START = "2025-06-13T00:00"
START_S = 1_748_736_000
MINUTE_MS, HOUR_S = 60_000, 3_600


@dataclass(frozen=True)
class Call:
    """What a commit hides."""

    coin: str
    side: int
    horizon_s: int
    salt: bytes


@dataclass
class Example:
    """Messages of one record in the order of their time, and the rules' own view of what is accepted."""

    owner: str
    number: int
    coins: tuple[str, ...] | None
    opened_ms: int
    offset: int
    messages: list[arena.Opened | arena.Commit | arena.Reveal] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    reveals: list[Reveal] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.record = record_key(self.owner, self.number)
        self.terms = OpenRecord(book_id(self.record), self.owner, self.coins, 300, 2_592_000, self.opened_ms // 1_000)
        if self.coins is not None:
            self.messages.append(
                arena.Opened(
                    **self._common(self.opened_ms),
                    book_id=self.terms.record_id,
                    coins=self.coins,
                    min_horizon_s=300,
                    max_horizon_s=2_592_000,
                )
            )

    def commit(self, call: Call, at_ms: int, **changes: Any) -> arena.Commit:
        """Send a commit; with changes it is one that must be refused."""
        call_id = len(self.commits)
        sealed = self._hash(call, call_id)
        any_coin = self.coins is None
        message = arena.Commit(
            **self._common(at_ms),
            book_id=self.terms.record_id,
            call_id=None if any_coin else call_id,
            nonce=call_id if any_coin else None,
            hash="0x" + sealed.hex(),
            horizon_s=call.horizon_s,
        ).model_copy(update=changes)
        self.messages.append(message)
        if not changes:
            at_s = at_ms // 1_000
            nonce = call_id if any_coin else None
            self.commits.append(Commit(call_id, sealed, at_s, entry_at(at_s), call.horizon_s, nonce))
        return message

    def reveal(self, call_id: int, call: Call, at_ms: int, *, accepted: bool = True, **changes: Any) -> arena.Reveal:
        """Send a reveal; `accepted` says whether the rules will take it."""
        index = None if self.coins is None else self.coins.index(call.coin)
        message = arena.Reveal(
            **self._common(at_ms),
            call_id=call_id,
            coin=call.coin if index is None else None,
            coin_index=index,
            side=call.side,
            horizon_s=call.horizon_s,
            salt="0x" + call.salt.hex(),
        ).model_copy(update=changes)
        self.messages.append(message)
        if accepted:
            coin: str | int = call.coin if index is None else index
            self.reveals.append(Reveal(call_id, at_ms // 1_000, call.side, coin, call.salt))
        return message

    def exit_ms(self, call_id: int) -> int:
        """Return when a call may be revealed."""
        return (self.commits[call_id].entry_at_s + self.commits[call_id].horizon_s) * 1_000

    def due_times(self, last_s: int) -> list[int]:
        """Return every evaluation up to a time, counted out 5 minutes by 5 minutes."""
        revealed = {reveal.call_id: reveal.at_s for reveal in self.reveals}
        first_s = min(commit.locked_at_s for commit in self.commits)
        due = []
        for at_s in range(-(-first_s // 300) * 300, last_s + 1, 300):
            after_reveal = any(at_s - 300 <= reveal_s < at_s for reveal_s in revealed.values())
            graces = [c.entry_at_s + c.horizon_s + 604_800 for c in self.commits if c.call_id not in revealed]
            if at_s % HOUR_S == 0 or after_reveal or any(at_s - 300 <= grace_s < at_s for grace_s in graces):
                due.append(at_s)
        return due

    def _common(self, at_ms: int) -> dict[str, Any]:
        self.offset += 1
        post = hashlib.sha256(f"{self.record} {self.offset}".encode()).hexdigest()
        position = Position(partition=0, offset=self.offset)
        return {"post": post, "record": self.record, "owner": self.owner, "at": at_ms, "position": position}

    def _hash(self, call: Call, call_id: int) -> bytes:
        if self.coins is None:
            return symbol_hash(keccak, DEPLOYMENT, self.owner, call_id, call.coin, call.side, call.horizon_s, call.salt)
        index = self.coins.index(call.coin)
        return locked_hash(
            keccak, DEPLOYMENT, self.terms.record_id, call_id, index, call.side, call.horizon_s, call.salt
        )


def busy_day(seed: int, calls: int, hours: int) -> list[Example]:
    """Return an any-coin and a coin-list record whose calls come at random moments, some never revealed."""
    random = Random(seed)
    start_ms = ms(START)
    examples = [Example(ALICE, 0, None, start_ms, 0), Example(BOB, 1, LIST_COINS, start_ms + 5, 1_000)]
    for example in examples:
        coins = ["BTC", "eth", " HYPE", "FARTCOIN", "NOPE"] if example.coins is None else list(example.coins)
        moments = sorted(start_ms + random.randrange(MINUTE_MS, hours * 60 * MINUTE_MS) for _ in range(calls))
        for at_ms in moments:
            horizon_s = random.choice([300, 600, 1_740, 3_600, 5_400, 14_400])
            call = Call(random.choice(coins), random.choice([1, -1]), horizon_s, random.randbytes(32))
            call_id = len(example.commits)
            example.commit(call, at_ms)
            # some reveals on the very second of a whole 5 minutes, where the next one is due
            wait_ms = random.choice([0, 0, 1, 299_999, random.randrange(20 * MINUTE_MS)])
            if random.random() < 0.9:
                example.reveal(call_id, call, example.exit_ms(call_id) + wait_ms)
        example.messages.sort(key=lambda message: message.at)
        renumber(example)
    return examples


def renumber(example: Example) -> None:
    """Give the messages their positions in the order of their time, as the bus does."""
    first = min(message.position.offset for message in example.messages)
    example.messages = [
        message.model_copy(update={"position": Position(partition=0, offset=first + place)})
        for place, message in enumerate(example.messages)
    ]


def records_of(examples: Iterable[Example], make: RecordMaker) -> list[ConsumerRecord]:
    """Return the messages as records of their topics, in the order of their time."""
    messages = sorted(
        (message for example in examples for message in example.messages),
        key=lambda message: (message.at, message.position.offset),
    )
    return [
        make(REVEALS if isinstance(message, arena.Reveal) else COMMITS, message.record, message, message.at)
        for message in messages
    ]


def sample_market() -> dict[str, CoinRows]:
    """Return the recorded files as rows, straight."""

    def candles(coin: str, interval: str) -> list[Candle]:
        return [
            Candle(row.open_time_ms // 1_000, float(row.open), float(row.high), float(row.low), float(row.close))
            for row in SAMPLE.candles["hyperliquid", coin, interval]
        ]

    return {
        coin: CoinRows(
            candles(coin, "1h"),
            candles(coin, "5m"),
            [Funding(round(row.time_ms / 3.6e6) * HOUR_S, float(row.rate)) for row in SAMPLE.funding[coin]],
        )
        for coin in COINS
    }


Content = tuple[Any, ...]


def settled(example: Example, market: dict[str, CoinRows], last_s: int) -> tuple[list[Content], list[Content]]:
    """Return what a record's outcomes and scores are, evaluated one by one on all recorded rows."""
    known: dict[int, Content] = {}
    outcomes: list[Content] = []
    scores: list[Content] = []
    due = set(example.due_times(last_s))
    for as_of_s in range(START_S, last_s + 1, 300):
        if as_of_s not in due:
            continue
        result = score_open(example.terms, example.commits, example.reveals, market, LISTED, as_of_s)
        for row in result.predictions:
            if known.get(row.call_id) != row_content(row):
                known[row.call_id] = row_content(row)
                outcomes.append((as_of_s, *row_content(row)))
            waits = row.side is not None and row.status in ("pending", "unscorable") and row.horizon_s < HOUR_S
            if waits and as_of_s - 300 < row.exit_at_s <= as_of_s:
                due.add(as_of_s + 300)
        curve = tuple((point.time_s, point.value) for point in result.curve)
        score, metrics = result.score, result.metrics
        scores.append((as_of_s, score.value, score.beta, score.t_stat, metrics.total_return, metrics.days, curve))
    return outcomes, scores


def row_content(row: Prediction) -> Content:
    """Return what is published of a prediction."""
    numbers = (row.entry, row.exit, row.move, row.gross, row.fee, row.net, row.resolved_at_s)
    return (row.call_id, row.status, row.coin or row.symbol, row.side, row.interval, *numbers)


def outcome_content(raw: bytes) -> Content:
    """Return the same of an outcome on the bus, behind its time."""
    row = arena.Outcome.decode(raw)
    numbers = (row.entry, row.exit, row.move, row.gross, row.fee, row.net, row.resolved_at_s)
    return (row.at // 1_000, row.call_id, row.status, row.coin, row.side, row.candles, *numbers)


def score_content(raw: bytes) -> Content:
    """Return the same of a score on the bus, behind its time."""
    row = arena.Score.decode(raw)
    curve = tuple((point.t, point.v) for point in row.curve)
    return (row.as_of_s, row.value, row.beta, row.t_stat, row.total_return, row.days, curve)
