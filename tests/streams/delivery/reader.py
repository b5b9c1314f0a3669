"""Reads topics of a bus, so that a test can wait for what must come."""

import asyncio

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.structs import ConsumerRecord

from streams.app import Bus
from streams.delivery.watermarks import parse
from topics.registry import Topic

WITHIN_S = 30


class Reader:
    """Reads topics from their start, so that a test can wait for what must come."""

    def __init__(self, bus: Bus, *topics: Topic) -> None:
        self._bus = bus
        self._topics = topics
        self.records: list[ConsumerRecord] = []
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=bus.bootstrap, fetch_max_wait_ms=bus.fetch_max_wait_ms, enable_auto_commit=False
        )

    async def __aenter__(self) -> "Reader":
        await self._consumer.start()
        partitions = [
            TopicPartition(self._bus.topic_name(topic), number)
            for topic in self._topics
            for number in range(topic.partitions(self._bus.partitions))
        ]
        self._consumer.assign(partitions)
        await self._consumer.seek_to_beginning(*partitions)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._consumer.stop()

    def of(self, topic: Topic) -> list[ConsumerRecord]:
        """Return the data records of a topic read so far, in order."""
        name = self._bus.topic_name(topic)
        return [record for record in self.records if record.topic == name and not record.headers]

    async def read(self, timeout_ms: int = 500) -> int:
        """Take what comes within a time and return how many records that was."""
        batches = (await self._consumer.getmany(timeout_ms=timeout_ms)).values()
        for batch in batches:
            self.records += batch
        return sum(map(len, batches))

    async def until(self, topic: Topic, count: int) -> list[ConsumerRecord]:
        """Return a topic's data records once there are so many."""
        async with asyncio.timeout(WITHIN_S):
            while len(self.of(topic)) < count:
                await self.read()
        return self.of(topic)

    async def until_watermark(self, topic: Topic, time_ms: int) -> list[ConsumerRecord]:
        """Return a topic's data records once every partition of its one writer has promised a time."""
        expected = topic.partitions(self._bus.partitions) * self._bus.partitions
        async with asyncio.timeout(WITHIN_S):
            while len(self._promises(topic, time_ms)) < expected:
                await self.read()
        return self.of(topic)

    def _promises(self, topic: Topic, time_ms: int) -> set[tuple[int, str]]:
        name = self._bus.topic_name(topic)
        return {
            (record.partition, parse(record.headers)[0])
            for record in self.records
            if record.topic == name and record.headers and record.timestamp >= time_ms
        }
