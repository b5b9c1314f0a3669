"""An agent's Record: its calls, its Standing over time, and what was refused."""

import asyncio

from sinks.clickhouse.queries import (
    AGENT,
    AGENT_REFUSALS,
    AGENT_STANDING,
    BOARD,
    LEDGER,
    OPEN_CALLS,
    LedgerSort,
    counted,
    paged,
)
from sinks.clickhouse.reader import Reader
from sinks.dashboard.address import PAGE_ROWS, Address
from sinks.dashboard.charts import label, line
from sinks.dashboard.content import Content, Pager, View, render

SHOWN_OPEN = 8
SHOWN_REFUSALS = 20
SHOWN_STANDINGS = 2000


async def build(reader: Reader, subject: str, address: Address) -> Content:
    """Ask for the agent's counts, open and settled calls, Standing and refusals."""
    filters = {"kind": "", "agent": subject, "coin": "", "text": ""}
    sort = address.sort(LedgerSort, LedgerSort.SETTLED)
    counts, board, total, standings, refusals, open_calls = await asyncio.gather(
        reader.row(AGENT, agent=subject),
        reader.rows(BOARD),
        reader.row(counted(LEDGER), status="", **filters),
        reader.rows(AGENT_STANDING, agent=subject, limit=SHOWN_STANDINGS),
        reader.rows(AGENT_REFUSALS, agent=subject, limit=SHOWN_REFUSALS),
        reader.rows(paged(OPEN_CALLS, LedgerSort.DEADLINE, False, "call"), limit=SHOWN_OPEN, offset=0, **filters),
    )
    pager = Pager(address, total["total"] if total else 0)
    rows = await reader.rows(
        paged(LEDGER, sort, address.descending, "call"), status="", limit=PAGE_ROWS, offset=pager.offset, **filters
    )
    place = next((row for row in board if row["agent"] == subject), None)
    if counts is None or (place is None and not counts["calls"] and not refusals):
        return Content("Agent", "", render("missing.html", what="agent", subject=subject))
    chart = None
    if len(standings) > 1:
        chart = line("Standing", [label(row["at"]) for row in standings], [row["standing"] for row in standings])
    return Content(
        title="Record",
        filters="",
        above=render("agent_head.html", agent=subject, counts=counts, place=place),
        chart=chart,
        below=render(
            "agent.html", rows=rows, pager=pager, sort=sort, open_calls=open_calls, refusals=refusals, counts=counts
        ),
    )


AGENT_VIEW = View("/agent/{subject:path}", "", ("calls", "settlements", "standings", "receipts"), build, True)
