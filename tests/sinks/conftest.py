"""Real servers for the tests of sinks: ClickHouse's engine over HTTP, Valkey, one of each a run."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from clickhouse_connect.driver.client import Client

from referee.embedded.clickhouse import clickhouse
from referee.embedded.redis import redis
from referee.embedded.server import EmbeddedServer, ServerKind
from sinks.clickhouse.connection import connect
from sinks.clickhouse.migrate import migrate


def running(kind: ServerKind, data: Path) -> Iterator[str]:
    """Start a server, yield its address, stop it."""
    server = EmbeddedServer(kind, data)
    server.spawn()
    try:
        server.wait_ready()
        yield server.url
    finally:
        server.stop()


@pytest.fixture(scope="session")
def clickhouse_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an embedded ClickHouse."""
    yield from running(clickhouse(), tmp_path_factory.mktemp("clickhouse"))


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an embedded Valkey."""
    yield from running(redis(), tmp_path_factory.mktemp("redis"))


@pytest.fixture
def database() -> str:
    """Return a database name that no other test uses."""
    return f"test_{uuid4().hex}"


@pytest.fixture
def client(clickhouse_url: str, database: str) -> Iterator[Client]:
    """Return a client of a migrated database of the test's own."""
    client = connect(clickhouse_url, database)
    migrate(client)
    yield client
    client.command(f"DROP DATABASE {database}")
    client.close()
