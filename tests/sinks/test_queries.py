"""Tests of what the pages' queries answer, against the embedded ClickHouse."""

from datetime import UTC
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from sinks.clickhouse import queries
from sinks.clickhouse.connection import connect
from sinks.clickhouse.migrate import migrate
from sinks.clickhouse.queries import LedgerSort, Query, counted, paged
from sinks.clickhouse.reader import Reader
from sinks.errors import SinkError
from tests.sinks.browser import insert
from tests.sinks.examples import HOUR_MS, T0, alert, call, candle, score, settlement, standing
from topics.floor import Settlement

pytestmark = pytest.mark.embedded

DAY_MS = 24 * HOUR_MS
ANY = {"kind": "", "agent": "", "coin": "", "text": ""}


def ask(client: Client, query: Query, **parameters: Any) -> list[dict[str, Any]]:
    """Return a query's rows by column name."""
    return list(client.query(query.sql, parameters=parameters).named_results())


def settlements(client: Client, *some: Settlement) -> None:
    """Insert settlements."""
    insert(client, "floor.settlements", [one.encode() for one in some])


def test_the_board_is_ordered_by_standing_then_brier_then_settled_then_agent(client: Client) -> None:
    ranked = {"settled": 20, "provisional": False, "brier": 0.2, "standing": 10.0}
    some = [
        standing(agent="d-few", **ranked),
        standing(agent="c-many", **(ranked | {"settled": 30})),
        standing(agent="e-same", **ranked),
        standing(agent="b-sharp", **(ranked | {"brier": 0.1})),
        standing(agent="a-low", **(ranked | {"standing": 9.999999})),
        standing(agent="z-first", **(ranked | {"standing": 11.0})),
        standing(agent="0-new", standing=99.0, settled=19),
        standing(agent="f-noise", **(ranked | {"standing": 10.0000000001})),
    ]
    insert(client, "floor.standings", [one.encode() for one in some])
    rows = ask(client, queries.BOARD)
    agents = [row["agent"] for row in rows]
    assert agents == ["z-first", "b-sharp", "c-many", "d-few", "e-same", "f-noise", "a-low", "0-new"]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5, 6, 7, None]


def test_the_board_compares_standings_at_one_time(client: Client) -> None:
    old = standing(agent="old", standing=100.0, settled=20, provisional=False)
    new = standing(agent="new", standing=60.0, settled=20, provisional=False, at=T0 + 30 * DAY_MS)
    insert(client, "floor.standings", [old.encode(), new.encode()])
    rows = ask(client, queries.BOARD)
    assert [(row["agent"], row["standing"]) for row in rows] == [("new", 60.0), ("old", 50.0)]


def test_an_agent_with_nothing_settled_is_on_the_board_without_a_rank(client: Client) -> None:
    insert(client, "floor.calls", [call(agent="fresh").encode()])
    (row,) = ask(client, queries.BOARD)
    assert (row["agent"], row["rank"], row["provisional"], row["settled"]) == ("fresh", None, True, 0)


def test_the_glance_counts_each_call_once(client: Client) -> None:
    insert(client, "floor.calls", [call(id=name).encode() for name in "abcd"])
    settlements(
        client,
        settlement(id="a/1", call="a"),
        settlement(id="a/2", call="a", attempt=2, status="void", reason="tie"),
        settlement(id="b/1", call="b", state="final"),
        settlement(id="b/1", call="b"),
    )
    insert(client, "alerts", [alert(kind="dispute", subject="a", id=name).encode() for name in "xy"])
    (row,) = ask(client, queries.GLANCE)
    assert (row["open"], row["settled"], row["void"], row["disputed"]) == (2, 1, 1, 1)


def test_a_feed_is_stale_against_the_newest_known_time_not_the_clock(client: Client) -> None:
    fresh = candle(open_time=T0 + 3 * HOUR_MS)
    insert(client, "market.candles", [fresh.encode(), candle(coin="ETH").encode()])
    rows = ask(client, queries.FEEDS, stale_s=600)
    assert [(row["coin"], row["age_s"], bool(row["stale"])) for row in rows] == [
        ("ETH", 10_800, True),
        ("BTC", 0, False),
    ]


def test_the_ledger_filters_sorts_and_pages_on_the_server(client: Client) -> None:
    settlements(
        client,
        *(
            settlement(id=f"{n}/1", call=str(n), agent=f"agent-{n % 2}", score=float(n) if n else None,
                       status="hit" if n else "void")
            for n in range(5)
        ),
    )  # fmt: skip
    query = paged(queries.LEDGER, LedgerSort.SCORE, False, "call")
    rows = ask(client, query, **ANY, status="", limit=3, offset=2)
    assert [row["call"] for row in rows] == ["3", "4", "0"]
    odd = ANY | {"agent": "agent-1"}
    assert ask(client, counted(queries.LEDGER), **odd, status="hit") == [{"total": 2}]


def test_a_filter_is_a_value_and_never_sql(client: Client) -> None:
    settlements(client, settlement())
    hostile = ANY | {"text": "' OR 1=1 --", "agent": "'; DROP TABLE settlements; --"}
    assert ask(client, counted(queries.LEDGER), **hostile, status="") == [{"total": 0}]
    assert ask(client, counted(queries.LEDGER), **ANY, status="") == [{"total": 1}]


def test_open_levels_are_those_of_calls_without_a_settlement(client: Client) -> None:
    bounds = {"kind": "range", "low": 90, "high": 110.5}
    insert(client, "floor.calls", [call(id="a").encode(), call(id="b", kind="range", terms=bounds).encode()])
    settlements(client, settlement(id="a/1", call="a"))
    (row,) = ask(client, queries.COIN_LEVELS, coin="BTC", limit=9)
    assert (row["call"], row["level"], row["low"], row["high"]) == ("b", None, 90.0, 110.5)


async def test_the_version_moves_with_every_insert_and_with_nothing_else(
    clickhouse_url: str, database: str, client: Client
) -> None:
    reader = Reader(clickhouse_url, database)
    insert(client, "alerts", [alert().encode()])
    before = await reader.version("alerts", "heads")
    client.command("OPTIMIZE TABLE alerts FINAL")
    assert await reader.version("alerts", "heads") == before
    insert(client, "alerts", [alert(id="other").encode()])
    assert await reader.version("alerts", "heads") != before
    await reader.close()


async def test_a_reader_of_a_missing_database_says_so_and_works_once_it_is_there(
    clickhouse_url: str, database: str
) -> None:
    reader = Reader(clickhouse_url, database)
    with pytest.raises(SinkError):
        await reader.rows(queries.COINS)
    client = connect(clickhouse_url, database)
    migrate(client)
    assert await reader.rows(queries.COINS) == []
    client.command(f"DROP DATABASE {database}")
    client.close()
    await reader.close()


def test_the_fetch_shown_is_that_of_the_venue_the_call_is_pinned_to(client: Client) -> None:
    (pinned,) = settlement().fetched
    second = pinned.model_copy(update={"venue": "bybit", "at": T0})
    settlements(client, settlement(fetched=(second, pinned)), settlement(id="x/1", call="x", fetched=(second,)))
    rows = ask(client, paged(queries.LEDGER, LedgerSort.AGENT, False, "call"), **ANY, status="", limit=9, offset=0)
    times = [row["fetched_at"] and int(row["fetched_at"].replace(tzinfo=UTC).timestamp() * 1000) for row in rows]
    assert [(row["fetched_venue"], row["answers"]) for row in rows] == [("hyperliquid", 2), ("hyperliquid", 1)]
    assert times == [pinned.at, None]


def test_a_record_curve_is_a_return_that_starts_at_nothing(client: Client) -> None:
    insert(client, "arena.scores", [score().encode()])
    values = [row["total_return"] for row in ask(client, queries.RECORD_CURVE, record="r1")]
    assert values == pytest.approx([0.01, 0.021])
    (record,) = ask(client, queries.RECORDS)
    assert record["curve"] == pytest.approx([0.01, 0.021])
