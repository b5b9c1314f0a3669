"""Warehouse: hands what the bus carries to a sink outside it, in batches; repeats are the sink's to fold.

It runs in a consumer group of its own, so that a slow or absent sink holds back its own offsets, and no settlement.
"""

from collections.abc import Awaitable, Callable, Sequence

from aiokafka.structs import ConsumerRecord

from streams.delivery.outbox import Outbox, SinkRecord
from streams.delivery.reducer import AgentSpec, PoisonError, Reducer
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from topics.registry import Topic

LINGER_S = 0.2


class WarehouseReducer(Reducer):
    """Passes every data record of its topics on."""

    def __init__(self, state: PartitionState, topics: Sequence[Topic]) -> None:
        super().__init__(state)
        self._names = sorted((topic.name for topic in topics), key=len, reverse=True)

    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Put the record into the sink's batch under its unprefixed topic name."""
        name = next(name for name in self._names if record.topic.endswith(name))
        if record.value is None:
            raise PoisonError("no_value", f"record of {name} has no value")
        out.sink_records.append(SinkRecord(name, record.value))

    async def advance(self, watermarks: WatermarkTracker, out: Outbox) -> int | None:
        """Promise nothing: nobody waits for a sink's watermark."""
        return None


def spec(
    name: str,
    topics: tuple[Topic, ...],
    sink: Callable[[Sequence[SinkRecord]], Awaitable[None]],
    *,
    single_partition: bool = False,
) -> AgentSpec:
    """Return an agent that hands co-partitioned topics to a sink."""
    return AgentSpec(
        name,
        topics,
        (),
        lambda state: WarehouseReducer(state, topics),
        keeps_state=False,
        single_partition=single_partition,
        sink=sink,
        linger_s=LINGER_S,
    )
