"""Tests of the order in which a unit of work becomes visible, on a real broker."""

import base64
from pathlib import Path

import pytest

from streams.app import Bus
from streams.delivery.watermarks import parse
from streams.provision import create_topics
from tests.streams.delivery.probe import (
    Note,
    committed,
    marks,
    notes,
    post,
    probe_spec,
    running,
    sent,
)
from tests.streams.delivery.reader import Reader
from topics.operations import DeadLetter
from topics.registry import DEAD_LETTERS, POSTS, PROGRESS, QUOTES

pytestmark = pytest.mark.embedded
T0 = 1_750_000_000_000


@pytest.fixture
async def ready(bus: Bus) -> Bus:
    """Return a bus with its topics."""
    await create_topics(bus, [probe_spec()], stepped=True)
    return bus


async def test_outputs_are_delivered_before_state_and_state_before_offsets(ready: Bus, tmp_path: Path) -> None:
    bus = ready
    await sent(bus, [*(post(f"n{n}", T0 + n, n % 2) for n in range(20)), *marks(bus, T0 + 100)])
    async with Reader(bus, QUOTES, PROGRESS) as reader, running(bus, tmp_path) as run:
        await run.until_marked({0: 10, 1: 10})
        await reader.until_watermark(QUOTES, T0 + 100)
        assert {(note.partition, note.offset) for note in notes(reader.of(QUOTES))} == {
            (p, o) for p in (0, 1) for o in range(10)
        }
    kinds = [kind for kind, what in run.log if what]
    assert set(kinds) == {"outputs", "state", "mark"}
    covered: dict[int, int] = {}
    noted = 0
    for kind, what in run.log:
        if kind == "outputs":
            noted += what.count(QUOTES.name)
        elif kind == "state":
            assert noted >= sum(int(value) for key, value in what.items() if key.endswith("/seen"))
            (number,) = {int(key.partition("/")[0]) for key in what}
            covered[number] = int(what[f"{number}/!offsets"].split(b":")[1].rstrip(b"}"))
        else:
            _, number, next_offset = what
            # never past the watermark at offset 10, so that a restart hears it again
            assert next_offset <= min(10, covered[number])
    assert await committed(bus, POSTS) == {0: 10, 1: 10}


async def test_watermarks_stand_behind_the_data_that_they_vouch_for(ready: Bus, tmp_path: Path) -> None:
    bus = ready
    async with Reader(bus, QUOTES) as reader, running(bus, tmp_path):
        for step in range(1, 6):
            now_ms = T0 + step * 10
            await sent(bus, [*(post(f"n{n}", now_ms - 1, n % 2) for n in range(6)), *marks(bus, now_ms)])
            await reader.until_watermark(QUOTES, now_ms)
    for number in range(bus.partitions):
        promised: dict[str, int] = {}
        for record in (record for record in reader.records if record.partition == number):
            if record.headers:
                origin, time_ms = parse(record.headers)
                assert time_ms > promised.get(origin, 0)
                promised[origin] = time_ms
            else:
                origin = f"probe/{Note.decode(record.value).partition}"
                assert record.timestamp >= promised.get(origin, 0)
        assert promised == {"probe/0": T0 + 50, "probe/1": T0 + 50}


async def test_a_record_that_cannot_be_processed_becomes_a_dead_letter_and_the_others_go_on(
    ready: Bus, tmp_path: Path
) -> None:
    bus = ready
    texts = ["one", "poison", "two", "undecodable", "three"]
    await sent(bus, [*(post(text, T0 + n, 1) for n, text in enumerate(texts)), *marks(bus, T0 + 100)])
    async with Reader(bus, QUOTES, DEAD_LETTERS) as reader, running(bus, tmp_path):
        letters = [DeadLetter.decode(record.value) for record in await reader.until(DEAD_LETTERS, 2)]
        await reader.until_watermark(QUOTES, T0 + 100)
    assert [note.text for note in sorted(notes(reader.of(QUOTES)), key=lambda note: note.offset)] == [
        "one",
        "two",
        "three",
    ]
    assert [note.seen for note in sorted(notes(reader.of(QUOTES)), key=lambda note: note.offset)] == [1, 2, 3]
    by_offset = {letter.offset: letter for letter in letters}
    assert by_offset.keys() == {1, 3}
    assert (by_offset[1].cause, by_offset[3].cause) == ("bad_note", "undecodable")
    for offset, letter in by_offset.items():
        assert (letter.agent, letter.topic, letter.partition) == ("probe", bus.topic_name(POSTS), 1)
        assert base64.b64decode(letter.value or "") == texts[offset].encode()
        assert base64.b64decode(letter.key or "") == b"key"
        assert letter.at == T0 + offset


async def test_records_read_again_are_known_and_change_nothing(ready: Bus, tmp_path: Path) -> None:
    bus = ready
    await sent(bus, [*(post(f"n{n}", T0 + n, n % 2) for n in range(40)), *marks(bus, T0 + 100)])
    async with Reader(bus, QUOTES) as reader:
        async with running(bus, tmp_path, loses_marks=True) as run:
            await run.until_marked({0: 20, 1: 20})
        assert await committed(bus, POSTS) == {0: None, 1: None}
        await sent(bus, [post("last", T0 + 150, 0), *marks(bus, T0 + 200)])
        # Faust clears the agents' queues behind the seek: what is fetched in between must not be lost
        async with running(bus, tmp_path, lingers_behind_seeks=True) as run:
            await run.until_marked({0: 22, 1: 21})
            await reader.until_watermark(QUOTES, T0 + 200)
            seen = {key: value for key, value in run.table().items() if key.endswith("/seen")}
    assert len(notes(reader.of(QUOTES))) == 41
    assert seen == {"0/seen": b"21", "1/seen": b"20"}
    assert await committed(bus, POSTS) == {0: 22, 1: 21}
