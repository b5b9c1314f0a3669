"""One call in full: its terms, its market, how it was settled and how to check that."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from sinks.clickhouse.queries import CALL, CALL_EVIDENCE, CALL_LEDGER, CALL_SETTLEMENTS, CALL_TOUCHES, CANDLES
from sinks.clickhouse.reader import Reader
from sinks.dashboard.address import Address
from sinks.dashboard.charts import candlesticks
from sinks.dashboard.content import Content, View, render

FINE_WINDOW = timedelta(days=3)
"""Windows up to this long are drawn in 5-minute candles, longer ones in hourly ones."""
MARGIN = timedelta(hours=2)


def to_ms(moment: datetime) -> int:
    """Return the unix ms of a naive UTC time."""
    return int(moment.replace(tzinfo=UTC).timestamp() * 1000)


def levels_of(terms: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the named levels of a call's terms that are numbers."""
    names = ("level", "low", "high")
    return [{"name": name, "level": terms[name]} for name in names if isinstance(terms.get(name), int | float)]


async def build(reader: Reader, subject: str, _address: Address) -> Content:
    """Ask for the call, its attempts, evidence, ledger entries and candles."""
    call, attempts = await asyncio.gather(reader.row(CALL, call=subject), reader.rows(CALL_SETTLEMENTS, call=subject))
    if call is None:
        return Content("Call", "", render("missing.html", what="call", subject=subject))
    terms = json.loads(call["terms"])
    start, end = call["posted_at"] - MARGIN, call["deadline"] + MARGIN
    hashes = sorted({one["sha256"] for attempt in attempts for one in attempt["fetched"]})
    candles, stored, entries, touches = await asyncio.gather(
        reader.rows(
            CANDLES, coin=call["coin"], interval="5m" if end - start <= FINE_WINDOW else "1h",
            venue=call["source"].split(":")[0], from_ms=to_ms(start), to_ms=to_ms(end),
        ),
        reader.rows(CALL_EVIDENCE, hashes=hashes),
        reader.rows(CALL_LEDGER, call=subject),
        reader.rows(CALL_TOUCHES, call=subject),
    )  # fmt: skip
    moments = {"posted": call["posted_at"], "deadline": call["deadline"]}
    return Content(
        title="Call",
        filters="",
        above=render("call_head.html", call=call, terms=terms, attempts=attempts),
        chart=candlesticks(candles, levels_of(terms), [], moments) if candles else None,
        below=render(
            "call.html", call=call, attempts=attempts, stored={one["sha256"]: one for one in stored}, entries=entries,
            touches=touches, candles=len(candles),
        ),
    )  # fmt: skip


CALL_VIEW = View(
    "/call/{subject:path}", "", ("calls", "settlements", "evidence", "ledger", "touches", "candles"), build, True
)
