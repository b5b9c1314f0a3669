"""Tests that killing the engine at any moment changes nothing of what it says in the end."""

import asyncio
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
from tests.integration.world import AGENTS, COINS, FIRST_MS, World, call, world
from tests.streams.delivery.reader import Reader
from topics.floor import Call, Settlement
from topics.ingress import Receipt
from topics.operations import LedgerEntry
from topics.registry import (
    ALERTS,
    CALLS,
    DEAD_LETTERS,
    ENTRIES,
    EVIDENCE,
    HEADS,
    INGRESS,
    LEDGER,
    LEVELS,
    PROGRESS,
    QUOTES,
    RECEIPTS,
    RESULTS,
    SETTLEMENTS,
    STANDINGS,
    TOUCHES,
    VOLATILITY,
)

pytestmark = pytest.mark.embedded

STEPS = 18
POSTING_STEPS = 5
COMPARED = (
    RECEIPTS, VOLATILITY, QUOTES, CALLS, LEVELS, TOUCHES, SETTLEMENTS, RESULTS, EVIDENCE, STANDINGS, ENTRIES, LEDGER,
    HEADS, ALERTS, DEAD_LETTERS,
)  # fmt: skip
SEED = 20


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


async def run(running: World, kills: Mapping[int, int]) -> None:
    """Run all steps; `kills` says in which the engine is killed, and after how many progress records of the step."""
    await running.open()
    async with Reader(running.bus, PROGRESS) as reports:
        for step in range(1, STEPS + 1):
            now_ms = FIRST_MS + step * FIVE_MINUTES_MS
            await running.step(now_ms, await posts_of(running, step, now_ms))
            if step in kills:
                await reports.until(PROGRESS, len(reports.of(PROGRESS)) + kills[step])
                running.engine.kill()
                running.engine.start()
            await running.settled(now_ms)
            while await reports.read(timeout_ms=0):
                continue
    await running.finished(now_ms)


async def said(running: World) -> dict[str, Counter[bytes]]:
    """Return every message of the compared topics and how often it was sent."""
    return {topic.name: Counter([raw async for raw in raw_messages(running.bus, topic)]) for topic in COMPARED}


async def test_an_engine_killed_at_any_moment_says_what_a_calm_one_says(broker: EmbeddedServer, tmp_path: Path) -> None:
    chance = Random(SEED)
    kills = {step: chance.randrange(1, 12) for step in (2, 15)}
    async with (
        world(broker.url, "calm.", tmp_path / "calm") as calm,
        world(broker.url, "killed.", tmp_path / "killed") as killed,
    ):
        async with asyncio.TaskGroup() as group:
            group.create_task(run(calm, {}))
            group.create_task(run(killed, kills))
        expected, found = await said(calm), await said(killed)
    repeated = {name for name, counts in expected.items() if counts and max(counts.values()) > 1}
    assert repeated <= {EVIDENCE.name}
    for name, counts in expected.items():
        assert found[name].keys() == counts.keys(), name
    check_answers(killed.sent, found)
    check_ledger(found)


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
