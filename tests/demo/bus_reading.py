"""Reads a topic of a finished run from its beginning to its end, records and all."""

from aiokafka import AIOKafkaConsumer
from aiokafka.structs import ConsumerRecord

from streams.app import Bus
from streams.delivery.watermarks import is_watermark
from streams.ends import end_offsets, partitions_of
from topics.registry import Topic


async def data_records(bus: Bus, topic: Topic) -> list[ConsumerRecord]:
    """Return a topic's data records, in order within each partition, none of them left out."""
    partitions = partitions_of(bus, [topic])
    ends = await end_offsets(bus, partitions)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bus.bootstrap, fetch_max_wait_ms=bus.fetch_max_wait_ms, enable_auto_commit=False
    )
    records: list[ConsumerRecord] = []
    await consumer.start()
    try:
        consumer.assign(partitions)
        await consumer.seek_to_beginning(*partitions)
        while any([await consumer.position(one) < ends[one] for one in partitions]):
            for batch in (await consumer.getmany(timeout_ms=1_000)).values():
                records += [record for record in batch if not is_watermark(record.headers)]
    finally:
        await consumer.stop()
    return records
