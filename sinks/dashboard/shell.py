"""What every page has in common: the frame, following the address, and refreshing when ClickHouse has news."""

import asyncio
from importlib import resources
from urllib.parse import urlsplit

from fastapi import Request
from nicegui import ui
from nicegui.events import GenericEventArguments

from sinks.clickhouse.reader import Reader
from sinks.dashboard.address import Address
from sinks.dashboard.content import Content, View, render
from sinks.errors import SinkError

REFRESH_S = 2.0

NAVIGATION = (("/", "Ledger"), ("/board", "Board"), ("/arena", "Arena"), ("/coin/", "Coins"), ("/alerts", "Alerts"))


def _asset(name: str) -> str:
    return resources.files("sinks.dashboard").joinpath(name).read_text(encoding="utf-8")


def _server_of(url: str) -> str:
    """Return host and port of an address: a page never shows a password."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or 8123}"


class Page:
    """One visitor's page: its parts on the screen, and the state of the tables when they were drawn."""

    def __init__(self, view: View, reader: Reader, subject: str, address: Address) -> None:
        """Prepare the page; `draw` fills it."""
        self._view = view
        self._reader = reader
        self._subject = subject
        self._address = address
        self._version: object = None
        self._busy = asyncio.Lock()

    async def build(self) -> None:
        """Create the page's elements with their first content."""
        content = await self._content()
        ui.page_title(f"{content.title} · referee")
        top = render("top.html", navigation=NAVIGATION, here=self._view.name)
        # Readable before any script has run; the script of the page takes it away when the live page stands.
        ui.add_body_html(render("first.html", top=top, heading=self._heading(content), content=content))
        ui.html(top, tag="header").classes("top")
        with ui.element("div").classes("page"):
            self._filters = ui.html(self._heading(content)).classes("heading")
            self._above = ui.html(content.above)
            self._chart = ui.echart(content.chart or {}).classes("chart") if self._view.has_chart else None
            self._below = ui.html(content.below)
        if self._chart is not None:
            self._chart.set_visibility(content.chart is not None)
        ui.on("address", self._go)
        ui.timer(REFRESH_S, self._refresh, immediate=False)

    def _heading(self, content: Content) -> str:
        return render("heading.html", title=content.title, filters=content.filters)

    async def _content(self) -> Content:
        try:
            self._version = await self._reader.version(*self._view.tables)
            return await self._view.build(self._reader, self._subject, self._address)
        except SinkError as error:
            self._version = error.__class__
            return Content(
                self._view.name or "referee", "",
                render("away.html", server=_server_of(self._reader.url), database=self._reader.database),
            )  # fmt: skip

    async def _draw(self, with_filters: bool) -> None:
        content = await self._content()
        if with_filters:
            self._filters.set_content(self._heading(content))
        self._above.set_content(content.above)
        self._below.set_content(content.below)
        if self._chart is not None:
            self._chart.set_visibility(content.chart is not None)
            if content.chart is not None and content.chart != self._chart.options:
                self._chart.options.clear()
                self._chart.options.update(content.chart)
                self._chart.update()

    async def _go(self, event: GenericEventArguments) -> None:
        """Follow the address that the browser shows now: a filter, a sorting, another page, back or forward."""
        self._address = Address.parse(str(event.args))
        async with self._busy:
            await self._draw(with_filters=True)

    async def _refresh(self) -> None:
        """Draw anew when a table has got rows, or when ClickHouse went away or came back."""
        if self._busy.locked():
            return
        async with self._busy:
            try:
                version: object = await self._reader.version(*self._view.tables)
            except SinkError as error:
                version = error.__class__
            if version != self._version:
                was_away = isinstance(self._version, type)
                await self._draw(with_filters=was_away or isinstance(version, type))


def register(view: View, reader: Reader) -> None:
    """Serve a view at its path."""
    style, script = _asset("page.css"), _asset("page.js")

    @ui.page(view.path, response_timeout=30)
    async def page(request: Request, subject: str = "") -> None:
        ui.add_head_html(f"<style>{style}</style><script>{script}</script>")
        await Page(view, reader, subject, Address.parse(request.url.query)).build()
