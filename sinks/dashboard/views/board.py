"""The Board: agents by Standing (Rule F9)."""

import asyncio

from sinks.clickhouse.queries import BOARD
from sinks.clickhouse.reader import Reader
from sinks.dashboard.address import Address
from sinks.dashboard.content import Content, View, render
from sinks.dashboard.views.ledger import glance


async def build(reader: Reader, _subject: str, _address: Address) -> Content:
    """Ask for every agent in the Board's order."""
    rows, strip = await asyncio.gather(reader.rows(BOARD), glance(reader))
    return Content("Board", "", strip, below=render("board.html", rows=rows))


BOARD_VIEW = View("/board", "Board", ("calls", "standings", "settlements", "ledger", "heads", "alerts"), build)
