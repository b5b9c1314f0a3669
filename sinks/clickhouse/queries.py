"""Every question that pages and dashboards ask: named, parameterised SQL, sorted by a closed list of columns."""

from dataclasses import dataclass
from enum import StrEnum
from importlib import resources


@dataclass(frozen=True, slots=True)
class Query:
    """A named SQL text with `{name:Type}` parameters."""

    name: str
    sql: str


class LedgerSort(StrEnum):
    """What the settlement ledger and the open calls may be sorted by."""

    SETTLED = "settled_at"
    DEADLINE = "deadline"
    KIND = "kind"
    AGENT = "agent"
    RESULT = "status"
    P = "p"
    B = "b"
    SCORE = "score"
    VALUE = "value"
    FINAL = "final_at"


class PredictionSort(StrEnum):
    """What a record's predictions may be sorted by."""

    CALL = "call_id"
    STATUS = "status"
    COIN = "coin"
    LOCKED = "locked_at_s"
    EXIT = "exit_at_s"
    NET = "net"


class NewestSort(StrEnum):
    """Alerts and dead letters stand in order of time only."""

    AT = "at"


def _load(name: str) -> Query:
    text = resources.files("sinks.clickhouse").joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
    return Query(name, text.strip())


def paged(query: Query, sort: StrEnum, descending: bool, tie: str) -> Query:
    """Return the query for one page, by `sort` with `tie` as the last word; binds `limit` and `offset`.

    What has no value comes last in either direction.
    """
    direction = "DESC" if descending else "ASC"
    order = f"ORDER BY {sort.value} {direction} NULLS LAST, {tie}"
    return Query(query.name, f"{query.sql}\n{order}\nLIMIT {{limit:UInt32}} OFFSET {{offset:UInt32}}")


def counted(query: Query) -> Query:
    """Return the query that counts all rows of `query`, as `total`."""
    return Query(f"{query.name} count", f"SELECT count() AS total FROM\n(\n{query.sql}\n)")


LEDGER = _load("ledger")
OPEN_CALLS = _load("open_calls")
GLANCE = _load("glance")
FEEDS = _load("feeds")
COINS = _load("coins")
CALL = _load("call")
CALL_SETTLEMENTS = _load("call_settlements")
CALL_EVIDENCE = _load("call_evidence")
CALL_LEDGER = _load("call_ledger")
CALL_TOUCHES = _load("call_touches")
CANDLES = _load("candles")
COIN = _load("coin")
COIN_LEVELS = _load("coin_levels")
COIN_VOLATILITY = _load("coin_volatility")
BOARD = _load("board")
AGENT = _load("agent")
AGENT_STANDING = _load("agent_standing")
AGENT_REFUSALS = _load("agent_refusals")
RECORDS = _load("records")
RECORD = _load("record")
RECORD_SCORE = _load("record_score")
RECORD_CURVE = _load("record_curve")
PREDICTIONS = _load("predictions")
ALERTS = _load("alerts")
DEAD_LETTERS = _load("dead_letters")
VERSIONS = _load("versions")
SETTLEMENTS_BY_HOUR = _load("settlements_by_hour")
