"""ClickHouse against the topics, row for row and field by field."""

import pytest

from sinks.clickhouse.rows import COLUMNS, TOPIC_NAMES
from tests.demo.finished_run import FinishedRun, keyed
from tests.demo.table_rows import TABLES, Table, expected, read_back
from topics.registry import DEAD_LETTERS

EMPTY_IN_A_GOOD_RUN = {"dead_letters", "records"}


def test_every_table_is_compared() -> None:
    assert {table.name for table in TABLES} == COLUMNS.keys()
    assert {table.topic.name for table in TABLES} == set(TOPIC_NAMES)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_table_holds_what_its_topic_holds_no_more_no_fewer(run: FinishedRun, table: Table) -> None:
    messages = expected(table, run.sent(table.topic))
    rows = keyed([read_back(table, row) for row in run.table(table.name)], *table.key)
    assert rows == messages
    assert bool(rows) == (table.name not in EMPTY_IN_A_GOOD_RUN)


def test_nothing_became_a_dead_letter(run: FinishedRun) -> None:
    assert run.sent(DEAD_LETTERS) == []
