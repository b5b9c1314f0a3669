"""Where partitions end: as the broker says, or, where it cannot be trusted, by reading the last batch."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from aiokafka import AIOKafkaConsumer, TopicPartition

from topics.registry import Topic

if TYPE_CHECKING:
    from streams.app import Bus


def partitions_of(bus: "Bus", topics: Sequence[Topic]) -> list[TopicPartition]:
    """Return every partition of the topics."""
    return [
        TopicPartition(bus.topic_name(topic), number)
        for topic in topics
        for number in range(topic.partitions(bus.partitions))
    ]


async def end_offsets(bus: "Bus", partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """Return the next offset of each partition; raises `KafkaError`.

    On a bus without exact ends the last record that the broker admits to is read, with what its batch holds behind it.
    """
    consumer = AIOKafkaConsumer(bootstrap_servers=bus.bootstrap, fetch_max_wait_ms=bus.fetch_max_wait_ms)
    await consumer.start()
    try:
        wanted = list(partitions)
        ends: dict[TopicPartition, int] = dict(await consumer.end_offsets(wanted))
        return ends if bus.exact_ends else await _read_ends(consumer, ends)
    finally:
        await consumer.stop()


async def _read_ends(consumer: AIOKafkaConsumer, ends: dict[TopicPartition, int]) -> dict[TopicPartition, int]:
    filled = {tp: end for tp, end in ends.items() if end > 0}
    consumer.assign(list(filled))
    for tp, end in filled.items():
        consumer.seek(tp, end - 1)
    unread = set(filled)
    while unread:
        for tp, records in (await consumer.getmany(timeout_ms=1_000)).items():
            ends[tp] = max(ends[tp], records[-1].offset + 1)
            unread.discard(tp)
    return ends
