"""A dashboard process and a headless Chromium for the tests of pages."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from clickhouse_connect.driver.client import Client
from playwright.sync_api import Browser, Page, sync_playwright

from sinks.clickhouse.rows import COLUMNS, rows_of

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
READY_WITHIN_S = 30.0
ROW = "#app table.rows tbody tr"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run headless Chromium as installed by the system."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def dashboard(clickhouse_url: str, database: str, log: Path) -> Iterator[str]:
    """Run the pages in a process of their own and yield their address once they answer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = f"from sinks.dashboard.app import run; run({clickhouse_url!r}, port={port}, database={database!r})"
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, "-c", code], stdout=output, stderr=output)
    try:
        url, end = f"http://127.0.0.1:{port}", time.monotonic() + READY_WITHIN_S
        while not _answers(url):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, f"no page after {READY_WITHIN_S} s: {log.read_text()}"
            time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def _answers(url: str) -> bool:
    try:
        with urlopen(f"{url}/alerts") as answer:
            return bool(answer.status == 200)
    except (URLError, ConnectionError):
        return False


def insert(client: Client, topic: str, messages: Iterable[bytes]) -> None:
    """Write messages as the sink does, without an event loop: the browser's driver has one running."""
    for message in messages:
        for row in rows_of(topic, message):
            client.insert(row.table, [row.values], column_names=COLUMNS[row.table])


def open_page(browser: Browser, url: str, width: int = 1280, scheme: str = "light") -> Page:
    """Open an address in a fresh profile and wait until the live page stands."""
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("#app .page h1")
    return page
