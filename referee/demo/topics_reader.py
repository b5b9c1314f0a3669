"""Reads what a run left on the bus: every data record of a topic, once."""

from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

from aiokafka import AIOKafkaConsumer, TopicPartition

from streams.app import Bus
from streams.delivery.watermarks import is_watermark
from topics.base import Message
from topics.registry import Topic

M = TypeVar("M", bound=Message)


def partitions_of(bus: Bus, topics: Sequence[Topic]) -> list[TopicPartition]:
    """Return every partition of the topics."""
    return [
        TopicPartition(bus.topic_name(topic), number)
        for topic in topics
        for number in range(topic.partitions(bus.partitions))
    ]


async def end_offsets(bus: Bus, topics: Sequence[Topic]) -> dict[str, int]:
    """Return the next offset of every partition, by `topic/partition` with the unprefixed topic name."""
    consumer = AIOKafkaConsumer(bootstrap_servers=bus.bootstrap)
    await consumer.start()
    try:
        ends = await consumer.end_offsets(partitions_of(bus, topics))
    finally:
        await consumer.stop()
    return {f"{tp.topic.removeprefix(bus.prefix)}/{tp.partition}": end for tp, end in ends.items()}


async def raw_messages(bus: Bus, topic: Topic) -> AsyncIterator[bytes]:
    """Yield the values of a topic's data records, partition by partition, up to its present end."""
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bus.bootstrap, fetch_max_wait_ms=bus.fetch_max_wait_ms, enable_auto_commit=False
    )
    await consumer.start()
    try:
        partitions = partitions_of(bus, [topic])
        consumer.assign(partitions)
        await consumer.seek_to_beginning(*partitions)
        left = {tp: end for tp, end in (await consumer.end_offsets(partitions)).items() if end > 0}
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
