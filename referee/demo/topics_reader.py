"""Reads what a run left on the bus: every data record of a topic, once."""

from collections.abc import AsyncIterator
from typing import TypeVar

from aiokafka import AIOKafkaConsumer

from streams.app import Bus
from streams.delivery.watermarks import is_watermark
from streams.ends import end_offsets, partitions_of
from topics.base import Message
from topics.registry import Topic

M = TypeVar("M", bound=Message)


async def raw_messages(bus: Bus, topic: Topic) -> AsyncIterator[bytes]:
    """Yield the values of a topic's data records, partition by partition, up to its present end."""
    partitions = partitions_of(bus, [topic])
    ends = await end_offsets(bus, partitions)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bus.bootstrap, fetch_max_wait_ms=bus.fetch_max_wait_ms, enable_auto_commit=False
    )
    await consumer.start()
    try:
        consumer.assign(partitions)
        await consumer.seek_to_beginning(*partitions)
        left = {tp: end for tp, end in ends.items() if end > 0}
        while left:
            for tp, batch in (await consumer.getmany(timeout_ms=1_000)).items():
                for record in batch:
                    if not is_watermark(record.headers):
                        yield record.value
                if batch and batch[-1].offset + 1 >= left.get(tp, 0):
                    left.pop(tp, None)
    finally:
        await consumer.stop()


async def messages(bus: Bus, topic: Topic, model: type[M]) -> list[M]:
    """Return a topic's messages, each content once, in the order in which they were first sent per partition."""
    raws = dict.fromkeys([raw async for raw in raw_messages(bus, topic)])
    return [model.decode(raw) for raw in raws]
