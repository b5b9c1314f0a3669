"""The embedded ClickHouse's HTTP interface, asked by bare HTTP."""

import gzip
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import httpx
import lz4.frame  # type: ignore[import-untyped]
import pytest
from backports import zstd
from clickhouse_connect.driver.client import Client

from referee.embedded.server import EmbeddedServer

pytestmark = pytest.mark.embedded


def get(server: EmbeddedServer, query: str, headers: Mapping[str, str] | None = None, **values: str) -> httpx.Response:
    return httpx.get(server.url, params={"query": query, **values}, headers=headers)


def post(
    server: EmbeddedServer, body: bytes | str, headers: Mapping[str, str] | None = None, **values: str
) -> httpx.Response:
    return httpx.post(server.url, params=values, content=body, headers=headers, timeout=30)


def test_pings_are_answered(clickhouse_server: EmbeddedServer) -> None:
    for path in ("/ping", "/"):
        response = httpx.get(clickhouse_server.url + path)
        assert (response.status_code, response.text) == (200, "Ok.\n")


def test_a_query_by_get_comes_with_clickhouse_headers(clickhouse_server: EmbeddedServer) -> None:
    response = get(clickhouse_server, "SELECT 7 AS seven", query_id="mine", default_format="JSONEachRow")
    assert response.text == '{"seven":7}\n'
    assert response.headers["X-ClickHouse-Query-Id"] == "mine"
    assert response.headers["X-ClickHouse-Format"] == "JSONEachRow"
    assert response.headers["X-ClickHouse-Timezone"]
    assert response.headers["X-ClickHouse-Server-Display-Name"]
    assert json.loads(response.headers["X-ClickHouse-Summary"])["read_rows"] == "1"


def test_the_format_header_and_the_format_clause_choose_the_format(clickhouse_server: EmbeddedServer) -> None:
    by_header = get(clickhouse_server, "SELECT 1 AS a", headers={"X-ClickHouse-Format": "CSVWithNames"})
    assert by_header.text == '"a"\n1\n'
    by_clause = get(clickhouse_server, "SELECT 1 AS a FORMAT JSONCompactEachRow", default_format="CSV")
    assert by_clause.text == "[1]\n"
    assert by_clause.headers["X-ClickHouse-Format"] == "JSONCompactEachRow"


def test_the_query_continues_in_the_body(clickhouse_server: EmbeddedServer) -> None:
    assert post(clickhouse_server, "number) FROM numbers(5)", query="SELECT sum(").text == "10\n"


def test_parameters_are_bound(clickhouse_server: EmbeddedServer) -> None:
    response = get(clickhouse_server, "SELECT {a:UInt8} + 1, {b:String}", param_a="41", param_b="x' OR 1 --")
    assert response.text == "42\tx\\' OR 1 --\n"


def test_a_parameter_may_be_called_like_anything(clickhouse_server: EmbeddedServer) -> None:
    response = get(clickhouse_server, "SELECT {text:String}, {self:String}", param_text="a", param_self="b")
    assert response.text == "a\tb\n"


def test_parameters_come_in_a_form_too(clickhouse_server: EmbeddedServer) -> None:
    fields = {"query": (None, "SELECT {a:UInt8}"), "param_a": (None, "5")}
    assert httpx.post(clickhouse_server.url, files=fields).text == "5\n"


def test_settings_last_for_one_statement(clickhouse_server: EmbeddedServer) -> None:
    query = "SELECT getSetting('max_result_rows')"
    before = get(clickhouse_server, query).text
    assert get(clickhouse_server, query, max_result_rows="77").text == "77\n"
    assert get(clickhouse_server, "SELECT * FROM nope", max_result_rows="77").status_code == 404
    assert get(clickhouse_server, query).text == before


def test_set_and_use_do_not_leak_into_other_statements(clickhouse_server: EmbeddedServer) -> None:
    assert post(clickhouse_server, "SET max_result_rows = 77").status_code == 200
    assert post(clickhouse_server, "USE system").status_code == 200
    seen = post(clickhouse_server, "SELECT getSetting('max_result_rows'), currentDatabase()").text
    assert seen == "0\tdefault\n"


@pytest.mark.parametrize(
    "write",
    [
        "INSERT INTO {db}.t VALUES (1)",
        "INSERT INTO {db}.t SELECT 1",
        "CREATE TABLE {db}.u (a UInt8) ENGINE = Memory",
        "DROP TABLE {db}.t",
        "SET readonly = 0",
    ],
)
def test_get_refuses_to_write(clickhouse_server: EmbeddedServer, client: Client, write: str) -> None:
    client.command("CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a")
    response = get(clickhouse_server, write.format(db=client.database))
    assert response.status_code == 500
    assert response.headers["X-ClickHouse-Exception-Code"] == "164"
    assert response.text.startswith("Code: 164. DB::Exception: ")
    assert "(READONLY)" in response.text
    assert client.query("SELECT count() FROM t").result_rows == [(0,)]


def test_a_read_only_post_refuses_to_write(clickhouse_server: EmbeddedServer) -> None:
    response = post(clickhouse_server, "CREATE TABLE u (a UInt8) ENGINE = Memory", readonly="2")
    assert response.headers["X-ClickHouse-Exception-Code"] == "164"


@pytest.mark.parametrize(
    ("query", "status", "code", "name"),
    [
        ("SELECT * FROM nope", 404, 60, "UNKNOWN_TABLE"),
        ("SELECT nope", 404, 47, "UNKNOWN_IDENTIFIER"),
        ("SELEC 1", 400, 62, "SYNTAX_ERROR"),
        ("SELEC", 400, 62, "SYNTAX_ERROR"),
        ("SELECT 1; SELECT 2", 400, 62, "SYNTAX_ERROR"),
        ("", 400, 62, "SYNTAX_ERROR"),
        ("SELECT {a:UInt8}", 500, 456, "UNKNOWN_QUERY_PARAMETER"),
        ("SELECT throwIf(1)", 500, 395, "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO"),
        ("SELECT 1 FORMAT Nope", 404, 73, "UNKNOWN_FORMAT"),
        ("SELECT 1 INTO OUTFILE '/tmp/x'", 500, 358, "INTO_OUTFILE_NOT_ALLOWED"),
        ("INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV", 404, 78, "UNKNOWN_TYPE_OF_QUERY"),
    ],
)
def test_errors_read_as_clickhouse_words_them(
    clickhouse_server: EmbeddedServer, query: str, status: int, code: int, name: str
) -> None:
    response = post(clickhouse_server, query)
    assert response.status_code == status
    assert response.headers["X-ClickHouse-Exception-Code"] == str(code)
    assert response.text.startswith(f"Code: {code}. DB::Exception: ")
    assert f"({name}) (version " in response.text


def test_an_unknown_database_and_an_unknown_setting_are_named(clickhouse_server: EmbeddedServer) -> None:
    database = get(clickhouse_server, "SELECT 1", database="nope")
    assert (database.status_code, database.headers["X-ClickHouse-Exception-Code"]) == (404, "81")
    setting = get(clickhouse_server, "SELECT 1", no_such_setting="1")
    assert (setting.status_code, setting.headers["X-ClickHouse-Exception-Code"]) == (404, "115")


def test_a_statement_that_takes_too_long_is_ended(clickhouse_server: EmbeddedServer) -> None:
    query = "SELECT sum(sipHash64(number)) FROM numbers(100000000000)"
    response = httpx.get(clickhouse_server.url, params={"query": query, "max_execution_time": "0.3"}, timeout=30)
    assert (response.status_code, response.headers["X-ClickHouse-Exception-Code"]) == (408, "159")


@pytest.mark.parametrize("encoding", ["gzip", "lz4", "zstd"])
def test_compressed_inserts_are_read_to_their_last_frame(
    clickhouse_server: EmbeddedServer, client: Client, encoding: str
) -> None:
    client.command("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
    compress = {"gzip": gzip.compress, "lz4": lz4.frame.compress, "zstd": zstd.compress}[encoding]
    body = compress(b"1\n2\n") + compress(b"3\n")
    response = post(
        clickhouse_server,
        body,
        headers={"Content-Encoding": encoding},
        query=f"INSERT INTO {client.database}.t FORMAT CSV",
    )
    assert json.loads(response.headers["X-ClickHouse-Summary"])["written_rows"] == "3"
    cut = post(
        clickhouse_server,
        body[:-2],
        headers={"Content-Encoding": encoding},
        query=f"INSERT INTO {client.database}.t FORMAT CSV",
    )
    assert cut.headers["X-ClickHouse-Exception-Code"] == "271"
    assert client.query("SELECT sum(a) FROM t").result_rows == [(6,)]


@pytest.mark.parametrize(("encoding", "decompress"), [("lz4", lz4.frame.decompress), ("zstd", zstd.decompress)])
def test_large_responses_are_compressed_when_asked(
    clickhouse_server: EmbeddedServer, encoding: str, decompress: type[bytes]
) -> None:
    values = {"query": "SELECT number FROM numbers(100000)", "enable_http_compression": "1"}
    with httpx.stream("GET", clickhouse_server.url, params=values, headers={"Accept-Encoding": encoding}) as response:
        assert response.headers["Content-Encoding"] == encoding
        rows = decompress(b"".join(response.iter_raw())).split()
    assert rows == [str(number).encode() for number in range(100000)]


def test_an_unknown_encoding_is_refused(clickhouse_server: EmbeddedServer) -> None:
    response = post(clickhouse_server, b"x", headers={"Content-Encoding": "rot13"})
    assert response.headers["X-ClickHouse-Exception-Code"] == "89"


def test_pages_of_strangers_are_kept_out(clickhouse_server: EmbeddedServer) -> None:
    assert get(clickhouse_server, "SELECT 1", headers={"Host": "evil.example"}).status_code == 403
    assert get(clickhouse_server, "SELECT 1", headers={"Origin": "https://evil.example"}).status_code == 403
    assert get(clickhouse_server, "SELECT 1", headers={"Origin": "http://localhost:8080"}).status_code == 200


def test_reads_run_beside_each_other(clickhouse_server: EmbeddedServer) -> None:
    # Each stays in the engine for a second, so that one after the other the last would begin after three.
    query = "SELECT toUnixTimestamp64Milli(now64(3)), sleep(1)"
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: get(clickhouse_server, query).text, range(4)))
    begun_ms = [int(answer.split()[0]) for answer in answers]
    assert max(begun_ms) - min(begun_ms) < 900
