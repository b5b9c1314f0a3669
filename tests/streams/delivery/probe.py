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
from streams.delivery.watermarks import header
from topics.base import Message
from topics.registry import POSTS, QUOTES, Topic

WRITER = "ingress"
WITHIN_S = 60


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
    marked: asyncio.Event

    def mark(self, agent: str, topic: str, partition: int, next_offset: int) -> None:
        """Mark, then note the offset."""
        if not self.loses_marks:
            super().mark(agent, topic, partition, next_offset)
        self.log_of_marks.append(("mark", (topic.removeprefix(self.bus.prefix), partition, next_offset)))
        self.marked.set()


@dataclass
class Running:
    """A running app and what it did."""

    app: WatchedApp
    log: list[tuple[str, Any]] = field(default_factory=list)

    async def until_marked(self, next_offsets: Mapping[int, int]) -> None:
        """Return once the posts are done with, up to an offset in each partition."""
        wanted = [("mark", (POSTS.name, number, offset)) for number, offset in next_offsets.items()]
        while not all(mark in self.log for mark in wanted):
            self.app.marked.clear()
            await self.app.marked.wait()

    def table(self) -> Mapping[str, bytes]:
        """Return what the agent's table holds."""
        table: Any = self.app.tables["probe"]
        return dict(table.data.data)


def linger_behind_seeks(consumer: Any) -> None:
    """Give the consumer time between its seek behind recovery and what recovery does next.

    That is until two batches have come for the agent, of which it works on one and has the other in its queue, or until
    two fetches are over.
    """
    seek, fetch, deliver = consumer.perform_seek, consumer._wait_next_records, consumer.callback
    fetches, batches = asyncio.Semaphore(0), asyncio.Semaphore(0)

    async def both(signals: asyncio.Semaphore) -> None:
        await signals.acquire()
        await signals.acquire()

    async def perform_seek() -> None:
        recovering = consumer.flow_active
        await seek()
        if recovering:
            waits = {asyncio.ensure_future(both(fetches)), asyncio.ensure_future(both(batches))}
            _, left = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in left:
                wait.cancel()

    async def wait_next_records(timeout: float) -> Any:  # noqa: ASYNC109
        fetched = await fetch(timeout)
        fetches.release()
        return fetched

    async def callback(message: Any) -> None:
        await deliver(message)
        if message.topic.endswith(POSTS.name):
            batches.release()

    consumer.perform_seek, consumer._wait_next_records, consumer.callback = perform_seek, wait_next_records, callback


@asynccontextmanager
async def running(
    bus: Bus, data: Path, *, loses_marks: bool = False, lingers_behind_seeks: bool = False
) -> AsyncIterator[Running]:
    """Run the probe on a bus until the block ends."""
    log: list[tuple[str, Any]] = []
    async with asyncio.timeout(WITHIN_S), WatchedPublisher(bus.bootstrap, log, prefix=bus.prefix) as publisher:
        app = WatchedApp(bus, publisher, str(data))
        app.log_of_marks = log
        app.marked = asyncio.Event()
        app.loses_marks = loses_marks
        AgentShell(app, probe_spec(), {})
        app.finalize()
        if lingers_behind_seeks:
            linger_behind_seeks(app.consumer)
        await app.start()
        try:
            yield Running(app, log)
        finally:
            await app.stop()


def notes(records: Iterable[ConsumerRecord]) -> list[Note]:
    """Return the notes that records carry."""
    return [Note.decode(record.value) for record in records]


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
