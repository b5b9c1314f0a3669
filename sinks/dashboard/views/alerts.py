"""Alerts: every void, and every record that could not be processed."""

import asyncio

from sinks.clickhouse.queries import ALERTS, DEAD_LETTERS, NewestSort, counted, paged
from sinks.clickhouse.reader import Reader
from sinks.dashboard.address import PAGE_ROWS, Address
from sinks.dashboard.content import Content, Pager, View, render

SEVERITIES = ("critical", "warning", "info")
KINDS = ("void", "dispute", "overturn", "stale_feed", "dead_letter")
SHOWN_LETTERS = 50


async def build(reader: Reader, _subject: str, address: Address) -> Content:
    """Ask for a page of alerts and the newest dead letters."""
    filters = {"severity": address.choice("severity", SEVERITIES), "kind": address.choice("kind", KINDS)}
    total, letters_total, letters = await asyncio.gather(
        reader.row(counted(ALERTS), **filters),
        reader.row(counted(DEAD_LETTERS)),
        reader.rows(paged(DEAD_LETTERS, NewestSort.AT, True, "id"), limit=SHOWN_LETTERS, offset=0),
    )
    pager = Pager(address, total["total"] if total else 0)
    rows = await reader.rows(paged(ALERTS, NewestSort.AT, True, "id"), limit=PAGE_ROWS, offset=pager.offset, **filters)
    return Content(
        title="Alerts",
        filters=render("alerts_filters.html", filters=filters, severities=SEVERITIES, kinds=KINDS),
        above="",
        below=render(
            "alerts.html", rows=rows, pager=pager, letters=letters, letters_total=letters_total,
            filtered=any(filters.values()),
        ),
    )  # fmt: skip


ALERTS_VIEW = View("/alerts", "Alerts", ("alerts", "dead_letters"), build)
