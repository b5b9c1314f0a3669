"""Tests of the provisioned Grafana dashboards: they are made from the pages' queries, and ClickHouse answers them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from sinks.clickhouse import queries
from sinks.clickhouse.grafana import SOURCE, dashboards
from sinks.clickhouse.queries import Query
from tests.sinks.browser import insert
from tests.sinks.examples import T0, messages

FILES = Path(__file__).parents[2] / "deploy" / "grafana" / "dashboards"
VALUES = {
    "kind": "", "status": "", "agent": "", "text": "", "coin": "BTC", "venue": "hyperliquid", "interval": "5m",
    "record": "r1", "__from": T0 - 1, "__to": T0 + 1,
}  # fmt: skip


def panels() -> list[dict[str, Any]]:
    """Return every panel of the provisioned files."""
    return [panel for file in sorted(FILES.glob("*.json")) for panel in json.loads(file.read_text())["panels"]]


def interpolated(sql: str) -> str:
    """Return SQL as Grafana sends it, with a value for every variable."""

    def value(match: re.Match[str]) -> str:
        one = VALUES[match[1]]
        return f"'{one}'" if match[2] else str(one)

    return re.sub(r"\$\{(\w+)(:sqlstring)?\}", value, sql)


def test_the_provisioned_files_are_what_the_queries_make() -> None:
    assert {file.name: file.read_text(encoding="utf-8") for file in FILES.glob("*.json")} == dashboards()


def test_every_panel_asks_a_query_of_the_pages() -> None:
    skeletons = {
        re.sub(r"\{\w+:[^{}]+\}", "?", query.sql) for query in vars(queries).values() if isinstance(query, Query)
    }
    for panel in panels():
        (target,) = panel["targets"]
        assert target["datasource"] == SOURCE
        text = re.sub(r"\$\{\w+(?::sqlstring)?\}", "?", target["rawSql"])
        assert any(_fits(skeleton, text) for skeleton in skeletons), panel["title"]


def _fits(skeleton: str, text: str) -> bool:
    """Tell whether SQL begins with a query's text, its parameters being anything that is one word."""
    return re.match(re.escape(skeleton).replace(r"\?", r"(?:\?|''|\d+)"), text) is not None


@pytest.mark.embedded
def test_clickhouse_answers_every_panel(client: Client) -> None:
    for topic, some in messages().items():
        insert(client, topic, [one.encode() for one in some])
    for panel in panels():
        rows = client.query(interpolated(panel["targets"][0]["rawSql"])).result_rows
        assert rows or panel["title"] == "Open calls" or panel["title"] == "Open levels", panel["title"]


@pytest.mark.embedded
def test_the_variables_have_values_to_choose_from(client: Client) -> None:
    for topic, some in messages().items():
        insert(client, topic, [one.encode() for one in some])
    found = {}
    for file in FILES.glob("*.json"):
        for variable in json.loads(file.read_text())["templating"]["list"]:
            if variable["type"] == "query":
                found[variable["name"]] = client.query(variable["query"]).result_rows
    assert found == {"coin": [("BTC",)], "record": [("r1",)]}
