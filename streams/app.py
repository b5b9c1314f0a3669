"""The Faust app of the referee: its settings, its transport, and how agents and tables are declared on it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import faust
import structlog
from aiokafka.errors import KafkaError
from faust.types import TP
from mode.supervisors import CrashingSupervisor

from streams.delivery.consumer import BatchConsumer, BatchTransport
from streams.delivery.publisher import Publisher
from streams.delivery.reducer import AgentSpec
from topics.registry import Topic

WATCH_EVERY_S = 2.0
BROKER_AWAY_S = 20.0
STOP_WITHIN_S = 10.0

log = structlog.get_logger()


class MissingTopicsError(Exception):
    """Topics that the app reads or keeps its state in do not exist; Faust would ignore them without a word."""


class BrokerAwayError(Exception):
    """No broker has answered for longer than an app waits; a supervisor's restart says so, an idle process does not."""


@dataclass(frozen=True, slots=True)
class Bus:
    """Where the bus is, how its topics are laid out, and what the broker can.

    `report_every_ms` is the event time between two progress reports of an agent; `fetch_pause_s` lets records gather
    between fetches. The three before them differ for Tansu: it has no idempotent producers, it answers a waiting fetch
    late where Kafka answers as soon as there is a record, and it reports the end of a partition as if its last batch
    held one record.
    """

    bootstrap: str
    prefix: str = ""
    partitions: int = 2
    group: str = "referee"
    idempotent: bool = True
    fetch_max_wait_ms: int = 100
    exact_ends: bool = True
    report_every_ms: int = 10_000
    fetch_pause_s: float = 0.0

    def topic_name(self, topic: Topic) -> str:
        """Return the topic's name on this bus."""
        return self.prefix + topic.name

    def changelog_name(self, agent: str) -> str:
        """Return the name of an agent's changelog topic, as Faust derives it from app and table."""
        return f"{self.prefix}{self.group}-{agent}-changelog"


class RefereeApp(faust.App):
    """A Faust app over the batch consumer and the publisher of the delivery layer."""

    def __init__(self, bus: Bus, publisher: Publisher, data_directory: str) -> None:
        """Configure Faust as `faust-traps.md` advises; topics must exist already."""
        self.bus = bus
        self.publisher = publisher
        self.readers: dict[str, set[str]] = {}
        self.layout: dict[str, int] = {}
        super().__init__(
            f"{bus.prefix}{bus.group}",
            broker=f"kafka://{bus.bootstrap}",
            store="memory://",
            datadir=data_directory,
            web_enabled=False,
            topic_allow_declare=False,
            topic_disable_leader=True,
            topic_partitions=bus.partitions,
            producer_acks=-1,
            broker_commit_interval=1.0,
            broker_max_poll_records=5_000,
            broker_session_timeout=6.0,
            broker_heartbeat_interval=2.0,
            stream_buffer_maxsize=2_048,
            stream_recovery_delay=0.0,
            consumer_auto_offset_reset="earliest",
        )

    async def on_start(self) -> None:
        """Check that every topic is there as it should be, then start; raises `MissingTopicsError` and `KafkaError`.

        With another number of partitions an agent would wait for watermarks of partitions that never speak.
        """
        counts = await self.publisher.partition_counts()
        missing = sorted(self.layout.keys() - counts.keys())
        if missing:
            raise MissingTopicsError(f"{len(missing)} topics are missing on {self.bus.bootstrap}: {', '.join(missing)}")
        other = [f"{name} has {counts[name]}, not {want}" for name, want in self.layout.items() if counts[name] != want]
        if other:
            raise MissingTopicsError(
                f"REFEREE_PARTITIONS is {self.bus.partitions}, but on {self.bus.bootstrap} {'; '.join(sorted(other))};"
                " take the number that the topics have, or another REFEREE_TOPIC_PREFIX"
            )
        await super().on_start()
        self.add_future(self._watch_broker())

    async def stop(self) -> None:
        """Stop; what waits for a broker that is gone is given up after 10 s."""
        # waited for and not cancelled: parts of Faust take a cancellation for something else and go on
        stopping = asyncio.ensure_future(super().stop())
        await asyncio.wait({stopping}, timeout=STOP_WITHIN_S)
        if stopping.done():
            stopping.result()
        else:
            log.warning("stop_cut_short", after_s=STOP_WITHIN_S)

    async def _watch_broker(self) -> None:
        silent_since_s: float | None = None
        while not self.should_stop:
            await self.sleep(WATCH_EVERY_S)
            try:
                await self.publisher.topics()
                silent_since_s = None
            except KafkaError as error:
                now_s = self.loop.time()
                silent_since_s = silent_since_s or now_s
                if now_s - silent_since_s > BROKER_AWAY_S:
                    reason = f"no broker of {self.bus.bootstrap} has answered for {BROKER_AWAY_S:.0f} s, the limit"
                    await self.crash(BrokerAwayError(f"{reason}: {error}"))
                    return

    def _new_transport(self) -> Any:
        return BatchTransport(self.conf.broker_consumer, self, loop=self.loop)

    def declare_agent(self, spec: AgentSpec, run: Callable[[Any], Awaitable[None]]) -> Any:
        """Declare a Faust agent over all the inputs of the spec."""
        names = [self.bus.topic_name(topic) for topic in spec.inputs]
        source = self.topic(
            *names,
            key_type=bytes,
            value_type=bytes,
            key_serializer="raw",
            value_serializer="raw",
            partitions=spec.partitions(self.bus.partitions),
        )
        for name in names:
            self.readers.setdefault(name, set()).add(spec.name)
        for topic in (*spec.inputs, *spec.outputs):
            self.layout[self.bus.topic_name(topic)] = topic.partitions(self.bus.partitions)
        # any other strategy starts an agent again behind what it failed on, or while the process ends
        name = f"referee.{spec.name}"
        return self.agent(source, name=name, supervisor_strategy=CrashingSupervisor)(run)

    def declare_table(self, spec: AgentSpec) -> Any:
        """Declare the agent's Faust table; its changelog is written by the delivery layer, and read by Faust."""
        partitions = spec.partitions(self.bus.partitions)
        self.layout[self.bus.changelog_name(spec.name)] = partitions
        changelog = self.topic(
            self.bus.changelog_name(spec.name),
            key_type=str,
            value_type=bytes,
            key_serializer="raw",
            value_serializer="raw",
            partitions=partitions,
            compacting=True,
            deleting=False,
            acks=False,
        )
        return self.Table(spec.name, key_type=str, value_type=bytes, partitions=partitions, changelog_topic=changelog)

    def update_table(self, table: Any, partition: int, changes: Sequence[tuple[str, bytes | None]]) -> None:
        """Put delivered changes into the table's store without Faust's own changelog sends."""
        store = table.data
        for key, value in changes:
            if value is None:
                store.data.pop(key, None)
                store._key_partition.pop(key, None)
            else:
                store.data[key] = value
                store._key_partition[key] = partition

    def table_items(self, table: Any, prefix: str) -> Mapping[str, bytes]:
        """Return what the table holds below a key prefix, without the prefix."""
        cut = len(prefix)
        return {key[cut:]: value for key, value in table.data.data.items() if key.startswith(prefix)}

    def mark(self, agent: str, topic: str, partition: int, next_offset: int) -> None:
        """Mark a source partition as done up to (not including) an offset, for one agent."""
        cast(BatchConsumer, self.consumer).mark(agent, TP(topic, partition), next_offset)
