"""Arena: accepts commits and reveals in the order of their time, prices and scores open records as time goes on.

Event time alone drives it. What waits for a record is decided once the watermark over both input topics has passed it.
A record is due on each whole hour from its first commit on, on the whole 5 minutes after each reveal (and 5 minutes
later, when that finds no price yet), and after each grace that ends without one. A due time E is evaluated as of E,
with the reveals made by then, once the clock is `GRACE_S` past it; due times passed at once are evaluated one by one.
"""

from typing import Annotated, Final

import orjson
from aiokafka.structs import ConsumerRecord
from eth_hash.auto import keccak
from pydantic import Field, TypeAdapter

from agents.arena_door import Door
from agents.arena_due import FIVE_MINUTES_S, DueTimes, five_minutes_after, hour_from
from agents.arena_market import ArenaMarket
from agents.arena_records import RecordBook, RecordBooks, grace_ends_s
from agents.arena_results import outcome_of, score_of
from agents.arena_rows import GRACE_S
from rules.arena.commitment import Deployment
from rules.arena.loading import required_loads
from rules.arena.numbers import HOUR_S
from rules.arena.open_record import score_open
from rules.arena.types import Commit, Reveal
from streams.delivery.outbox import Outbox
from streams.delivery.pending import Order, Pending
from streams.delivery.reducer import AgentSpec, Reducer
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from streams.venues.hyperliquid import HyperliquidHttp
from topics import arena
from topics.base import Message
from topics.registry import CLOCK, COMMITS, OUTCOMES, RECEIPTS, REVEALS, SCORES

PENDING: Final = "pending/"
DECIDED: Final = "decided"
EVALUATED: Final = "evaluated"

_OPENED_OR_COMMIT: Final[TypeAdapter[arena.Opened | arena.Commit]] = TypeAdapter(
    Annotated[arena.Opened | arena.Commit, Field(discriminator="type")]
)


class Waiting(Message):
    """Something that waits until everything before it is known."""

    event: arena.Opened | arena.Commit | arena.Reveal


def place_in_time(waiting: Waiting) -> Order:
    """Return the order in which events are decided: time, then position on the bus, then kind."""
    event = waiting.event
    kind = "reveal" if isinstance(event, arena.Reveal) else event.type
    return event.at, event.position.partition, event.position.offset, kind


class ArenaReducer(Reducer):
    """The open records of one partition."""

    def __init__(self, state: PartitionState, market: ArenaMarket, deployment: Deployment) -> None:
        super().__init__(state)
        self._market = market
        self._books = RecordBooks(state)
        self._door = Door(self._books, keccak, deployment, self._schedule)
        self._pending = Pending(state, PENDING, Waiting, place_in_time)
        self._decided: Order = tuple(orjson.loads(state.get(DECIDED) or b"[]"))
        self._evaluated_s = int(state.get(EVALUATED) or b"0")
        self._due = DueTimes()
        for book in self._books.all():
            self._schedule_again(book)

    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Take in what waits for a record; a repeat of what is decided already is left aside."""
        if record.topic.endswith(REVEALS.name):
            waiting = Waiting(event=arena.Reveal.decode(record.value))
        else:
            waiting = Waiting(event=_OPENED_OR_COMMIT.validate_json(record.value))
        # below the watermark nothing new comes, so what stands before the last decision was part of one
        if place_in_time(waiting) > self._decided:
            self._pending.add(waiting)

    async def advance(self, watermarks: WatermarkTracker, out: Outbox) -> int | None:
        """Decide what no earlier event can precede any more, then evaluate what is due.

        The promise stands at the first due time that is left: later events make later ones due only.
        """
        events_ms = watermarks.current(COMMITS.name, REVEALS.name)
        if events_ms is None:
            return None
        self._decide_before(events_ms, out)
        clock_ms = watermarks.current(CLOCK.name)
        if clock_ms is None:
            return None
        # an event of the second E itself is known once the watermark is a whole second past it
        await self._evaluate_until(min(clock_ms // 1_000 - GRACE_S, events_ms // 1_000 - 1), out)
        first_s = self._due.first_s()
        promise_ms = min(clock_ms, events_ms)
        return promise_ms if first_s is None else min(promise_ms, first_s * 1_000)

    def _decide_before(self, time_ms: int, out: Outbox) -> None:
        last: Waiting | None = None
        for last in self._pending.pop_before(time_ms):
            receipt = self._door.answer(last.event)
            out.emit(RECEIPTS, receipt.agent, receipt, receipt.at)
        if last is not None:
            self._decided = place_in_time(last)
            self.state.put(DECIDED, orjson.dumps(self._decided))

    async def _evaluate_until(self, last_s: int, out: Outbox) -> None:
        first_s = self._due.first_s()
        while first_s is not None and first_s <= last_s:
            as_of_s, key = self._due.pop()
            book = self._books.get(key)
            if book is None:
                raise LookupError(f"record {key} is due at {as_of_s} and not open")
            await self._evaluate(book, as_of_s, out)
            self._evaluated_s = as_of_s
            self.state.put(EVALUATED, str(as_of_s).encode())
            first_s = self._due.first_s()

    async def _evaluate(self, book: RecordBook, as_of_s: int, out: Outbox) -> None:
        listed = await self._market.listed(as_of_s)
        commits, reveals = book.commits, list(book.reveals.values())
        loads = required_loads(book.terms, commits, reveals, listed, as_of_s)
        rows = await self._market.rows(loads, as_of_s)
        result = score_open(book.terms, commits, reveals, rows, listed, as_of_s)
        at_ms = as_of_s * 1_000
        for row in result.predictions:
            known = book.published.get(row.call_id)
            outcome = outcome_of(book, row, at_ms if known is None else known.at)
            if outcome != known:
                outcome = outcome.model_copy(update={"at": at_ms})
                self._books.publish(book, outcome)
                out.emit(OUTCOMES, book.key, outcome, at_ms)
                self._schedule_second_look(book, outcome, as_of_s)
        out.emit(SCORES, book.key, score_of(book, result, as_of_s), at_ms)
        if as_of_s % HOUR_S == 0:
            self._due.add(as_of_s + HOUR_S, book.key, "hour")

    def _schedule(self, book: RecordBook, accepted: Commit | Reveal, at_ms: int) -> None:
        if isinstance(accepted, Commit):
            self._due.add(after_grace_s(accepted), book.key, f"grace/{accepted.call_id}")
            if accepted.call_id == 0:
                self._due.add(hour_from(accepted.locked_at_s), book.key, "hour")
        else:
            commit = book.commits[accepted.call_id]
            self._due.drop(after_grace_s(commit), book.key, f"grace/{commit.call_id}")
            self._due.add(five_minutes_after(at_ms), book.key, "reveal")

    def _schedule_second_look(self, book: RecordBook, outcome: arena.Outcome, after_s: int) -> None:
        """Look again when a short hold's exit candle has closed: without trades it is shown, and a price, only then."""
        closes_s = (-(-outcome.exit_at_s // FIVE_MINUTES_S) + 1) * FIVE_MINUTES_S
        unpriced = outcome.side is not None and outcome.status in ("pending", "unscorable")
        if unpriced and outcome.horizon_s < HOUR_S and closes_s > after_s:
            self._due.add(closes_s, book.key, "exit")

    def _schedule_again(self, book: RecordBook) -> None:
        """Find the due times that a restart left: those after the last one that was evaluated."""
        for commit in book.commits:
            if commit.call_id not in book.reveals and after_grace_s(commit) > self._evaluated_s:
                self._due.add(after_grace_s(commit), book.key, f"grace/{commit.call_id}")
        for at_ms in book.revealed_at_ms.values():
            if five_minutes_after(at_ms) > self._evaluated_s:
                self._due.add(five_minutes_after(at_ms), book.key, "reveal")
        for outcome in book.published.values():
            self._schedule_second_look(book, outcome, self._evaluated_s)
        if book.commits:
            next_s = hour_from(max(book.commits[0].locked_at_s, self._evaluated_s + 1))
            self._due.add(next_s, book.key, "hour")


def after_grace_s(commit: Commit) -> int:
    """Return when a commit that stays hidden is known to be withheld: the first whole 5 minutes past its grace."""
    return five_minutes_after(grace_ends_s(commit) * 1_000)


def spec(hyperliquid: HyperliquidHttp, deployment: Deployment) -> AgentSpec:
    """Return the agent: it asks `hyperliquid`, and hashes are those of the contract at `deployment`."""
    market = ArenaMarket(hyperliquid)
    return AgentSpec(
        name="arena",
        inputs=(COMMITS, REVEALS, CLOCK),
        outputs=(RECEIPTS, OUTCOMES, SCORES),
        reducer=lambda state: ArenaReducer(state, market, deployment),
        asks_venue=True,
    )
