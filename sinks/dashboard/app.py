"""The pages' server: every view at its path, on loopback unless told otherwise."""

import uvicorn
from fastapi import FastAPI
from nicegui import app, ui

from sinks.clickhouse.connection import DEFAULT_DATABASE
from sinks.clickhouse.reader import Reader
from sinks.dashboard.content import View
from sinks.dashboard.shell import register
from sinks.dashboard.views.agent import AGENT_VIEW
from sinks.dashboard.views.alerts import ALERTS_VIEW
from sinks.dashboard.views.arena import ARENA_VIEW, RECORD_VIEW
from sinks.dashboard.views.board import BOARD_VIEW
from sinks.dashboard.views.call import CALL_VIEW
from sinks.dashboard.views.coin import COIN_VIEW
from sinks.dashboard.views.ledger import LEDGER_VIEW

VIEWS: tuple[View, ...] = (
    LEDGER_VIEW, BOARD_VIEW, ARENA_VIEW, COIN_VIEW, ALERTS_VIEW, CALL_VIEW, AGENT_VIEW, RECORD_VIEW,
)  # fmt: skip


SHUTDOWN_S = 2
"""Open pages hold a socket each; they are not waited for longer than this."""


def run(clickhouse_url: str, host: str = "127.0.0.1", port: int = 8080, database: str = DEFAULT_DATABASE) -> None:
    """Serve the pages until the process is told to stop; ClickHouse may come later and go in between."""
    reader = Reader(clickhouse_url, database)
    for view in VIEWS:
        register(view, reader)
    app.on_shutdown(reader.close)
    server = FastAPI(openapi_url=None)
    ui.run_with(
        server,
        title="referee",
        favicon="⚖️",
        dark=None,
        language="en-US",
        tailwind=False,
        show_welcome_message=False,
    )
    uvicorn.run(server, host=host, port=port, log_level="warning", timeout_graceful_shutdown=SHUTDOWN_S)
