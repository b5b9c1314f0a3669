"""The Arena: records with their curves and scores, and one record's predictions."""

import asyncio

from sinks.clickhouse.queries import (
    PREDICTIONS,
    RECORD,
    RECORD_CURVE,
    RECORD_SCORE,
    RECORDS,
    PredictionSort,
    counted,
    paged,
)
from sinks.clickhouse.reader import Reader
from sinks.dashboard.address import PAGE_ROWS, Address
from sinks.dashboard.charts import line
from sinks.dashboard.content import Content, Pager, View, render

STATUSES = ("revealed", "withheld", "unscorable", "pending")


async def build_records(reader: Reader, _subject: str, _address: Address) -> Content:
    """Ask for every record with its latest score."""
    return Content("Arena", "", "", below=render("records.html", rows=await reader.rows(RECORDS)))


async def build_record(reader: Reader, subject: str, address: Address) -> Content:
    """Ask for one record's score, curve and a page of its predictions."""
    status = address.choice("status", STATUSES)
    sort = address.sort(PredictionSort, PredictionSort.LOCKED)
    record, score, curve, total = await asyncio.gather(
        reader.row(RECORD, record=subject),
        reader.row(RECORD_SCORE, record=subject),
        reader.rows(RECORD_CURVE, record=subject),
        reader.row(counted(PREDICTIONS), record=subject, status=status),
    )
    if record is None and score is None and not (total and total["total"]):
        return Content("Record", "", render("missing.html", what="record", subject=subject))
    pager = Pager(address, total["total"] if total else 0)
    rows = await reader.rows(
        paged(PREDICTIONS, sort, address.descending, "id"),
        record=subject, status=status, limit=PAGE_ROWS, offset=pager.offset,
    )  # fmt: skip
    chart = None
    if len(curve) > 1:
        values = [100 * row["total_return"] for row in curve]
        chart = line("return", [row["at"].strftime("%Y-%m-%d") for row in curve], values, " %")
    return Content(
        title="Arena record",
        filters="",
        above=render("record_head.html", subject=subject, record=record, score=score),
        chart=chart,
        below=render("record.html", rows=rows, pager=pager, sort=sort, status=status, statuses=STATUSES, score=score),
    )


ARENA_VIEW = View("/arena", "Arena", ("records", "scores"), build_records)
RECORD_VIEW = View("/arena/{subject:path}", "", ("records", "scores", "outcomes"), build_record, True)
