"""The Arena agent on the simulated venue: receipts, outcomes and scores, however the bus hands things over."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

import pytest
from aiokafka.structs import ConsumerRecord

from agents.arena import spec
from rules.arena.contract import entry_at
from streams.delivery.reducer import Reducer
from streams.delivery.state import PartitionState
from tests.agents.arena_example import (
    ALICE,
    BOB,
    DEPLOYMENT,
    LIST_COINS,
    MINUTE_MS,
    START,
    Call,
    Example,
    busy_day,
    outcome_content,
    records_of,
    sample_market,
    score_content,
    settled,
)
from tests.agents.records import RecordMaker
from tests.agents.runs import Run, Watermark
from tests.referee.simulated.rig import Rig, ms, rig
from topics import arena
from topics.ingress import Receipt
from topics.registry import CLOCK, COMMITS, OUTCOMES, RECEIPTS, REVEALS, SCORES

INPUTS = (COMMITS, REVEALS, CLOCK)
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
START_MS = ms(START)


@dataclass
class Stage:
    """The agent on a running venue."""

    venue: Rig
    run: Run

    async def until(self, at_ms: int, records: Iterable[ConsumerRecord] = ()) -> int | None:
        """Let time pass to a moment, with what came on the bus by then."""
        await self.venue.clock.advance(max(at_ms, self.venue.clock.now_ms()))
        return await self.run.work([*records, *(Watermark(topic, at_ms) for topic in INPUTS)])

    def receipts(self) -> dict[str, Receipt]:
        """Return the answers by the post that they answer."""
        answers = [Receipt.decode(raw) for raw in self.run.sent(RECEIPTS)]
        return {answer.id: answer for answer in answers}

    def outcomes(self) -> list[arena.Outcome]:
        """Return the outcomes in the order of their sending."""
        return [arena.Outcome.decode(raw) for raw in self.run.sent(OUTCOMES)]


@asynccontextmanager
async def stage(start: str = START) -> AsyncIterator[Stage]:
    """Run the agent's reducer on the simulated venue; a restart gets a market of its own, as a worker does."""
    async with rig(start) as venue:

        def make(state: PartitionState) -> Reducer:
            return spec(venue.hyperliquid, DEPLOYMENT).reducer(state)

        yield Stage(venue, Run(make, INPUTS))


def due_before(records: list[ConsumerRecord], from_ms: int, to_ms: int) -> list[ConsumerRecord]:
    """Return the records of [from, to)."""
    return [record for record in records if from_ms <= record.timestamp < to_ms]


async def in_step(on: Stage, records: list[ConsumerRecord], end_ms: int, step_ms: int) -> None:
    """Hand over what happened, step by step."""
    for at_ms in range(START_MS, end_ms, step_ms):
        await on.until(at_ms + step_ms, due_before(records, at_ms, at_ms + step_ms))


async def at_random(on: Stage, records: list[ConsumerRecord], end_ms: int, random: Random) -> None:
    """Hand over each topic at a pace of its own, records and watermarks in uneven pieces, with restarts between."""
    feeds = {topic: [record for record in records if record.topic == topic.name] for topic in INPUTS}
    heard = dict.fromkeys(INPUTS, START_MS)
    while min(heard.values()) < end_ms:
        topic = random.choice(INPUTS)
        to_ms = min(end_ms, heard[topic] + random.randrange(1, 90 * MINUTE_MS))
        await on.venue.clock.advance(max(to_ms, on.venue.clock.now_ms()))
        pieces: list[ConsumerRecord | Watermark] = list(due_before(feeds[topic], heard[topic], to_ms))
        cut = random.randrange(len(pieces) + 1)
        heard[topic] = to_ms
        await on.run.work(pieces[:cut])
        if random.random() < 0.2:
            on.run.restart()
            await on.run.work([Watermark(other, heard[other]) for other in INPUTS if other is not topic])
        await on.run.work([*pieces[cut:], Watermark(topic, to_ms)])


def sent(on: Stage) -> dict[str, list[bytes]]:
    """Return what was sent, topic by topic in order."""
    return {topic.name: on.run.sent(topic) for topic in (RECEIPTS, OUTCOMES, SCORES)}


async def test_a_day_agrees_with_a_plain_program_over_the_recorded_files() -> None:
    examples = busy_day(seed=3, calls=12, hours=12)
    end_ms = START_MS + 15 * HOUR_MS
    async with stage() as on:
        await in_step(on, records_of(examples, RecordMaker()), end_ms, 5 * MINUTE_MS)
        receipts = on.receipts()
    assert all(answer.status == "accepted" for answer in receipts.values())
    assert len(receipts) == sum(1 for example in examples for message in example.messages if message.at < end_ms)
    market = sample_market()
    for example in examples:
        # the last 5 minutes of which the clock is 2 minutes past
        outcomes, scores = settled(example, market, end_ms // 1_000 - 300)
        key = example.record.encode()
        of_record = [output for output in on.run.outputs if output.key == key]
        assert [outcome_content(each.value) for each in of_record if each.topic is OUTCOMES] == outcomes
        assert [score_content(each.value) for each in of_record if each.topic is SCORES] == scores
        assert {row[2] for row in outcomes} == {"pending", "revealed", "unscorable"}
        assert all(each.timestamp_ms % (5 * MINUTE_MS) == 0 for each in of_record)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_batches_paces_and_restarts_change_no_receipt_outcome_or_score(seed: int) -> None:
    examples = busy_day(seed, calls=8, hours=9)
    end_ms = START_MS + 11 * HOUR_MS
    async with stage() as on:
        await in_step(on, records_of(examples, RecordMaker()), end_ms, 5 * MINUTE_MS)
        expected, remembered = sent(on), on.run.remembered()
    async with stage() as on:
        await on.until(end_ms, due_before(records_of(examples, RecordMaker()), 0, end_ms))
        assert sent(on) == expected
        assert on.run.remembered() == remembered
    async with stage() as on:
        await at_random(on, records_of(examples, RecordMaker()), end_ms, Random(seed))
        assert sent(on) == expected
        assert on.run.remembered() == remembered


async def test_what_the_contract_does_not_take_is_refused_with_its_code() -> None:
    example = Example(BOB, 1, LIST_COINS, START_MS, 0)
    call = Call("BTC", 1, 600, b"\x07" * 32)
    committed_ms = START_MS + 10_000
    exit_ms = (entry_at(committed_ms // 1_000) + 600) * 1_000
    opened = example.messages[0]
    first = example.commit(call, committed_ms)
    codes = {
        opened.post: None,
        first.post: None,
        example.commit(call, committed_ms + 1, call_id=0).post: "stale_id",
        example.commit(call, committed_ms + 2, call_id=1, horizon_s=601).post: "horizon_not_minutes",
        example.commit(call, committed_ms + 3, call_id=1, horizon_s=240).post: "horizon_out_of_range",
        example.commit(call, committed_ms + 4, call_id=1, hash="0x" + "00" * 32).post: "zero_hash",
        example.commit(call, committed_ms + 5, record=f"{BOB}/2").post: "unknown_record",
        example.reveal(0, call, exit_ms - 1, accepted=False).post: "reveal_too_early",
        example.reveal(0, call, exit_ms + 1, accepted=False, side=-1).post: "hash_mismatch",
        example.reveal(0, call, exit_ms + 2, accepted=False, horizon_s=660).post: "hash_mismatch",
        example.reveal(0, call, exit_ms + 3, accepted=False, coin_index=3).post: "bad_coin",
        example.reveal(1, call, exit_ms + 4, accepted=False).post: "unknown_call",
        example.reveal(0, call, exit_ms + 5).post: None,
        example.reveal(0, call, exit_ms + 6, accepted=False).post: "already_revealed",
        example.reveal(0, call, exit_ms + 7, accepted=False, record=f"{ALICE}/0").post: "unknown_record",
    }
    async with stage() as on:
        await on.until(START_MS + HOUR_MS, records_of([example], RecordMaker()))
        receipts = on.receipts()
    assert {post: answer.code for post, answer in receipts.items()} == codes
    accepted = {answer.kind: answer for answer in receipts.values() if answer.status == "accepted"}
    assert accepted["arena.open"].ref == example.record
    assert accepted["arena.commit"].ref == accepted["arena.reveal"].ref == f"{example.record}/0"
    assert all(answer.detail and answer.agent == BOB for answer in receipts.values())


async def test_a_record_that_the_contract_does_not_open_takes_no_commit() -> None:
    example = Example(BOB, 1, ("BTC", "a coin of 17 char"), START_MS, 0)
    commit = example.commit(Call("BTC", 1, 600, bytes(32)), START_MS + 1)
    async with stage() as on:
        await on.until(START_MS + 2 * HOUR_MS, records_of([example], RecordMaker()))
        assert on.receipts()[example.messages[0].post].code == "bad_coin"
        assert on.receipts()[commit.post].code == "unknown_record"
        assert on.outcomes() == []


async def test_a_commit_and_a_repeat_of_it_count_once_even_after_its_decision() -> None:
    example = Example(ALICE, 0, None, START_MS, 0)
    example.commit(Call("ETH", 1, 600, bytes(32)), START_MS + 1)
    make = RecordMaker()
    async with stage() as on:
        await on.until(START_MS + MINUTE_MS, records_of([example, example], make))
        await on.until(START_MS + 2 * MINUTE_MS, records_of([example], make))
        on.run.restart()
        await on.until(START_MS + 3 * MINUTE_MS, records_of([example], make))
        assert len(on.run.sent(RECEIPTS)) == 1


async def test_a_commit_never_revealed_is_withheld_after_its_grace() -> None:
    examples = [Example(ALICE, 0, None, ms("2025-06-03T00:00"), 0), Example(BOB, 1, LIST_COINS, 0, 100)]
    for example in examples:
        coin = "BTC"
        example.commit(Call(coin, 1, 600, b"\x01" * 32), ms("2025-06-03T00:03"))
        example.commit(Call(coin, -1, 7_200, b"\x02" * 32), ms("2025-06-03T00:07"))
    end_ms = ms("2025-06-10T06:00")
    async with stage("2025-06-03T00:00") as on:
        await on.until(end_ms, records_of(examples, RecordMaker()))
        outcomes = on.outcomes()
    market = sample_market()
    for example in examples:
        mine = [outcome_content(row.encode()) for row in outcomes if row.record == example.record]
        expected, _ = settled(example, market, end_ms // 1_000 - 300)
        # bits of later worst outcomes may move with the window, so every change counts
        assert mine == expected
        withheld = [row for row in outcomes if row.record == example.record and row.status == "withheld"]
        assert [row.at for row in withheld[:2]] == [ms("2025-06-10T00:15"), ms("2025-06-10T02:10")]
        assert all(row.net is not None and row.net < 0 for row in withheld)


async def test_an_exit_into_the_halt_is_priced_once_its_empty_candle_closed() -> None:
    example = Example(ALICE, 0, None, ms("2025-06-08T09:00"), 0)
    call = Call("BTC", 1, 300, b"\x05" * 32)
    example.commit(call, ms("2025-06-08T10:00"))
    example.reveal(0, call, ms("2025-06-08T10:07"))
    async with stage("2025-06-08T09:00") as on:
        await on.until(ms("2025-06-08T10:20"), records_of([example], RecordMaker()))
        rows = [(row.at, row.status, row.coin, row.candles) for row in on.outcomes()]
        again = sent(on)
    assert rows == [
        (ms("2025-06-08T10:00"), "pending", None, None),
        (ms("2025-06-08T10:10"), "pending", "BTC", None),
        (ms("2025-06-08T10:15"), "revealed", "BTC", "5m"),
    ]
    async with stage("2025-06-08T09:00") as on:
        await on.until(ms("2025-06-08T10:12"), records_of([example], RecordMaker()))
        on.run.restart()
        await on.until(ms("2025-06-08T10:20"))
        assert sent(on) == again


async def test_the_promise_waits_for_the_evaluation_that_comes_next() -> None:
    example = Example(ALICE, 0, None, START_MS, 0)
    example.commit(Call("ETH", 1, 600, bytes(32)), START_MS + MINUTE_MS)
    async with stage() as on:
        assert await on.until(START_MS + 50 * MINUTE_MS, records_of([example], RecordMaker())) == (
            START_MS + 50 * MINUTE_MS
        )
        assert await on.until(START_MS + 61 * MINUTE_MS) == START_MS + 60 * MINUTE_MS
        assert await on.until(START_MS + 62 * MINUTE_MS) == START_MS + 62 * MINUTE_MS
        assert [row.at for row in on.outcomes()] == [START_MS + 60 * MINUTE_MS]


async def test_an_evaluation_waits_for_the_reveals_of_its_own_second_however_far_the_clock_is() -> None:
    example = Example(ALICE, 0, None, START_MS, 0)
    call = Call("ETH", 1, 600, bytes(32))
    example.commit(call, START_MS + MINUTE_MS)
    example.reveal(0, call, START_MS + HOUR_MS + 900)
    commit, reveal = records_of([example], RecordMaker())
    async with stage() as on:
        await on.venue.clock.advance(START_MS + 2 * HOUR_MS)
        early = [Watermark(topic, START_MS + 2 * HOUR_MS) for topic in (COMMITS, CLOCK)]
        await on.run.work([commit, *early, Watermark(REVEALS, START_MS + HOUR_MS + 800)])
        assert on.outcomes() == []
        await on.run.work([reveal, Watermark(REVEALS, START_MS + HOUR_MS + 1_000)])
        assert [(row.at, row.status) for row in on.outcomes()] == [(START_MS + HOUR_MS, "revealed")]
