"""Grafana's dashboards from the pages' own queries; `python -m sinks.clickhouse.grafana DIRECTORY` writes them."""

import json
import re
import sys
from pathlib import Path
from typing import Any

from sinks.clickhouse import queries
from sinks.clickhouse.queries import LedgerSort, NewestSort, PredictionSort, Query, paged

SOURCE = {"type": "grafana-clickhouse-datasource", "uid": "referee-clickhouse"}
TABLE_ROWS = 200
STALE_S = 600

Json = dict[str, Any]

_PARAMETER = re.compile(r"\{(\w+):[^{}]+\}")


def bound(query: Query, **values: str | int) -> str:
    """Return a query's SQL with its parameters replaced.

    A number stands as it is, a text is a dashboard variable's name (quoted by Grafana's `sqlstring`), an empty text is
    an empty filter. Raises `KeyError` for a parameter without a value.
    """

    def literal(match: re.Match[str]) -> str:
        value = values[match[1]]
        if isinstance(value, int):
            return str(value)
        if not value:
            return "''"
        return f"${{{value}}}" if value.startswith("__") else f"${{{value}:sqlstring}}"

    return _PARAMETER.sub(literal, query.sql)


def _panel(kind: str, title: str, sql: str, where: tuple[int, int, int, int], **more: Any) -> Json:
    x, y, width, height = where
    series = kind == "timeseries"
    return {
        "type": kind,
        "title": title,
        "datasource": SOURCE,
        "gridPos": {"x": x, "y": y, "w": width, "h": height},
        "targets": [
            {
                "refId": "A", "datasource": SOURCE, "editorType": "sql", "rawSql": sql,
                "queryType": "timeseries" if series else "table", "format": 0 if series else 1,
            }
        ],
        "fieldConfig": {"defaults": {}, "overrides": []},
        "options": {},
    } | more  # fmt: skip


def _variable(name: str, sql: str) -> Json:
    return {
        "name": name, "label": name, "type": "query", "datasource": SOURCE, "query": sql, "refresh": 2,
        "sort": 1, "multi": False, "includeAll": False,
    }  # fmt: skip


def _choice(name: str, options: tuple[str, ...]) -> Json:
    listed = [{"text": option or "all", "value": option, "selected": not option} for option in ("", *options)]
    return {
        "name": name, "label": name, "type": "custom", "options": listed, "current": listed[0], "multi": False,
        "includeAll": False, "query": ", ".join(f"{one['text']} : {one['value']}" for one in listed),
    }  # fmt: skip


def _textbox(name: str) -> Json:
    return {"name": name, "label": name, "type": "textbox", "query": "", "current": {"text": "", "value": ""}}


def _dashboard(uid: str, title: str, variables: list[Json], panels: list[Json]) -> Json:
    return {
        "uid": uid,
        "title": title,
        "tags": ["referee"],
        "timezone": "utc",
        "refresh": "30s",
        "schemaVersion": 39,
        "time": {"from": "now-7d", "to": "now"},
        "templating": {"list": variables},
        "panels": [panel | {"id": number} for number, panel in enumerate(panels, 1)],
    }


def _floor() -> Json:
    filters = {name: name for name in ("kind", "status", "agent", "coin", "text")}
    open_filters = {name: name for name in ("kind", "agent", "coin", "text")}
    page = {"limit": TABLE_ROWS, "offset": 0}
    bars = {
        "fieldConfig": {"defaults": {"custom": {"drawStyle": "bars", "stacking": {"mode": "normal"}}}, "overrides": []}
    }
    return _dashboard(
        "referee-floor",
        "Referee: the Floor",
        [
            _choice("kind", ("touch", "close", "range", "metric", "relative")),
            _choice("status", ("hit", "miss", "void")),
            _textbox("agent"),
            _textbox("coin"),
            _textbox("text"),
        ],
        [
            _panel("table", "At a glance", bound(queries.GLANCE), (0, 0, 24, 4)),
            _panel("timeseries", "Settlements an hour", bound(queries.SETTLEMENTS_BY_HOUR), (0, 4, 12, 9), **bars),
            _panel("table", "Board", bound(queries.BOARD), (12, 4, 12, 9)),
            _panel(
                "table", "Settlement ledger",
                bound(paged(queries.LEDGER, LedgerSort.SETTLED, True, "call"), **filters, **page), (0, 13, 24, 12),
            ),
            _panel(
                "table", "Open calls",
                bound(paged(queries.OPEN_CALLS, LedgerSort.DEADLINE, False, "call"), **open_filters, **page),
                (0, 25, 24, 9),
            ),
        ],
    )  # fmt: skip


def _market() -> Json:
    window = {"from_ms": "__from", "to_ms": "__to"}
    coin = {"coin": "coin", "venue": "venue"}
    page = {"limit": TABLE_ROWS, "offset": 0}
    return _dashboard(
        "referee-market",
        "Referee: markets and feeds",
        [
            _variable("coin", bound(queries.COINS)),
            _textbox("venue") | {"query": "hyperliquid", "current": {"text": "hyperliquid", "value": "hyperliquid"}},
            _choice("interval", ("5m", "1h")) | {"current": {"text": "5m", "value": "5m"}},
        ],
        [
            _panel("table", "Coin", bound(queries.COIN, **coin), (0, 0, 24, 4)),
            _panel(
                "candlestick", "Candles", bound(queries.CANDLES, **coin, **window, interval="interval"), (0, 4, 24, 12)
            ),
            _panel("timeseries", "σ per √hour", bound(queries.COIN_VOLATILITY, **coin, **window), (0, 16, 12, 9)),
            _panel("table", "Open levels", bound(queries.COIN_LEVELS, coin="coin", limit=TABLE_ROWS), (12, 16, 12, 9)),
            _panel("table", "Feeds", bound(queries.FEEDS, stale_s=STALE_S), (0, 25, 8, 9)),
            _panel(
                "table", "Alerts",
                bound(paged(queries.ALERTS, NewestSort.AT, True, "id"), severity="", kind="", **page), (8, 25, 16, 9),
            ),
            _panel(
                "table", "Dead letters", bound(paged(queries.DEAD_LETTERS, NewestSort.AT, True, "id"), **page),
                (0, 34, 24, 9),
            ),
        ],
    )  # fmt: skip


def _arena() -> Json:
    names = f"SELECT record FROM\n(\n{queries.RECORDS.sql}\n)"
    predictions = paged(queries.PREDICTIONS, PredictionSort.LOCKED, True, "id")
    return _dashboard(
        "referee-arena",
        "Referee: the Arena",
        [_variable("record", names), _choice("status", ("revealed", "withheld", "unscorable", "pending"))],
        [
            _panel("table", "Records", bound(queries.RECORDS), (0, 0, 24, 10)),
            _panel("timeseries", "Return curve", bound(queries.RECORD_CURVE, record="record"), (0, 10, 14, 9)),
            _panel("table", "Score and parts", bound(queries.RECORD_SCORE, record="record"), (14, 10, 10, 9)),
            _panel(
                "table", "Predictions",
                bound(predictions, record="record", status="status", limit=TABLE_ROWS, offset=0), (0, 19, 24, 12),
            ),
        ],
    )  # fmt: skip


def dashboards() -> dict[str, str]:
    """Return the dashboards' JSON texts by file name."""
    made = {"floor.json": _floor(), "market.json": _market(), "arena.json": _arena()}
    return {name: json.dumps(one, indent=2, ensure_ascii=False) + "\n" for name, one in made.items()}


if __name__ == "__main__":
    for file_name, text in dashboards().items():
        Path(sys.argv[1], file_name).write_text(text, encoding="utf-8")
