"""Writes rows to ClickHouse in batches, a table at a time, off the event loop."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from clickhouse_connect.driver.client import Client

from sinks.clickhouse.connection import DEFAULT_DATABASE, connect, sink_errors
from sinks.clickhouse.migrate import migrate
from sinks.clickhouse.rows import COLUMNS, Row

MAX_ROWS = 20_000
"""Rows of one insert: evidence rows reach a megabyte each, and a block is built in memory on both sides."""


class ClickHouseWriter:
    """Inserts rows over HTTP; a repeat of a write changes nothing that a reader sees.

    One write at a time: rows of a table keep the order in which they were given, across calls too.
    """

    def __init__(self, client: Client) -> None:
        """Write through a client whose database has the schema."""
        self._client = client
        self._types: dict[str, Sequence[Any]] = {}
        self._lock = asyncio.Lock()

    @classmethod
    async def open(cls, url: str, database: str = DEFAULT_DATABASE) -> "ClickHouseWriter":
        """Connect, apply outstanding migrations and return a writer; raises `SinkError`."""
        client = await asyncio.to_thread(connect, url, database)
        await asyncio.to_thread(migrate, client)
        return cls(client)

    async def write(self, rows: Iterable[Row]) -> None:
        """Insert the rows and return once ClickHouse has them all.

        Raises `RetriableSinkError` or `PermanentSinkError`; some tables may have their rows by then, and writing the
        same rows again is right either way.
        """
        tables: dict[str, list[tuple[Any, ...]]] = {}
        for row in rows:
            tables.setdefault(row.table, []).append(row.values)
        async with self._lock:
            for table, values in tables.items():
                await asyncio.to_thread(self._insert, table, values)

    async def close(self) -> None:
        """Close the connection."""
        await asyncio.to_thread(self._client.close)

    def _insert(self, table: str, values: list[tuple[Any, ...]]) -> None:
        with sink_errors(f"insert of {len(values)} rows into {table}"):
            if table not in self._types:
                self._types[table] = self._client.create_insert_context(table, COLUMNS[table]).column_types
            for start in range(0, len(values), MAX_ROWS):
                self._client.insert(
                    table,
                    values[start : start + MAX_ROWS],
                    column_names=COLUMNS[table],
                    column_types=self._types[table],
                )
