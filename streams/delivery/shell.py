"""The shell around a reducer: the one way in which agents consume.

A unit of work is whatever the agent's queue holds. It is done in this order, each step awaited to the end:

1. decode and reduce its records, partition by partition, then advance to the partition's watermark;
2. deliver outputs, behind them the watermark to every partition of the output topics, and sink records;
3. append the state changes, with the source offsets that they include, to the changelog: one atomic batch a partition;
4. update the table and mark the offsets, none past the last watermark of a writer, so that a restart hears it again;
   the consumer commits marks every second and at shutdown.

A crash before 2 leaves nothing: the records are read again. Between 2 and 3 it leaves outputs whose state is unknown:
the records are reduced again and the same outputs, with the same ids, are sent again. Between 3 and 4, or before the
commit, the records are read again, found included in the state and skipped: their outputs were delivered before it.
A record that raises `PoisonError` goes to `dead-letters`; more than `DEAD_LETTER_LIMIT` of `DEAD_LETTER_WINDOW`
records stop the worker, since a bad deploy must not drain a topic. Any other error stops the worker.
"""

import asyncio
import base64
import hashlib
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import structlog
from aiokafka.structs import ConsumerRecord
from pydantic import ValidationError

from streams.app import RefereeApp
from streams.delivery.outbox import Outbox, Output
from streams.delivery.reducer import AgentSpec, PoisonError, Reducer
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker, header, is_watermark, parse
from topics.operations import DeadLetter, Progress
from topics.registry import DEAD_LETTERS, INGRESS, METRONOME, PROGRESS, Topic

UNIT_RECORDS = 5_000
DEAD_LETTER_LIMIT = 50
DEAD_LETTER_WINDOW = 1_000

log = structlog.get_logger()


class TooManyDeadLettersError(Exception):
    """So many records in a row could not be processed that the fault is more likely here than there."""


class Partition:
    """A partition of an agent at run time: its reducer, what it has heard of watermarks, what it promised."""

    def __init__(self, spec: AgentSpec, state: PartitionState, origins: Mapping[str, Sequence[str]]) -> None:
        self.state = state
        self.reducer: Reducer = spec.reducer(state)
        self.tracker = WatermarkTracker(origins)
        self.promised: int | None = None
        self.heard: dict[str, dict[str, int]] = defaultdict(dict)

    def hear(self, topic: Topic, record: ConsumerRecord) -> None:
        """Take in a watermark, of a tick on `ingress` by the broker's own time alone: anybody may write there."""
        try:
            origin, time_ms = (METRONOME, record.timestamp) if topic is INGRESS else parse(record.headers)
        except ValueError as error:
            raise PoisonError("broken_watermark", str(error)) from error
        if self.tracker.update(topic.name, origin, time_ms):
            self.heard[topic.name][origin] = record.offset


class AgentShell:
    """Runs one agent of the app; see the module's text for the order of a unit of work."""

    def __init__(self, app: RefereeApp, spec: AgentSpec, writers: Mapping[str, AgentSpec]) -> None:
        """Declare the agent and its table on the app; `writers` finds the agents that write a topic by name."""
        self._app = app
        self._spec = spec
        self._origins = {topic.name: origins_of(topic, writers, app.bus.partitions) for topic in spec.inputs}
        self._topics = {app.bus.topic_name(topic): topic for topic in spec.inputs}
        self._partitions: dict[int, Partition] = {}
        self._letters: deque[bool] = deque(maxlen=DEAD_LETTER_WINDOW)
        self._table = app.declare_table(spec) if spec.keeps_state else None
        if self._table is not None:
            self._table.on_recover(self._forget_partitions)
        self.agent = app.declare_agent(spec, self._run)

    async def _forget_partitions(self) -> None:
        self._partitions.clear()

    async def _run(self, stream: Any) -> None:
        queue = None
        async for event in stream.events():
            queue = queue or stream.channel.queue
            if self._spec.linger_s:
                await asyncio.sleep(self._spec.linger_s)
            events = [event]
            records = len(event.message.value)
            while records < UNIT_RECORDS and not queue.empty():
                events.append(queue.get_nowait())
                records += len(events[-1].message.value)
            try:
                await self._work(events)
            except Exception as error:
                # Faust would ack the batch and restart the agent behind it; a worker that cannot go on must stop.
                log.exception("agent_failed", agent=self._spec.name)
                await self._app.crash(error)
                raise

    async def _work(self, events: Sequence[Any]) -> None:
        by_partition: dict[int, list[tuple[str, list[ConsumerRecord]]]] = defaultdict(list)
        for event in events:
            by_partition[event.message.partition].append((event.message.topic, event.message.value))
        outbox = Outbox()
        work = [(number, self._partition(number), batches) for number, batches in sorted(by_partition.items())]
        for number, partition, batches in work:
            await self._reduce(number, partition, batches, outbox)
        await self._app.publisher.send(outbox.outputs)
        if self._spec.sink is not None and outbox.sink_records:
            await self._spec.sink(outbox.sink_records)
        for number, partition, batches in work:
            if self._partitions.get(number) is partition:
                await self._remember(number, partition, batches)

    async def _reduce(
        self, number: int, partition: Partition, batches: list[tuple[str, list[ConsumerRecord]]], outbox: Outbox
    ) -> None:
        for topic_name, records in batches:
            topic = self._topics[topic_name]
            for record in records:
                # what has a value on ingress is answered, whatever its headers say
                if is_watermark(record.headers) and not (topic is INGRESS and record.value):
                    self._take(partial(partition.hear, topic, record), record, outbox)
                elif not partition.state.includes(topic.name, record.offset):
                    self._take(partial(partition.reducer.apply, record, outbox), record, outbox)
            partition.state.include(topic.name, records[-1].offset + 1)
        promise = await partition.reducer.advance(partition.tracker, outbox)
        if promise is not None and (partition.promised is None or promise > partition.promised):
            outbox.outputs.extend(self._promises(number, promise))
            if self._is_reported(partition.promised, promise):
                outbox.outputs.append(self._progress(number, promise, None))
            partition.promised = promise

    def _take(self, take: Callable[[], None], record: ConsumerRecord, outbox: Outbox) -> None:
        kept = len(outbox.outputs)
        try:
            take()
            self._letters.append(False)
        except (PoisonError, ValidationError) as error:
            del outbox.outputs[kept:]
            self._letters.append(True)
            if sum(self._letters) > DEAD_LETTER_LIMIT:
                raise TooManyDeadLettersError(
                    f"{self._spec.name}: {sum(self._letters)} of the last {len(self._letters)} records"
                    f" could not be processed, limit {DEAD_LETTER_LIMIT}; the last: {error}"
                ) from error
            outbox.emit(DEAD_LETTERS, record.topic, dead_letter(self._spec.name, record, error), record.timestamp)

    def _promises(self, number: int, watermark_ms: int) -> list[Output]:
        mark = header(f"{self._spec.name}/{number}", watermark_ms)
        return [
            Output(topic, b"", b"", watermark_ms, partition, mark)
            for topic in self._spec.outputs
            if topic.writers
            for partition in range(topic.partitions(self._app.bus.partitions))
        ]

    def _is_reported(self, before_ms: int | None, promise_ms: int) -> bool:
        every_ms = self._app.bus.report_every_ms
        return self._spec.asks_venue or before_ms is None or promise_ms // every_ms > before_ms // every_ms

    def _progress(self, number: int, watermark_ms: int | None, delivered: dict[str, int] | None) -> Output:
        origin = f"{self._spec.name}/{number}"
        progress = Progress(origin=origin, watermark=watermark_ms, delivered=delivered)
        return Output(PROGRESS, origin.encode(), progress.encode(), watermark_ms or 0)

    async def _remember(
        self, number: int, partition: Partition, batches: list[tuple[str, list[ConsumerRecord]]]
    ) -> None:
        changes = partition.state.take_changes()
        if changes and self._table is not None:
            newest_ms = max(records[-1].timestamp for _, records in batches)
            await self._app.publisher.append_changes(
                self._app.bus.changelog_name(self._spec.name), number, changes, newest_ms
            )
            self._app.update_table(self._table, number, changes)
        for topic_name, records in batches:
            # an agent without a state would do again what it is handed again
            heard = partition.heard[self._topics[topic_name].name].values() if self._spec.keeps_state else ()
            self._app.mark(self._spec.name, topic_name, number, min([records[-1].offset + 1, *heard]))
        if self._spec.sink is not None:
            await self._app.publisher.send([self._progress(number, None, dict(partition.state.offsets))])

    def _partition(self, number: int) -> Partition:
        partition = self._partitions.get(number)
        if partition is None:
            prefix = f"{number}/"
            items = {} if self._table is None else self._app.table_items(self._table, prefix)
            partition = Partition(self._spec, PartitionState(number, items), self._origins)
            self._partitions[number] = partition
        return partition


def origins_of(topic: Topic, writers: Mapping[str, AgentSpec], partitions: int) -> list[str]:
    """Return the origins whose watermarks a topic carries: one a partition of each writing agent, else the writer."""
    origins: list[str] = []
    for writer in topic.writers:
        origins.extend(writers[writer].origins(partitions) if writer in writers else [writer])
    return origins


def dead_letter(agent: str, record: ConsumerRecord, error: Exception) -> DeadLetter:
    """Return the dead letter of a record: cause, source position and original bytes."""
    cause = error.cause if isinstance(error, PoisonError) else "undecodable"
    detail = error.detail if isinstance(error, PoisonError) else str(error)
    position = f"{agent}:{record.topic}:{record.partition}:{record.offset}"
    return DeadLetter(
        id=hashlib.sha256(position.encode()).hexdigest(),
        agent=agent,
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        cause=cause,
        detail=detail[:500],
        key=None if record.key is None else base64.b64encode(record.key).decode(),
        value=None if record.value is None else base64.b64encode(record.value).decode(),
        at=record.timestamp,
    )
