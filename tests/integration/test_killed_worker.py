"""Tests that killing the engine at any moment changes nothing of what it says in the end."""

import asyncio
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import pytest

from referee.demo.topics_reader import raw_messages
from referee.embedded.server import EmbeddedServer
from rules.floor import ledger
from rules.market import FIVE_MINUTES_MS
from streams.delivery.outbox import Output
from tests.integration.engine import Engine
from tests.integration.world import AGENTS, COINS, FIRST_MS, World, call, world
from tests.streams.delivery.reader import Reader
from topics.floor import Call, Settlement
from topics.ingress import Receipt
from topics.operations import Entry, LedgerEntry, Progress
from topics.registry import (
    ALERTS,
    CALLS,
    DEAD_LETTERS,
    ENTRIES,
    HEADS,
    INGRESS,
    LEDGER,
    LEVELS,
    POSTS,
    PROGRESS,
    QUOTES,
    RECEIPTS,
    RESULTS,
    SETTLEMENTS,
    STANDINGS,
    TOUCHES,
    VOLATILITY,
    Topic,
)

pytestmark = pytest.mark.embedded

STEPS = 18
POSTING_STEPS = 5
COMPARED = (
    RECEIPTS, VOLATILITY, POSTS, QUOTES, CALLS, LEVELS, TOUCHES, SETTLEMENTS, RESULTS, STANDINGS, ENTRIES,
    LEDGER, HEADS, ALERTS, DEAD_LETTERS,
)  # fmt: skip
SEED = 20
HELD = (sys.executable, "-m", "tests.integration.held_worker")
HELD_POSTING = (*HELD, "ingress:2")
HELD_SETTLING = (*HELD, "settlement:2", "ledger:0")
HELD_WITHIN_S = 60
SILENCE_MS = 700


async def posts_of(running: World, step: int, now_ms: int) -> list[Output]:
    """Return what the agents send in a step: calls, copies of earlier envelopes, garbage."""
    if step > POSTING_STEPS:
        return []
    seen_ms = now_ms - FIVE_MINUTES_MS
    prices = {coin: await running.price(coin, seen_ms) for coin in COINS}
    at_ms = seen_ms + 60_000
    posts = [call(number, at_ms + number, prices[COINS[number % len(COINS)]]) for number in range(AGENTS)]
    copied = running.sent[step]
    posts.append(Output(INGRESS, copied.key, copied.value, at_ms + 100))
    posts.append(Output(INGRESS, b"agent-0", b"{" * step, at_ms + 101))
    return posts


async def run(running: World) -> None:
    """Run all steps, each as soon as the agents that ask the venue have reached the one before."""
    await running.open()
    now_ms = FIRST_MS
    for step in range(1, STEPS + 1):
        now_ms = FIRST_MS + step * FIVE_MINUTES_MS
        await running.step(now_ms, await posts_of(running, step, now_ms))
        await running.settled(now_ms)
    await running.finished(now_ms)


async def die_and_live(engine: Engine, reports: Reader) -> None:
    """Kill the engine three times: twice with outputs out and their state not, in between at a random moment."""
    await silence_behind(reports, "held/ingress")
    engine.kill()
    engine.start(*HELD_SETTLING)
    moment = Random(SEED).randrange(1, 60)
    await reports.until(PROGRESS, len(reports.of(PROGRESS)) + moment)
    engine.kill()
    engine.start(*HELD_SETTLING)
    await silence_behind(reports, "held/ledger")
    engine.kill()
    engine.start()


async def silence_behind(reports: Reader, origin: str) -> None:
    """Return when an append is held and everybody else has done what there is to do."""
    async with asyncio.timeout(HELD_WITHIN_S):
        while all(Progress.decode(record.value).origin != origin for record in reports.of(PROGRESS)):
            await reports.read()
        while await reports.read(timeout_ms=SILENCE_MS):
            continue


async def said(running: World) -> dict[str, Counter[bytes]]:
    """Return every message of the compared topics and how often it was sent."""
    return {
        topic.name: Counter([lasting(topic, raw) async for raw in raw_messages(running.bus, topic)])
        for topic in COMPARED
    }


def lasting(topic: Topic, raw: bytes) -> bytes:
    """Return a message without what the venues answered word for word: asked again, they say it as of a later time."""
    if topic in (SETTLEMENTS, RESULTS):
        return Settlement.decode(raw).model_copy(update={"fetched": ()}).encode()
    if topic is ENTRIES:
        entry = Entry.decode(raw)
        return entry.model_copy(update={"body": {**entry.body, "evidence": None}}).encode()
    return raw


async def test_an_engine_killed_at_any_moment_says_what_a_calm_one_says(broker: EmbeddedServer, tmp_path: Path) -> None:
    async with (
        world(broker.url, "calm.", tmp_path / "calm") as calm,
        world(broker.url, "killed.", tmp_path / "killed", HELD_POSTING) as killed,
        Reader(killed.bus, PROGRESS) as reports,
    ):
        async with asyncio.TaskGroup() as group:
            group.create_task(run(calm))
            group.create_task(run(killed))
            group.create_task(die_and_live(killed.engine, reports))
        expected, found = await said(calm), await said(killed)
    assert not any(map(repeats, expected.values()))
    for name, counts in expected.items():
        assert found[name].keys() == counts.keys(), name
    # the deaths were where they were meant to be: what was said before them was said again
    assert all(repeats(found[topic.name]) for topic in (POSTS, SETTLEMENTS, LEDGER))
    check_answers(killed.sent, found)
    check_ledger(found)


def repeats(counts: Counter[bytes]) -> bool:
    """Tell whether a message was sent more than once."""
    return max(counts.values(), default=0) > 1


def check_answers(sent: Sequence[Output], found: Mapping[str, Counter[bytes]]) -> None:
    """Assert one receipt an envelope, one settlement a call, every call settled."""
    receipts = [Receipt.decode(raw) for raw in found[RECEIPTS.name]]
    assert len({receipt.id for receipt in receipts}) == len(receipts) == len(sent)
    calls = {Call.decode(raw).id for raw in found[CALLS.name]}
    settlements = [Settlement.decode(raw) for raw in found[SETTLEMENTS.name]]
    assert len(calls) == sum(receipt.status == "accepted" and receipt.kind == "floor.call" for receipt in receipts)
    assert Counter(settlement.call for settlement in settlements) == Counter(calls)


def check_ledger(found: Mapping[str, Counter[bytes]]) -> None:
    """Assert that the chain holds each entry once and is unbroken."""
    entries = sorted((LedgerEntry.decode(raw) for raw in found[LEDGER.name]), key=lambda entry: entry.seq)
    assert len({entry.id for entry in entries}) == len(entries) == len(found[ENTRIES.name])
    before = ledger.GENESIS_HASH
    for number, entry in enumerate(entries, start=entries[0].seq):
        assert (entry.seq, entry.prev) == (number, before)
        before = ledger.entry_hash(entry.seq, entry.kind, entry.unit, entry.at, entry.body, entry.prev)
        assert entry.hash == before
