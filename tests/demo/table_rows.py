"""What each table must hold, written out from the topics' JSON; and a table's rows in the same form."""

import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from topics import registry
from topics.registry import Topic

Json = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """A table, the topic that it comes from, the columns that identify a row, and what a message becomes."""

    name: str
    topic: Topic
    key: tuple[str, ...]
    rows: Callable[[Json], Iterable[Json]]


def itself(message: Json) -> list[Json]:
    """Keep a message as it is."""
    return [message]


def closed_candle(message: Json) -> list[Json]:
    """Keep closed candles only."""
    kept = {name: value for name, value in message.items() if name not in ("type", "closed")}
    return [kept] if message["type"] == "candle" and message["closed"] else []


def listed(message: Json) -> list[Json]:
    """Make a row of each coin."""
    return [{"venue": message["venue"], "at": message["at"], **coin} for coin in message["coins"]]


def call(message: Json) -> list[Json]:
    """Lay the fields and labels of a call flat."""
    flat = {name: value for name, value in message.items() if name not in ("fields", "labels")}
    return [{**flat, **message["fields"], **message["labels"]}]


def settlement(message: Json) -> list[Json]:
    """Split a pair of values."""
    value = message["value"]
    low, high = value if isinstance(value, list) else (value, None)
    return [{**message, "value": low, "value_upper": high}]


def opened(message: Json) -> list[Json]:
    """Keep openings of records, not commits."""
    if message["type"] != "open":
        return []
    kept = {name: value for name, value in message.items() if name not in ("type", "position")}
    return [{**kept, "coins": message["coins"] or [], "any_coin": message["coins"] is None}]


def evidence(message: Json) -> list[Json]:
    """Unpack the raw bytes."""
    return [{**message, "body": base64.b64decode(message["body"]).decode()}]


def dead_letter(message: Json) -> list[Json]:
    """Unpack the original bytes."""
    raw = {name: None if message[name] is None else base64.b64decode(message[name]) for name in ("key", "value")}
    return [{**message, **raw}]


TABLES = (
    Table("candles", registry.CANDLES, ("venue", "coin", "interval", "open_time"), closed_candle),
    Table("funding", registry.FUNDING, ("venue", "coin", "time"), itself),
    Table("listings", registry.LISTINGS, ("venue", "coin", "at"), listed),
    Table("volatility", registry.VOLATILITY, ("venue", "coin", "at"), itself),
    Table("calls", registry.CALLS, ("id",), call),
    Table("settlements", registry.SETTLEMENTS, ("id",), settlement),
    Table("evidence", registry.EVIDENCE, ("sha256",), evidence),
    Table("touches", registry.TOUCHES, ("call", "candle_open_time"), itself),
    Table("standings", registry.STANDINGS, ("agent", "at", "settled", "voids"), itself),
    Table("records", registry.COMMITS, ("record",), opened),
    Table("outcomes", registry.OUTCOMES, ("id",), itself),
    Table("scores", registry.SCORES, ("id",), itself),
    Table("receipts", registry.RECEIPTS, ("id",), itself),
    Table("ledger", registry.LEDGER, ("seq",), itself),
    Table("heads", registry.HEADS, ("at",), itself),
    Table("alerts", registry.ALERTS, ("id",), itself),
    Table("dead_letters", registry.DEAD_LETTERS, ("id",), dead_letter),
)

JSON_COLUMNS = {("calls", "terms"), ("settlements", "terms"), ("ledger", "body")}


def expected(table: Table, messages: Iterable[Json]) -> dict[tuple[Any, ...], Json]:
    """Return the rows that a topic's messages make, in their order: a later one stands over an earlier one."""
    rows = [row for message in messages for row in table.rows(message)]
    return {tuple(row[name] for name in table.key): row for row in rows}


def read_back(table: Table, row: Json) -> Json:
    """Return a row as the messages write it: times in ms, JSON texts parsed, without what only orders repeats."""
    return {
        name: json.loads(value) if (table.name, name) in JSON_COLUMNS else plain(value)
        for name, value in row.items()
        if name != "version"
    }


def plain(value: object) -> object:
    """Return a column's value as JSON has it."""
    if isinstance(value, datetime):
        return round(value.timestamp() * 1_000)
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value
