"""Asks ClickHouse the named queries, off the event loop."""

import asyncio
import threading
from typing import Any

from clickhouse_connect.driver.client import Client

from sinks.clickhouse.connection import DEFAULT_DATABASE, connect_read_only, sink_errors
from sinks.clickhouse.queries import VERSIONS, Query

Record = dict[str, Any]


class Reader:
    """A shared, lazily connected client for pages: ClickHouse may come later than the page, or go and come back."""

    def __init__(self, url: str, database: str = DEFAULT_DATABASE) -> None:
        """Remember where to read; nothing is connected yet."""
        self.url = url
        self.database = database
        self._client: Client | None = None
        self._lock = threading.Lock()

    async def rows(self, query: Query, **parameters: Any) -> list[Record]:
        """Return a query's rows by column name; times are naive UTC datetimes. Raises `SinkError`."""
        return await asyncio.to_thread(self._rows, query, parameters)

    async def row(self, query: Query, **parameters: Any) -> Record | None:
        """Return a query's first row, if it has one; raises `SinkError`."""
        rows = await self.rows(query, **parameters)
        return rows[0] if rows else None

    async def version(self, *tables: str) -> tuple[tuple[str, int], ...]:
        """Return what changes whenever one of the tables gets rows; raises `SinkError`."""
        rows = await self.rows(VERSIONS, tables=list(tables))
        return tuple((row["table"], row["block"]) for row in rows)

    async def close(self) -> None:
        """Close the connection, if there is one."""
        if self._client is not None:
            await asyncio.to_thread(self._client.close)

    def _rows(self, query: Query, parameters: Record) -> list[Record]:
        with self._lock:
            if self._client is None:
                self._client = connect_read_only(self.url, self.database)
            client = self._client
        with sink_errors(f"query {query.name}"):
            result = client.query(query.sql, parameters=parameters)
        return [dict(zip(result.column_names, values, strict=True)) for values in result.result_rows]
