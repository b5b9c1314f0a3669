"""The settlement ledger: how every call ended, and what is still open."""

import asyncio

from sinks.clickhouse.queries import COINS, FEEDS, GLANCE, LEDGER, OPEN_CALLS, LedgerSort, counted, paged
from sinks.clickhouse.reader import Reader
from sinks.dashboard.address import PAGE_ROWS, Address
from sinks.dashboard.content import Content, Pager, View, render

KINDS = ("touch", "close", "range", "metric", "relative")
STATUSES = ("hit", "miss", "void", "open")
STALE_S = 600
"""A feed is stale when its newest closed candle is two intervals old."""


async def glance(reader: Reader) -> str:
    """Return the strip at the top of overviews: calls, ledger, feeds."""
    counts, feeds = await asyncio.gather(reader.row(GLANCE), reader.rows(FEEDS, stale_s=STALE_S))
    return render("glance.html", glance=counts, feeds=feeds, stale=[feed for feed in feeds if feed["stale"]])


async def build(reader: Reader, _subject: str, address: Address) -> Content:
    """Ask for one page of the ledger under the address's filters."""
    status = address.choice("status", STATUSES)
    query = OPEN_CALLS if status == "open" else LEDGER
    filters = {
        "kind": address.choice("kind", KINDS),
        "agent": address.text("agent"),
        "coin": address.text("coin"),
        "text": address.text("text"),
    }
    bound = filters | ({} if status == "open" else {"status": status})
    sort = address.sort(LedgerSort, LedgerSort.DEADLINE if status == "open" else LedgerSort.SETTLED)
    # The next deadline matters most of what is open, the latest settlement of what has ended.
    descending = address.descending and (status != "open" or "sort" in address.values)

    async def page_of(pager: Pager) -> list[dict[str, object]]:
        page = paged(query, sort, descending, "call")
        return await reader.rows(page, limit=PAGE_ROWS, offset=pager.offset, **bound)

    asked = Pager(address, address.page * PAGE_ROWS)
    total, strip, coins, rows = await asyncio.gather(
        reader.row(counted(query), **bound), glance(reader), reader.rows(COINS), page_of(asked)
    )
    pager = Pager(address, total["total"] if total else 0)
    if pager.page != asked.page:
        rows = await page_of(pager)
    shown = filters | {"status": status}
    return Content(
        title="Settlement ledger",
        filters=render(
            "ledger_filters.html", filters=shown, kinds=KINDS, statuses=STATUSES, coins=[row["coin"] for row in coins]
        ),
        above=strip,
        below=render("ledger.html", rows=rows, pager=pager, sort=sort, filtered=any(shown.values())),
    )


LEDGER_VIEW = View("/", "Ledger", ("calls", "settlements", "ledger", "heads", "candles", "alerts", "standings"), build)
