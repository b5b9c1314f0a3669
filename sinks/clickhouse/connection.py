"""A client of ClickHouse's HTTP interface, and what its errors mean to a caller."""

from collections.abc import Iterator
from contextlib import contextmanager

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, DatabaseError, OperationalError

from sinks.errors import PermanentSinkError, RetriableSinkError

DEFAULT_DATABASE = "referee"

RETRIABLE_CODES = frozenset(
    {
        159,  # TIMEOUT_EXCEEDED
        164,  # READONLY, while a replica starts
        202,  # TOO_MANY_SIMULTANEOUS_QUERIES
        209,  # SOCKET_TIMEOUT
        210,  # NETWORK_ERROR
        236,  # ABORTED, at shutdown
        241,  # MEMORY_LIMIT_EXCEEDED
        242,  # TABLE_IS_READ_ONLY
        243,  # NOT_ENOUGH_SPACE
        252,  # TOO_MANY_PARTS
        319,  # UNKNOWN_STATUS_OF_INSERT
        394,  # QUERY_WAS_CANCELLED
        425,  # SYSTEM_ERROR
        439,  # CANNOT_SCHEDULE_TASK
        999,  # KEEPER_EXCEPTION
    }
)


@contextmanager
def sink_errors(what: str) -> Iterator[None]:
    """Turn the client's errors into `RetriableSinkError` or `PermanentSinkError` that begin with `what`."""
    try:
        yield
    except DatabaseError as error:
        text = f"{what}: {error}"
        # An error without a code never reached the engine: a transport's, so the server may come back.
        away = error.code is None and isinstance(error, OperationalError)
        if away or error.code in RETRIABLE_CODES:
            raise RetriableSinkError(text) from error
        raise PermanentSinkError(text) from error
    except ClickHouseError as error:
        raise PermanentSinkError(f"{what}: {error}") from error


def connect(url: str, database: str = DEFAULT_DATABASE) -> Client:
    """Return a client of the ClickHouse at `url`, with `database` (made when missing) as its default.

    Blocks: call it off the event loop. The client holds no session, so threads may share it. Raises `SinkError`.
    """
    with sink_errors(f"ClickHouse at {url}"):
        first = _client(url, None)
        try:
            first.command("CREATE DATABASE IF NOT EXISTS {database:Identifier}", parameters={"database": database})
        finally:
            first.close()
        return _client(url, database)


def connect_read_only(url: str, database: str = DEFAULT_DATABASE) -> Client:
    """Return a client for pages: it makes nothing, not even the database. Blocks. Raises `SinkError`."""
    with sink_errors(f"ClickHouse at {url}"):
        return _client(url, database)


def _client(url: str, database: str | None) -> Client:
    return clickhouse_connect.get_client(
        dsn=url, database=database, autogenerate_session_id=False, connect_timeout=5, send_receive_timeout=30
    )
