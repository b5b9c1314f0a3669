"""Waits for the pipeline: follows the `progress` topic until every agent has reached a time, or a sink an offset."""

from collections.abc import Collection, Iterable, Mapping

from aiokafka import AIOKafkaConsumer, TopicPartition

from streams.app import Bus
from topics.operations import Progress
from topics.registry import PROGRESS


class PipelineProgress:
    """How far each origin has come, as the agents report it on the bus."""

    def __init__(self, bus: Bus, origins: Iterable[str]) -> None:
        self._bus = bus
        self._watermarks: dict[str, int | None] = dict.fromkeys(origins)
        self._delivered: dict[str, int] = {}
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=bus.bootstrap, fetch_max_wait_ms=bus.fetch_max_wait_ms, enable_auto_commit=False
        )

    async def start(self) -> None:
        """Begin at the topic's start."""
        await self._consumer.start()
        partition = TopicPartition(self._bus.topic_name(PROGRESS), 0)
        self._consumer.assign([partition])
        await self._consumer.seek_to_beginning(partition)

    async def stop(self) -> None:
        """Let go of the broker."""
        await self._consumer.stop()

    async def reached(self, time_ms: int, agents: Collection[str] | None = None) -> None:
        """Return once the watermarks of these agents' partitions (all, if none is named) are at `time_ms` or later."""
        origins = [name for name in self._watermarks if agents is None or name.partition("/")[0] in agents]
        while not all(seen is not None and seen >= time_ms for seen in map(self._watermarks.get, origins)):
            await self._read()

    async def delivered(self, ends: Mapping[str, int]) -> None:
        """Return once the sinks have delivered every `topic/partition` up to these next offsets."""
        while not all(self._delivered.get(name, 0) >= end for name, end in ends.items()):
            await self._read()

    def behind(self, time_ms: int) -> dict[str, int | None]:
        """Return the origins that have not reached a time, with how far they are."""
        return {name: seen for name, seen in self._watermarks.items() if seen is None or seen < time_ms}

    async def _read(self) -> None:
        batches = await self._consumer.getmany(timeout_ms=1_000)
        for record in (record for batch in batches.values() for record in batch):
            progress = Progress.decode(record.value)
            if progress.delivered is not None:
                partition = progress.origin.rpartition("/")[2]
                for topic, offset in progress.delivered.items():
                    self._delivered[f"{topic}/{partition}"] = offset
            elif progress.origin in self._watermarks:
                self._watermarks[progress.origin] = progress.watermark
