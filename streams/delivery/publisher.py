"""The producer of the delivery layer: every send is awaited, a batch of state is one atomic append."""

import asyncio
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

from aiokafka import AIOKafkaProducer
from aiokafka.producer.message_accumulator import BatchBuilder

from streams.delivery.outbox import Output

MAX_REQUEST_BYTES = 16 * 1024 * 1024
NO_COMPRESSION = 0


class ChangelogTooLargeError(Exception):
    """A batch's state changes do not fit one atomic append."""


class Publisher:
    """Sends outputs and state with `acks=all`; idempotent where the broker can."""

    def __init__(self, bootstrap: str, *, prefix: str = "", idempotent: bool = True) -> None:
        """Name the broker (`host:port,…`), the topics' prefix and whether the broker has idempotent producers."""
        self._prefix = prefix
        self._producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap,
            acks="all",
            enable_idempotence=idempotent,
            max_request_size=MAX_REQUEST_BYTES,
            max_batch_size=1024 * 1024,
            request_timeout_ms=15_000,
        )

    async def __aenter__(self) -> Self:
        try:
            await self._producer.start()
        except BaseException:
            await self._producer.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._producer.stop()

    async def send(self, outputs: Iterable[Output]) -> None:
        """Send in order and return when every record is acknowledged; raises `aiokafka.errors.KafkaError`."""
        delivered = [
            await self._producer.send(
                self._prefix + output.topic.name,
                output.value,
                output.key,
                output.partition,
                output.timestamp_ms,
                list(output.headers),
            )
            for output in outputs
        ]
        await asyncio.gather(*delivered)

    async def topics(self) -> frozenset[str]:
        """Return the names of all topics that the broker has; raises `KafkaError` when none answers."""
        metadata = await self._producer.client.fetch_all_metadata()
        return frozenset(metadata.topics())

    async def partition_counts(self) -> dict[str, int]:
        """Return how many partitions each topic of the broker has; raises `KafkaError` when none answers."""
        metadata = await self._producer.client.fetch_all_metadata()
        return {name: len(metadata.partitions_for_topic(name) or ()) for name in metadata.topics()}

    async def append_changes(
        self, changelog: str, partition: int, changes: Sequence[tuple[str, bytes | None]], timestamp_ms: int
    ) -> None:
        """Append state changes to one partition of a changelog as a single record batch: all of them or none.

        Raises `ChangelogTooLargeError` when they do not fit a request of 16 MiB, and `KafkaError`.
        """
        size = sum(len(key) + len(value or b"") + 64 for key, value in changes) + 256
        if size > MAX_REQUEST_BYTES:
            raise ChangelogTooLargeError(f"changelog {changelog}: {size} bytes in one batch, limit {MAX_REQUEST_BYTES}")
        batch = BatchBuilder(size, NO_COMPRESSION)
        for key, value in changes:
            if batch.append(key=key.encode(), value=value, timestamp=timestamp_ms) is None:
                raise ChangelogTooLargeError(f"changelog {changelog}: batch of {size} bytes refused its key {key}")
        batch.close()
        await (await self._producer.send_batch(batch, changelog, partition=partition))
