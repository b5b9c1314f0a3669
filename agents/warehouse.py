"""Warehouse: hands what the bus carries to a sink outside it, in batches; repeats are the sink's to fold.

It runs in a consumer group of its own, so that a slow or absent sink holds back its own offsets, and no settlement.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from aiokafka.structs import ConsumerRecord

from streams.delivery.outbox import Outbox, SinkRecord
from streams.delivery.reducer import AgentSpec, PoisonError, Reducer
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from topics.registry import Topic

LINGER_S = 0.2

Read = Callable[[str, bytes], Any]


class WarehouseReducer(Reducer):
    """Passes every data record of its topics on."""

    def __init__(self, state: PartitionState, topics: Sequence[Topic], read: Read = lambda _, raw: raw) -> None:
        super().__init__(state)
        self._read = read
        self._names = sorted((topic.name for topic in topics), key=len, reverse=True)

    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Put what the sink reads in the record into its batch; what it cannot read goes to the dead letters."""
        name = next(name for name in self._names if record.topic.endswith(name))
        if record.value is None:
            raise PoisonError("no_value", f"record of {name} has no value")
        out.sink_records.append(SinkRecord(name, self._read(name, record.value)))

    async def advance(self, watermarks: WatermarkTracker, out: Outbox) -> int | None:
        """Promise nothing: nobody waits for a sink's watermark."""
        return None


def spec(
    name: str,
    topics: tuple[Topic, ...],
    sink: Callable[[Sequence[SinkRecord]], Awaitable[None]],
    *,
    read: Read = lambda _, raw: raw,
    single_partition: bool = False,
) -> AgentSpec:
    """Return an agent that hands co-partitioned topics to a sink; `read` makes of a record what the sink takes.

    `read` gets the topic's name and the bytes, and raises `pydantic.ValidationError` for what it cannot read.
    """
    return AgentSpec(
        name,
        topics,
        (),
        lambda state: WarehouseReducer(state, topics, read),
        keeps_state=False,
        single_partition=single_partition,
        sink=sink,
        linger_s=LINGER_S,
    )
