"""Tests of the chain and its hourly heads."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from aiokafka.structs import ConsumerRecord
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import ledger
from rules.canonical import canonical_json, canonical_sha256
from rules.floor import merkle
from streams.delivery.reducer import PoisonError
from tests.agents.records import RecordMaker
from tests.agents.runs import Run, Watermark
from topics.operations import Entry, Head, LedgerEntry
from topics.registry import ENTRIES, HEADS, LEDGER

HOUR_MS = 3_600_000
H0 = 1_749_340_800_000
SPEC = ledger.spec()
record = RecordMaker("test.")


def entry(name: str, at: int, kind: str = "settle", **body: Any) -> ConsumerRecord:
    message = Entry.model_validate(
        {"id": name, "kind": kind, "unit": "standing", "at": at, "body": body or {"type": "settlement", "call": name}}
    )
    return record(ENTRIES, name, message, at)


def run() -> Run:
    return Run(SPEC.reducer, SPEC.inputs)


def chain(done: Run) -> list[LedgerEntry]:
    return [LedgerEntry.decode(raw) for raw in done.sent(LEDGER)]


def heads(done: Run) -> list[Head]:
    return [Head.decode(raw) for raw in done.sent(HEADS)]


def published(one: LedgerEntry) -> dict[str, Any]:
    """Return the entry as Rule F12 writes it."""
    return {name: value for name, value in one.model_dump().items() if name != "id"}


def check_chain(entries: Sequence[LedgerEntry]) -> None:
    """Assert that sequence, links and hashes hold, from the published messages alone."""
    prev = "0" * 64
    for number, one in enumerate(entries):
        content = published(one)
        assert one.hash == canonical_sha256({name: value for name, value in content.items() if name != "hash"})
        assert (one.seq, one.prev) == (number, prev)
        prev = one.hash


def check_heads(entries: Sequence[LedgerEntry], found: Sequence[Head]) -> None:
    """Assert that each head is that of the entries before its hour, by the plain Merkle tree."""
    for head in found:
        covered = [one for one in entries if one.at < head.at]
        leaves = [merkle.leaf_hash(canonical_json(published(one))) for one in covered]
        assert (head.size, head.head, head.root) == (len(covered), covered[-1].hash, merkle.root(leaves).hex())


async def test_entries_are_appended_in_the_order_of_time_kind_and_id_once_the_watermark_passed_them() -> None:
    done = run()
    late = [entry("b", H0 + 5), entry("a", H0 + 5), entry("z", H0 + 5, "seal"), entry("c", H0 + 1), entry("d", H0 + 6)]
    assert await done.work([*late, Watermark(ENTRIES, H0 + 6)]) == H0 + 6
    assert [one.id for one in chain(done)] == ["c", "z", "a", "b"]
    assert [output.key for output in done.outputs] == [b"0", b"1", b"2", b"3"]
    done.restart()
    await done.work([Watermark(ENTRIES, H0 + 7)])
    assert [one.id for one in chain(done)] == ["c", "z", "a", "b", "d"]
    check_chain(chain(done))


async def test_an_id_is_appended_once_for_good() -> None:
    done = run()
    await done.work([entry("a", H0), entry("a", H0), entry("a", H0 + 1), Watermark(ENTRIES, H0 + 2)])
    done.restart()
    await done.work([entry("a", H0), entry("b", H0 + 2), Watermark(ENTRIES, H0 + 3)])
    assert [(one.seq, one.id) for one in chain(done)] == [(0, "a"), (1, "b")]
    assert done.remembered()["0/appended/b"] == b"1"


async def test_the_head_of_an_hour_covers_the_entries_before_it_and_none_at_it() -> None:
    done = run()
    await done.work([entry("a", H0 + HOUR_MS - 1), entry("b", H0 + HOUR_MS), Watermark(ENTRIES, H0 + HOUR_MS)])
    assert [(head.at, head.size) for head in heads(done)] == [(H0 + HOUR_MS, 1)]
    await done.work([Watermark(ENTRIES, H0 + 2 * HOUR_MS - 1)])
    assert len(heads(done)) == 1
    await done.work([Watermark(ENTRIES, H0 + 2 * HOUR_MS)])
    assert [(head.at, head.size) for head in heads(done)] == [(H0 + HOUR_MS, 1), (H0 + 2 * HOUR_MS, 2)]
    check_heads(chain(done), heads(done))


async def test_there_is_a_head_for_every_hour_since_the_first_entry_when_the_watermark_jumps() -> None:
    done = run()
    await done.work([Watermark(ENTRIES, H0)])
    await done.work([entry("a", H0), entry("b", H0 + 3 * HOUR_MS), Watermark(ENTRIES, H0 + 5 * HOUR_MS + 1)])
    assert [(head.at - H0) // HOUR_MS for head in heads(done)] == [1, 2, 3, 4, 5]
    assert [head.size for head in heads(done)] == [1, 1, 1, 2, 2]
    assert [output.timestamp_ms for output in done.outputs if output.topic is HEADS] == [one.at for one in heads(done)]
    assert done.outputs[1].key == str(H0 + HOUR_MS).encode()


async def test_an_empty_ledger_has_no_head() -> None:
    done = run()
    assert await done.work([Watermark(ENTRIES, H0 + 9 * HOUR_MS)]) == H0 + 9 * HOUR_MS
    assert (done.outputs, dict(done.remembered())) == ([], {})


async def test_an_entry_from_behind_the_watermark_is_appended_and_published_heads_stay() -> None:
    done = run()
    await done.work([entry("a", H0), Watermark(ENTRIES, H0 + HOUR_MS)])
    await done.work([entry("late", H0 + 1), Watermark(ENTRIES, H0 + 2 * HOUR_MS)])
    assert [(one.seq, one.id) for one in chain(done)] == [(0, "a"), (1, "late")]
    assert [(head.at, head.size) for head in heads(done)] == [(H0 + HOUR_MS, 1), (H0 + 2 * HOUR_MS, 2)]
    check_chain(chain(done))


async def test_a_body_without_canonical_json_is_refused_and_the_chain_goes_on() -> None:
    done = run()
    with pytest.raises(PoisonError, match="body of entry a: nan is no JSON number"):
        await done.work([entry("a", H0, value=float("nan"))])
    await done.work([entry("b", H0), Watermark(ENTRIES, H0 + 1)])
    assert [one.id for one in chain(done)] == ["b"]


def entries_of(seed: int) -> list[ConsumerRecord]:
    draw = random.Random(seed)
    return [
        entry(
            f"{draw.getrandbits(64):016x}",
            H0 + draw.choice([draw.randint(0, 12 * HOUR_MS), draw.randint(0, 12) * HOUR_MS]),
            draw.choice(["seal", "settle"]),
            score=draw.uniform(-1e3, 1e3),
            whole=float(draw.randint(-5, 5)),
            tiny=draw.random() * 1e-9,
            text="naïve 😀 \u2028",
        )
        for _ in range(draw.randint(1, 40))
    ]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), order=st.randoms(use_true_random=False))
async def test_any_order_batching_restart_and_pace_of_the_watermark_gives_the_same_chain_and_heads(
    seed: int, order: random.Random
) -> None:
    whole = run()
    entries = entries_of(seed)
    end_ms = H0 + 20 * HOUR_MS + 17
    await whole.work([*entries, Watermark(ENTRIES, end_ms)])
    arrived = list(entries)
    order.shuffle(arrived)
    done = run()
    while arrived:
        batch: list[ConsumerRecord | Watermark] = []
        for _ in range(order.randint(1, 10)):
            if arrived:
                batch.append(arrived.pop())
                through = min((one.timestamp for one in arrived), default=end_ms)
                batch += [Watermark(ENTRIES, order.randint(H0 - HOUR_MS, through))] if order.random() < 0.7 else []
        await done.work([*batch, *order.sample(entries, order.randint(0, 1))] if order.random() < 0.3 else batch)
        if order.random() < 0.2:
            done.restart()
    await done.work([Watermark(ENTRIES, end_ms)])
    assert done.sent(LEDGER) == whole.sent(LEDGER)
    assert done.sent(HEADS) == whole.sent(HEADS)
    assert done.remembered() == whole.remembered()
    check_chain(chain(done))
    check_heads(chain(done), heads(done))
    first_ms = min(one.timestamp for one in entries)
    assert [head.at for head in heads(done)] == list(range((first_ms // HOUR_MS + 1) * HOUR_MS, end_ms, HOUR_MS))
