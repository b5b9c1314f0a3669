"""Tests of the schema, the writer and its errors against the embedded ClickHouse over HTTP."""

import socket

import pytest
from clickhouse_connect.driver.client import Client

from sinks.clickhouse import migrate as migrations
from sinks.clickhouse.connection import connect
from sinks.clickhouse.rows import COLUMNS, Row, rows_of
from sinks.clickhouse.writer import ClickHouseWriter
from sinks.errors import MigrationError, PermanentSinkError, RetriableSinkError
from tests.sinks.examples import T0, messages, outcome, settlement

pytestmark = pytest.mark.embedded


def all_rows() -> list[Row]:
    """Return the rows of every example message."""
    return [row for name, some in messages().items() for one in some for row in rows_of(name, one.encode())]


def read(client: Client, table: str) -> list[tuple[object, ...]]:
    """Return a table's rows as readers see them, times as ms."""
    found = client.query(
        "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String}",
        parameters={"table": table},
    ).result_rows
    types: dict[str, str] = {row[0]: row[1] for row in found}
    columns = ", ".join(
        f"toUnixTimestamp64Milli(`{name}`)" if types[name].startswith("DateTime64") else f"`{name}`"
        for name in COLUMNS[table]
        if name != "fetched"
    )
    return [tuple(row) for row in client.query(f"SELECT {columns} FROM {table} FINAL").result_rows]


def test_the_tables_have_the_columns_that_rows_are_written_to(client: Client) -> None:
    for table, columns in COLUMNS.items():
        found = client.query(
            "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}"
            " ORDER BY position",
            parameters={"table": table},
        ).result_rows
        assert tuple(row[0] for row in found) == columns


def test_migrating_twice_applies_nothing_the_second_time(clickhouse_url: str, database: str) -> None:
    client = connect(clickhouse_url, database)
    numbers = tuple(migration.number for migration in migrations.migrations())
    assert migrations.migrate(client) == numbers
    assert migrations.migrate(client) == ()
    client.command(f"DROP DATABASE {database}")


def test_a_migration_that_was_changed_after_it_ran_is_refused(client: Client) -> None:
    client.command("INSERT INTO migrations (number, name, sha256) VALUES (2, 'floor', 'other')")
    with pytest.raises(MigrationError, match=r"migration 2 \(floor\) was changed"):
        migrations.migrate(client)


def test_a_database_of_a_newer_version_is_refused(client: Client) -> None:
    client.command("INSERT INTO migrations (number, name, sha256) VALUES (900, 'future', 'x')")
    with pytest.raises(MigrationError, match="the database has migration 900"):
        migrations.migrate(client)


async def test_what_is_written_twice_is_read_once_and_unchanged(client: Client) -> None:
    writer, rows = ClickHouseWriter(client), all_rows()
    await writer.write(rows)
    await writer.write(rows)
    for table in COLUMNS:
        written = [row for row in rows if row.table == table]
        expected = []
        for row in written:
            values = dict(zip(COLUMNS[table], row.values, strict=True))
            values.pop("fetched", None)
            if table == "scores":
                values["curve"] = [{"t": t, "v": v} for t, v in values["curve"]]
            if table in ("evidence", "dead_letters"):
                values = {k: v.hex() if isinstance(v, bytes) else v for k, v in values.items()}
            expected.append(tuple(values.values()))
        assert sorted(map(repr, read(client, table))) == sorted(map(repr, expected)), table


async def test_evidence_keeps_every_byte(client: Client) -> None:
    (message,) = messages()["floor.evidence"]
    await ClickHouseWriter(client).write(rows_of("floor.evidence", message.encode()))
    assert client.command("SELECT hex(body) FROM evidence FINAL") == b'[{"t":1}]\xff'.hex().upper()


async def test_the_answers_a_settlement_rests_on_are_kept(client: Client) -> None:
    await ClickHouseWriter(client).write(rows_of("floor.settlements", settlement().encode()))
    ((venue, sha256),) = client.query("SELECT fetched[1].venue, fetched[1].sha256 FROM settlements FINAL").result_rows
    assert (venue, sha256) == ("hyperliquid", "e" * 64)


async def test_a_late_repeat_of_an_older_state_does_not_come_back(client: Client) -> None:
    writer = ClickHouseWriter(client)
    states = [outcome(status="revealed", coin="BTC", side=1, at=T0 + 5), outcome()]
    for state in states:
        await writer.write(rows_of("arena.settlements", state.encode()))
    for one in [settlement(state="final"), settlement()]:
        await writer.write(rows_of("floor.settlements", one.encode()))
    assert client.command("SELECT status FROM outcomes FINAL") == "revealed"
    assert client.command("SELECT state FROM settlements FINAL") == "final"


async def test_the_latest_attempt_is_the_current_settlement(client: Client) -> None:
    writer = ClickHouseWriter(client)
    second = settlement(id="c" * 64 + "/2", attempt=2, status="miss")
    await writer.write([row for one in (second, settlement()) for row in rows_of("floor.settlements", one.encode())])
    assert client.query("SELECT attempt, status FROM current_settlements").result_rows == [(2, "miss")]


async def test_a_server_that_is_away_is_retriable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(RetriableSinkError):
            await ClickHouseWriter.open(f"http://127.0.0.1:{taken.getsockname()[1]}")


async def test_a_missing_table_is_permanent(client: Client) -> None:
    client.command("DROP TABLE alerts")
    with pytest.raises(PermanentSinkError, match="insert of 1 rows into alerts"):
        await ClickHouseWriter(client).write(rows_of("alerts", messages()["alerts"][0].encode()))


async def test_a_value_that_no_column_holds_is_permanent(client: Client) -> None:
    with pytest.raises(PermanentSinkError, match="into heads"):
        await ClickHouseWriter(client).write([Row("heads", (T0, 2**70, "x", "y"))])
