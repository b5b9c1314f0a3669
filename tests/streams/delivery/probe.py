"""A small agent that writes down what it is given, and a running app around it, for the tests of the shell."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.structs import ConsumerRecord

from streams.app import Bus, RefereeApp
from streams.delivery.outbox import Outbox, Output
from streams.delivery.publisher import Publisher
from streams.delivery.reducer import AgentSpec, PoisonError, Reducer
from streams.delivery.shell import AgentShell
from streams.delivery.watermarks import header, parse
from topics.base import Message
from topics.registry import POSTS, QUOTES, Topic

WRITER = "ingress"
WITHIN_S = 30


class Note(Message):
    """What the probe says about a record."""

    partition: int
    offset: int
    text: str
    seen: int


class ProbeReducer(Reducer):
    """Notes each record and counts them in its state; the texts `poison` and `fault` are what they say."""

    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Note a record."""
        text = (record.value or b"").decode()
        if text == "fault":
            raise RuntimeError(f"a fault at offset {record.offset}")
        if text == "undecodable":
            Note.decode(record.value)
        seen = int(self.state.get("seen") or b"0") + 1
        note = Note(partition=record.partition, offset=record.offset, text=text, seen=seen)
        out.emit(QUOTES, text, note, record.timestamp)
        if text == "poison":
            raise PoisonError("bad_note", f"offset {record.offset} is poison")
        self.state.put("seen", str(seen).encode())


def probe_spec() -> AgentSpec:
    """Return the agent: posts in, notes out to the topic of quotes."""
    return AgentSpec("probe", (POSTS,), (QUOTES,), ProbeReducer)


class WatchedPublisher(Publisher):
    """A publisher that writes down what was delivered, in order."""

    def __init__(self, bootstrap: str, log: list[tuple[str, Any]], *, prefix: str) -> None:
        super().__init__(bootstrap, prefix=prefix, idempotent=False)
        self._log = log

    async def send(self, outputs: Iterable[Output]) -> None:
        """Send, then note the topics."""
        sent = list(outputs)
        await super().send(sent)
        self._log.append(("outputs", [output.topic.name for output in sent if not output.headers]))

    async def append_changes(
        self, changelog: str, partition: int, changes: Sequence[tuple[str, bytes | None]], timestamp_ms: int
    ) -> None:
        """Append, then note the keys."""
        await super().append_changes(changelog, partition, changes, timestamp_ms)
        self._log.append(("state", dict(changes)))


class WatchedApp(RefereeApp):
    """An app that writes down the marks; with `loses_marks` it commits none, as if killed ahead of every commit."""

    log_of_marks: list[tuple[str, Any]]
    loses_marks = False

    def mark(self, agent: str, topic: str, partition: int, next_offset: int) -> None:
        """Mark, then note the offset."""
        if not self.loses_marks:
            super().mark(agent, topic, partition, next_offset)
        self.log_of_marks.append(("mark", (topic.removeprefix(self.bus.prefix), partition, next_offset)))


@dataclass
class Running:
    """A running app and what it did."""

    app: RefereeApp
    log: list[tuple[str, Any]] = field(default_factory=list)

    def table(self) -> Mapping[str, bytes]:
        """Return what the agent's table holds."""
        return dict(self.app.tables["probe"].data.data)


@asynccontextmanager
async def running(bus: Bus, data: Path, *, loses_marks: bool = False) -> AsyncIterator[Running]:
    """Run the probe on a bus until the block ends."""
    log: list[tuple[str, Any]] = []
    async with asyncio.timeout(2 * WITHIN_S), WatchedPublisher(bus.bootstrap, log, prefix=bus.prefix) as publisher:
        app = WatchedApp(bus, publisher, str(data))
        app.log_of_marks = log
        app.loses_marks = loses_marks
        AgentShell(app, probe_spec(), {})
        app.finalize()
        await app.start()
        try:
            yield Running(app, log)
        finally:
            await app.stop()


def post(text: str | None, at_ms: int, partition: int = 0) -> Output:
    """Return a record for the probe."""
    return Output(POSTS, b"key", text.encode() if text is not None else None, at_ms, partition)  # type: ignore[arg-type]


def marks(bus: Bus, at_ms: int, topic: Topic = POSTS, writer: str = WRITER) -> list[Output]:
    """Return a watermark for every partition of a topic."""
    return [
        Output(topic, b"", b"", at_ms, number, header(writer, at_ms))
        for number in range(topic.partitions(bus.partitions))
    ]


async def sent(bus: Bus, outputs: Iterable[Output]) -> None:
    """Send records with a producer of the test's own."""
    async with Publisher(bus.bootstrap, prefix=bus.prefix, idempotent=False) as publisher:
        await publisher.send(outputs)


class Reader:
    """Reads topics from their start, so that a test can wait for what must come."""

    def __init__(self, bus: Bus, *topics: Topic) -> None:
        self._bus = bus
        self._topics = topics
        self.records: list[ConsumerRecord] = []
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=bus.bootstrap, fetch_max_wait_ms=bus.fetch_max_wait_ms, enable_auto_commit=False
        )

    async def __aenter__(self) -> "Reader":
        await self._consumer.start()
        partitions = [
            TopicPartition(self._bus.topic_name(topic), number)
            for topic in self._topics
            for number in range(topic.partitions(self._bus.partitions))
        ]
        self._consumer.assign(partitions)
        await self._consumer.seek_to_beginning(*partitions)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._consumer.stop()

    def of(self, topic: Topic) -> list[ConsumerRecord]:
        """Return the data records of a topic read so far, in order."""
        name = self._bus.topic_name(topic)
        return [record for record in self.records if record.topic == name and not record.headers]

    def notes(self) -> list[Note]:
        """Return the probe's notes read so far."""
        return [Note.decode(record.value) for record in self.of(QUOTES)]

    async def read(self) -> None:
        """Take what comes within half a second."""
        for batch in (await self._consumer.getmany(timeout_ms=500)).values():
            self.records += batch

    async def until(self, topic: Topic, count: int) -> list[ConsumerRecord]:
        """Return a topic's data records once there are so many."""
        async with asyncio.timeout(WITHIN_S):
            while len(self.of(topic)) < count:
                await self.read()
        return self.of(topic)

    async def until_watermark(self, topic: Topic, time_ms: int) -> list[ConsumerRecord]:
        """Return a topic's data records once each of the probe's partitions has promised this time behind them."""
        expected = topic.partitions(self._bus.partitions) * self._bus.partitions
        async with asyncio.timeout(WITHIN_S):
            while len(self._promises(topic, time_ms)) < expected:
                await self.read()
        return self.of(topic)

    def _promises(self, topic: Topic, time_ms: int) -> set[tuple[int, str]]:
        name = self._bus.topic_name(topic)
        return {
            (record.partition, parse(record.headers)[0])
            for record in self.records
            if record.topic == name and record.headers and record.timestamp >= time_ms
        }


async def committed(bus: Bus, topic: Topic) -> Mapping[int, int | None]:
    """Return the offsets that the bus's group has committed, by partition."""
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bus.bootstrap, group_id=f"{bus.prefix}{bus.group}", enable_auto_commit=False
    )
    await consumer.start()
    try:
        return {
            number: await consumer.committed(TopicPartition(bus.topic_name(topic), number))
            for number in range(topic.partitions(bus.partitions))
        }
    finally:
        await consumer.stop()
