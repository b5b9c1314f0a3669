"""What an agent is to the delivery layer: a reducer for each partition, and the topics around it."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from aiokafka.structs import ConsumerRecord

from streams.delivery.outbox import Outbox, SinkRecord
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from topics.registry import Topic


class PoisonError(Exception):
    """A record that cannot be processed however often it is tried; it goes to the dead letters."""

    def __init__(self, cause: str, detail: str) -> None:
        super().__init__(f"{cause}: {detail}")
        self.cause = cause
        self.detail = detail


class Reducer(ABC):
    """The logic of one partition of an agent.

    Contract: `apply` may change `self.state` and emit to the outbox, must not block, and must not look at the wall
    clock; raising `PoisonError` before it changed anything sends the record to the dead letters, raising anything else
    stops the worker. `advance` is called after the records ahead of a watermark were applied; it may await the outside
    world. Nothing that either emits is visible before the whole batch is reduced. Both must give the same outputs, with
    the same ids, when repeated.
    """

    def __init__(self, state: PartitionState) -> None:
        """Rebuild derived indexes from the state."""
        self.state = state

    @abstractmethod
    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Reduce one data record."""

    async def advance(self, watermarks: WatermarkTracker, out: Outbox) -> int | None:
        """Act on the watermark and return the one that holds for what was emitted (None: not known yet)."""
        return watermarks.current()


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent: its name, its co-partitioned inputs, its outputs and how to make the reducer of a partition.

    `keeps_state` false means no table: repeats are then recognised downstream, by id. `sink` delivers what the reducer
    put into the outbox's sink records and returns when it is durable; it is awaited together with the outputs.
    `asks_venue` marks an agent whose progress a stepped clock waits for, so that the venue answers as of the step; it
    reports each advance. `linger_s` lets work gather before a unit begins, where the cost is a unit's.
    """

    name: str
    inputs: tuple[Topic, ...]
    outputs: tuple[Topic, ...]
    reducer: Callable[[PartitionState], Reducer]
    keeps_state: bool = True
    single_partition: bool = False
    asks_venue: bool = False
    sink: Callable[[Sequence[SinkRecord]], Awaitable[None]] | None = None
    linger_s: float = 0.0

    def partitions(self, default: int) -> int:
        """Return how many partitions the agent has, given the bus's count for topics that are spread."""
        return 1 if self.single_partition else default

    def origins(self, default: int) -> tuple[str, ...]:
        """Return the names under which the agent's partitions send watermarks."""
        return tuple(f"{self.name}/{partition}" for partition in range(self.partitions(default)))
