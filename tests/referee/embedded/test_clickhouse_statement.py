"""Where the data of an INSERT begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.embedded.clickhouse_statement import FileClauseError, named_format, split_insert


@pytest.mark.parametrize(
    ("text", "head", "data_format", "data"),
    [
        (b"INSERT INTO t FORMAT Native\n\x01\x02", "INSERT INTO t", "Native", b"\x01\x02"),
        (b"insert into t (a, b) values (1, 2)", "insert into t (a, b)", "Values", b"(1, 2)"),
        (b"INSERT INTO t VALUES(1)", "INSERT INTO t", "Values", b"(1)"),
        (b"INSERT INTO db.format (values) FORMAT CSV\r\n\n1", "INSERT INTO db.format (values)", "CSV", b"\n1"),
        (b"INSERT INTO values VALUES (1)", "INSERT INTO values", "Values", b"(1)"),
        (b"INSERT INTO `a FORMAT b` FORMAT TSV\n1", "INSERT INTO `a FORMAT b`", "TSV", b"1"),
        (b"INSERT INTO FUNCTION null('x Int8') VALUES (1)", "INSERT INTO FUNCTION null('x Int8')", "Values", b"(1)"),
        (b"-- VALUES\nINSERT INTO TABLE t /* ( */ FORMAT TSV 1", "-- VALUES\nINSERT INTO TABLE t /* ( */", "TSV", b"1"),
        (
            b"INSERT INTO t SETTINGS insert_deduplication_token = 'it''s FORMAT x' FORMAT JSONEachRow\n{}",
            "INSERT INTO t SETTINGS insert_deduplication_token = 'it''s FORMAT x'",
            "JSONEachRow",
            b"{}",
        ),
        (b"INSERT INTO t FORMAT Native", "INSERT INTO t", "Native", b""),
    ],
)
def test_an_insert_is_split_from_its_data(text: bytes, head: str, data_format: str, data: bytes) -> None:
    insert = split_insert(text)
    assert insert is not None
    assert (insert.head, insert.data_format, bytes(insert.data)) == (head, data_format, data)


@pytest.mark.parametrize(
    "text",
    [
        b"SELECT 1 FORMAT Native",
        b"INSERT INTO t SELECT 1 FORMAT Native",
        b"INSERT INTO t (a) WITH x AS (SELECT 1) SELECT * FROM x",
        b"INSERT INTO t (SELECT 1)",
        b"(INSERT INTO t VALUES (1))",
        b"CREATE TABLE t (a Int8) ENGINE = Memory",
        b"",
    ],
)
def test_other_statements_have_no_data(text: bytes) -> None:
    assert split_insert(text) is None


def test_a_file_of_the_client_is_refused() -> None:
    with pytest.raises(FileClauseError):
        split_insert(b"INSERT INTO t FROM INFILE '/etc/passwd' FORMAT LineAsString")


@given(st.binary())
def test_data_is_never_read_as_sql(data: bytes) -> None:
    insert = split_insert(b"INSERT INTO t (a) FORMAT RowBinary\n" + data)
    assert insert is not None
    assert bytes(insert.data) == data


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"SELECT 1 FORMAT JSON", "JSON"),
        (b"SELECT 1\n FORMAT Native ;\n", "Native"),
        (b"SELECT 1 FORMAT CSV SETTINGS max_threads = 1", "CSV"),
        (b"SELECT 'FORMAT JSON'", None),
        (b"SELECT 1", None),
    ],
)
def test_the_format_that_a_query_names_is_found(text: bytes, expected: str | None) -> None:
    assert named_format(text) == expected
