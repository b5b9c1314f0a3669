"""The embedded ClickHouse as clickhouse-connect sees it with its default options."""

import datetime as dt
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

from referee.embedded.clickhouse import clickhouse
from referee.embedded.ports import LOOPBACK, free_port
from referee.embedded.process import ServerFailedError
from referee.embedded.server import EmbeddedServer

pytestmark = pytest.mark.embedded

AWKWARD = ["", ";", "\n\n", "'", "\\", "\0", "--", "/*", "; DROP TABLE t;\n", "FORMAT Native\n", "ü🎲", "\\N", "\t"]


def test_large_inserts_arrive_whole(client: Client) -> None:
    client.command("CREATE TABLE t (a UInt64, b String) ENGINE = MergeTree ORDER BY a")
    summary = client.insert("t", [[row, f"row {row}"] for row in range(200_000)], column_names=["a", "b"])
    assert summary.written_rows == 200_000
    assert client.query("SELECT count(), sum(a), uniqExact(b) FROM t").result_rows == [(200_000, 19999900000, 200_000)]


@pytest.mark.parametrize("compress", [True, False, "zstd", "gzip"])
def test_every_type_comes_back_as_it_went(client: Client, compress: bool | str) -> None:
    client.command(
        "CREATE TABLE t (i UInt32, s String, f Nullable(Float64), d DateTime64(3, 'UTC'), l LowCardinality(String), "
        "a Array(String), b Bool, m Map(String, UInt64)) ENGINE = MergeTree ORDER BY i"
    )
    moment = dt.datetime.fromisoformat("2025-06-08T12:30:00.125")
    rows = [
        (i, text, None if i % 2 else i / 7, moment, f"kind {i % 3}", [text, ""], i % 2 == 0, {text: i})
        for i, text in enumerate(AWKWARD * 50)
    ]
    own = clickhouse_connect.get_client(
        host=LOOPBACK, port=int(client.uri.rsplit(":", 1)[1]), database=client.database, compress=compress
    )
    with own:
        own.insert("t", rows, column_names=["i", "s", "f", "d", "l", "a", "b", "m"])
        assert own.query("SELECT * FROM t ORDER BY i").result_rows == rows


@pytest.mark.parametrize("data_format", ["JSONEachRow", "TabSeparated", "CSV"])
def test_raw_inserts_keep_awkward_text(client: Client, data_format: str) -> None:
    client.command("CREATE TABLE source (i UInt32, s String) ENGINE = MergeTree ORDER BY i")
    client.command("CREATE TABLE target AS source")
    client.insert("source", list(enumerate(AWKWARD)), column_names=["i", "s"])
    block = client.raw_query("SELECT * FROM source ORDER BY i", fmt=data_format)
    client.raw_insert("target", ["i", "s"], block, fmt=data_format)
    assert client.query("SELECT i, s FROM target ORDER BY i").result_rows == list(enumerate(AWKWARD))


def test_values_are_inserted(client: Client) -> None:
    client.command("CREATE TABLE t (a UInt64, b String) ENGINE = MergeTree ORDER BY a")
    client.command("INSERT INTO t VALUES (1, 'a;b'), (1 + 1, 'c\n\nd');")
    client.command("INSERT INTO t VALUES ({a:UInt64}, {b:String})", parameters={"a": 3, "b": "it's"})
    assert client.query("SELECT * FROM t ORDER BY a").result_rows == [(1, "a;b"), (2, "c\n\nd"), (3, "it's")]


def test_parameters_are_bound_on_the_server(client: Client) -> None:
    query = "SELECT {s:String}, {a:Array(String)}, {n:Nullable(Int32)}, {d:DateTime64(3)}"
    moment = dt.datetime.fromisoformat("2025-06-08T01:02:03.004")
    given = {"s": "it's\t\\ \n x", "a": ["a'", "b\n"], "n": None, "d": moment}
    assert client.query(query, parameters=given).result_rows == [("it's\t\\ \n x", ["a'", "b\n"], None, moment)]


def test_long_parameters_are_bound(client: Client) -> None:
    text = "x" * 100_000
    assert client.query("SELECT length({s:String})", parameters={"s": text}).result_rows == [(100_000,)]


def test_errors_surface_with_their_code(client: Client) -> None:
    with pytest.raises(DatabaseError, match="UNKNOWN_TABLE") as caught:
        client.query("SELECT * FROM nope")
    assert caught.value.code == 60


def test_statements_without_a_result_and_empty_results_differ(client: Client) -> None:
    assert client.command("EXISTS TABLE nope") == 0
    assert client.query("SELECT number FROM numbers(3) LIMIT 0").column_names == ("number",)
    assert client.query("SELECT number FROM numbers(3) WHERE number > 5").result_rows == []


def test_data_frames_and_arrow_work(client: Client) -> None:
    assert client.query_df("SELECT number AS n FROM numbers(4)")["n"].sum() == 6
    assert client.query_arrow("SELECT number AS n FROM numbers(4)").num_rows == 4


async def test_the_asynchronous_client_works(client: Client) -> None:
    client.command("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
    port = int(client.uri.rsplit(":", 1)[1])
    own = await clickhouse_connect.get_async_client(host=LOOPBACK, port=port, database=client.database)
    async with own:
        await own.insert("t", [[row] for row in range(1000)], column_names=["a"])
        answer = await own.query("SELECT sum(a) FROM t WHERE a < {limit:UInt64}", parameters={"limit": 10})
        assert answer.result_rows == [(45,)]


def test_replacing_tables_materialised_views_and_tokens_behave(client: Client) -> None:
    client.command(
        "CREATE TABLE calls (id String, version UInt64, score Float64) ENGINE = ReplacingMergeTree(version) "
        "ORDER BY id SETTINGS non_replicated_deduplication_window = 100"
    )
    client.command(
        "CREATE MATERIALIZED VIEW seen ENGINE = SummingMergeTree ORDER BY id "
        "SETTINGS non_replicated_deduplication_window = 100 "
        "AS SELECT id, count() AS rows FROM calls GROUP BY id"
    )
    columns = ["id", "version", "score"]
    # Without this setting, and a window of the view's own, a view would count the repeat that its source refused.
    once = {"deduplicate_blocks_in_dependent_materialized_views": 1}
    for token in ("first", "first", "second"):
        client.insert("calls", [["a", 1, 0.5]], columns, settings={"insert_deduplication_token": token, **once})
    client.insert("calls", [["a", 2, 0.75]], columns)
    assert client.query("SELECT id, score FROM calls FINAL").result_rows == [("a", 0.75)]
    assert client.query("SELECT count() FROM calls").result_rows == [(3,)]
    assert client.query("SELECT sum(rows) FROM seen").result_rows == [(3,)]
    client.command("OPTIMIZE TABLE calls FINAL")
    assert client.query("SELECT count() FROM calls").result_rows == [(1,)]


def test_data_outlives_kill_9(tmp_path: Path) -> None:
    server = EmbeddedServer(clickhouse(), tmp_path)
    server.start()
    with clickhouse_connect.get_client(host=LOOPBACK, port=server.port) as own:
        own.command("CREATE DATABASE kept")
        own.command("CREATE TABLE kept.t (a UInt64) ENGINE = ReplacingMergeTree ORDER BY a")
        own.command("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
        for start in range(0, 2000, 500):
            own.insert("kept.t", [[row] for row in range(start, start + 500)], ["a"])
            own.insert("t", [[start]], ["a"])
        server.process.kill()
    server.start()
    with clickhouse_connect.get_client(host=LOOPBACK, port=server.port) as own:
        assert own.query("SELECT count(), sum(a) FROM kept.t FINAL").result_rows == [(2000, 1999000)]
        assert own.query("SELECT count() FROM t").result_rows == [(4,)]
    server.stop()


def test_a_second_owner_of_the_data_is_refused(clickhouse_server: EmbeddedServer) -> None:
    second = EmbeddedServer(clickhouse(), clickhouse_server.data)
    with pytest.raises(ServerFailedError) as caught:
        second.start()
    owner = clickhouse_server.process.pid
    assert f"is in use by the ClickHouse server with process id {owner}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_on_its_own_ends_cleanly_and_frees_the_directory(
    tmp_path: Path, spawn: Callable[..., subprocess.Popen[str]]
) -> None:
    for _ in range(2):
        port = free_port()
        own = spawn("-m", "referee.embedded.clickhouse_server", "--port", str(port), "--data", str(tmp_path))
        kind = clickhouse()
        while not kind.is_ready(port):
            assert own.poll() is None
        os.kill(own.pid, signal.SIGTERM)
        assert own.wait(10) == 0, own.communicate()


def test_loading_the_engine_is_left_to_the_server_process() -> None:
    code = "import sys, referee.embedded.stack, referee.serve; sys.exit('chdb' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=False).returncode == 0
