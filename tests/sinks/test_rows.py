"""Tests of what a message becomes in ClickHouse, without a server."""

import pytest
from pydantic import ValidationError

from sinks.clickhouse.rows import COLUMNS, TOPIC_NAMES, Row, rows_of
from tests.sinks.examples import T0, call, candle, messages, outcome, settlement


def values(row: Row) -> dict[str, object]:
    """Return a row's values by column."""
    return dict(zip(COLUMNS[row.table], row.values, strict=True))


def test_every_topic_that_is_kept_has_an_example_and_every_table_gets_a_row() -> None:
    tables = {row.table for name, some in messages().items() for one in some for row in rows_of(name, one.encode())}
    assert set(messages()) == set(TOPIC_NAMES)
    assert tables == set(COLUMNS)


def test_only_closed_candles_are_kept() -> None:
    topic = "market.candles"
    forming, closed = candle(closed=False), candle()
    assert rows_of(topic, forming.encode()) == []
    assert [row.table for row in rows_of(topic, closed.encode())] == ["candles"]
    assert [rows_of(topic, one.encode()) for one in messages()[topic] if one.model_dump()["type"] == "complete"] == [[]]


def test_every_listed_coin_becomes_a_row() -> None:
    (message,) = messages()["market.listings"]
    rows = rows_of("market.listings", message.encode())
    assert [values(row)["coin"] for row in rows] == ["BTC", "OLD"]
    assert {values(row)["at"] for row in rows} == {T0}


def test_a_range_value_becomes_two_columns() -> None:
    (row,) = rows_of("floor.settlements", settlement(kind="range", value=(99.0, 103.0)).encode())
    assert (values(row)["value"], values(row)["value_upper"]) == (99.0, 103.0)
    (row,) = rows_of("floor.settlements", settlement(status="void", value=None).encode())
    assert (values(row)["value"], values(row)["value_upper"]) == (None, None)


def test_a_final_settlement_stands_over_its_provisional_self() -> None:
    (first,) = rows_of("floor.settlements", settlement().encode())
    (second,) = rows_of("floor.settlements", settlement(state="final").encode())
    assert values(second)["version"] > values(first)["version"]  # type: ignore[operator]


def test_of_two_outcomes_in_one_millisecond_the_resolved_one_stands() -> None:
    states = [
        outcome(),
        outcome(status="revealed"),
        outcome(status="revealed", resolved_at_s=T0 // 1000),
        outcome(status="pending", at=T0 + 1),
    ]
    versions = [values(rows_of("arena.settlements", one.encode())[0])["version"] for one in states]
    assert versions == sorted(set(versions))  # type: ignore[type-var]


def test_terms_with_an_integer_beyond_64_bits_are_kept_digit_by_digit() -> None:
    (row,) = rows_of("floor.calls", call(terms={"kind": "close", "level": 10**30, "direction": "above"}).encode())
    assert f'"level":{10**30}' in str(values(row)["terms"])


def test_evidence_and_dead_letters_are_stored_as_the_bytes_they_were() -> None:
    (evidence,) = messages()["floor.evidence"]
    (row,) = rows_of("floor.evidence", evidence.encode())
    assert values(row)["body"] == b'[{"t":1}]\xff'
    (letter,) = messages()["dead-letters"]
    (row,) = rows_of("dead-letters", letter.encode())
    assert (values(row)["key"], values(row)["value"]) == (None, b"\xff\x00")


def test_a_message_that_is_not_of_its_topic_is_an_error() -> None:
    with pytest.raises(ValidationError):
        rows_of("floor.calls", candle().encode())
    with pytest.raises(KeyError):
        rows_of("clock", b"{}")
