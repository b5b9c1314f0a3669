"""The three servers together: what has no address is started, and everything started is stopped."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from referee.embedded.clickhouse import clickhouse
from referee.embedded.kafka import kafka
from referee.embedded.redis import redis
from referee.embedded.server import READY_WITHIN_S, EmbeddedServer


@dataclass(frozen=True)
class Addresses:
    """Where the servers are: ``host:port``, an HTTP URL and a Redis URL."""

    kafka: str
    clickhouse: str
    redis: str


class EmbeddedStack:
    """Kafka, ClickHouse and Redis as a context manager, plain or asynchronous.

    Servers live under ``data/kafka``, ``data/clickhouse`` and ``data/redis``, and log to ``data/logs``.
    """

    def __init__(
        self,
        data: Path,
        *,
        kafka_address: str | None = None,
        clickhouse_address: str | None = None,
        redis_address: str | None = None,
        broker: str = "tansu",
    ) -> None:
        """Describe the stack: an address replaces the embedded server; ``broker`` names the embedded Kafka."""
        self._kafka = kafka_address or EmbeddedServer(kafka(broker), data)
        self._clickhouse = clickhouse_address or EmbeddedServer(clickhouse(), data)
        self._redis = redis_address or EmbeddedServer(redis(), data)

    @property
    def kafka(self) -> str:
        """Return the broker's ``host:port``."""
        return _address(self._kafka)

    @property
    def clickhouse(self) -> str:
        """Return ClickHouse's HTTP URL."""
        return _address(self._clickhouse)

    @property
    def redis(self) -> str:
        """Return the Redis URL."""
        return _address(self._redis)

    @property
    def addresses(self) -> Addresses:
        """Return the three addresses."""
        return Addresses(self.kafka, self.clickhouse, self.redis)

    @property
    def servers(self) -> list[EmbeddedServer]:
        """Return the servers that this stack runs itself, the slowest to start first."""
        return [each for each in (self._clickhouse, self._kafka, self._redis) if isinstance(each, EmbeddedServer)]

    def start(self) -> None:
        """Start the servers side by side and wait for all; on any failure, Ctrl-C too, stop those that run.

        Raise ServerFailedError with the end of the log of the one that failed.
        """
        end = time.monotonic() + READY_WITHIN_S
        try:
            for server in self.servers:
                server.spawn()
            for server in self.servers:
                server.wait_ready(end - time.monotonic())
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop every server that runs, each after the other."""
        for server in self.servers:
            server.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        starting = asyncio.ensure_future(asyncio.to_thread(self.start))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            # A thread cannot be cancelled: let it finish, so that what it started can be stopped.
            await starting
            await asyncio.to_thread(self.stop)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.stop)


def _address(server: str | EmbeddedServer) -> str:
    return server if isinstance(server, str) else server.url
