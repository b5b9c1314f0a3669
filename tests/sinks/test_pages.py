"""Tests of the pages in headless Chromium, against the embedded ClickHouse."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from clickhouse_connect.driver.client import Client
from playwright.sync_api import Browser, Page, expect

from sinks.clickhouse.connection import connect
from sinks.clickhouse.migrate import migrate
from tests.sinks.browser import ROW, chromium, dashboard, insert, open_page
from tests.sinks.bulk import fill
from tests.sinks.examples import HOUR_MS, T0, alert, call, messages, outcome, score, settlement, standing

pytestmark = [pytest.mark.embedded, pytest.mark.browser]

HOSTILE = (
    "<script>window.pwned=1</script><img src=x onerror='window.pwned=1'>[link](javascript:window.pwned=1) "
    "javascript:window.pwned=1 \"'><svg onload=window.pwned=1> {{ 7*7 }} `${window.pwned=1}` **bold** </style>"
)
SETTLEMENTS = 100_000
PAGES = ("/", "/board", "/arena", "/alerts", f"/call/{'c' * 64}", "/agent/alpha", "/arena/r1", "/coin/BTC")


def hostile_messages() -> dict[str, list[bytes]]:
    """Return every kind of message with agent text that tries to become markup."""
    texts = {"agent": HOSTILE, "operator": HOSTILE}
    return {
        "floor.calls": [
            call(claim=HOSTILE, invalidation=HOSTILE, terms={"kind": HOSTILE}, **texts).encode(),
            call(id="d" * 64, claim=HOSTILE, deadline=T0 + 90 * HOUR_MS, **texts).encode(),
        ],
        "floor.settlements": [settlement(claim=HOSTILE, reason=HOSTILE, terms={"kind": HOSTILE}, **texts).encode()],
        "floor.standings": [standing(**texts, settled=30, provisional=False).encode()],
        "alerts": [alert(text=HOSTILE, agent=HOSTILE, reason=HOSTILE, subject=HOSTILE).encode()],
        "arena.scores": [score(record=HOSTILE, owner=HOSTILE).encode()],
        "arena.settlements": [outcome(record=HOSTILE, owner=HOSTILE).encode()],
        "receipts": [
            messages()["receipts"][0].model_copy(update={"agent": HOSTILE, "detail": HOSTILE, "kind": HOSTILE}).encode()
        ],
        "dead-letters": [messages()["dead-letters"][0].model_copy(update={"detail": HOSTILE}).encode()],
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return one Chromium for the module."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def small(clickhouse_url: str) -> Client:
    """Return a database with one message of every kind and the hostile ones."""
    client = connect(clickhouse_url, "small")
    migrate(client)
    for topic, some in messages().items():
        insert(client, topic, [one.encode() for one in some])
    for topic, raw in hostile_messages().items():
        insert(client, topic, raw)
    return client


@pytest.fixture(scope="module")
def small_url(clickhouse_url: str, small: Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of pages over the small database."""
    with dashboard(clickhouse_url, "small", tmp_path_factory.mktemp("small") / "log") as url:
        yield url


@pytest.fixture(scope="module")
def large_url(clickhouse_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of pages over 100 000 settlements and some open calls."""
    client = connect(clickhouse_url, "large")
    migrate(client)
    fill(client, SETTLEMENTS + 2000, settled_percent=99)
    settled = client.command("SELECT count() FROM settlements")
    assert isinstance(settled, int)
    assert settled >= SETTLEMENTS
    with dashboard(clickhouse_url, "large", tmp_path_factory.mktemp("large") / "log") as url:
        yield url


@pytest.mark.parametrize(
    "path",
    [*PAGES, "/?status=open", f"/agent/{quote(HOSTILE, safe='')}", f"/arena/{quote(HOSTILE, safe='')}",
     f"/call/{'d' * 64}", f"/call/{quote(HOSTILE, safe='')}", f"/?agent={quote(HOSTILE)}&text={quote(HOSTILE)}",
     f"/coin/{quote(HOSTILE, safe='')}"],
    ids=lambda path: path[:24],
)  # fmt: skip
def test_hostile_text_is_shown_as_text(browser: Browser, small_url: str, path: str) -> None:
    page = open_page(browser, small_url + path)
    page.wait_for_function("!document.getElementById('first')")
    assert page.evaluate("window.pwned") is None
    assert page.locator("img, .page script, .page style, .page iframe, .page strong").count() == 0
    links = page.eval_on_selector_all("a", "all => all.map(a => a.protocol + '|' + a.host)")
    assert set(links) <= {f"http:|{small_url.removeprefix('http://')}"}
    handlers = page.eval_on_selector_all("*", "all => all.filter(e => e.onerror || e.onload).map(e => e.tagName)")
    assert set(handlers) <= {"BODY"}
    if path.startswith(("/agent/%", "/arena/%", "/call/d", "/call/%")) or path in ("/board", "/arena", "/alerts", "/"):
        assert "<script>window.pwned=1</script>" in page.inner_text("#app")
    page.context.close()


def test_hostile_text_is_escaped_in_the_first_content_too(small_url: str, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for path in ("/", "/alerts", "/board", "/arena"):
        page.goto(small_url + path)
        assert "<script>window.pwned=1</script>" in page.inner_text("#first")
        assert page.locator("#first img, #first script, #first svg[onload]").count() == 0
    context.close()


def test_the_first_row_of_100_000_is_there_within_a_second(browser: Browser, large_url: str) -> None:
    times = []
    for _ in range(3):
        context = browser.new_context()
        page = context.new_page()
        page.goto(large_url, wait_until="commit")
        page.wait_for_selector("table.rows tbody tr")
        times.append(page.evaluate("performance.now()"))
        context.close()
    assert min(times) < 1000, times


def first_claim(page: Page) -> str:
    """Return the claim of the first row."""
    return page.locator(f"{ROW} .claim").first.inner_text()


def test_pages_of_the_ledger_follow_each_other_and_the_address(browser: Browser, large_url: str) -> None:
    page = open_page(browser, large_url)
    expect(page.locator(ROW)).to_have_count(50)
    first = first_claim(page)
    page.locator("#app a[rel=next]").click()
    expect(page.locator("#app .pages")).to_contain_text("51–100 of")
    assert page.url.endswith("?page=2")
    second = first_claim(page)
    assert second != first
    page.reload()
    expect(page.locator("#app .pages")).to_contain_text("51–100 of")
    assert first_claim(page) == second
    page.go_back()
    expect(page.locator("#app .pages")).to_contain_text("1–50 of")
    assert first_claim(page) == first
    page.context.close()


def test_filters_stay_in_the_address_over_reload_back_and_forward(browser: Browser, large_url: str) -> None:
    page = open_page(browser, large_url)
    page.select_option("#app select[name=kind]", "range")
    expect(page.locator(f"{ROW} td:first-child").first).to_have_text("range")
    page.select_option("#app select[name=status]", "void")
    page.wait_for_url("**/?kind=range&status=void")
    expect(page.locator(f"{ROW} .status").first).to_have_text("void")
    page.fill("#app input[name=agent]", "agent-5")
    page.press("#app input[name=agent]", "Enter")
    page.wait_for_url("**/?kind=range&status=void&agent=agent-5")
    expect(page.locator(f"{ROW} .agent").first).to_have_text("agent-5")
    page.reload()
    expect(page.locator("#app select[name=kind]")).to_have_value("range")
    expect(page.locator("#app input[name=agent]")).to_have_value("agent-5")
    assert set(page.locator(f"{ROW} td:first-child").all_inner_texts()) == {"range"}
    page.go_back()
    expect(page.locator("#app input[name=agent]")).to_have_value("")
    expect(page.locator("#app select[name=status]")).to_have_value("void")
    page.go_forward()
    expect(page.locator("#app input[name=agent]")).to_have_value("agent-5")
    page.context.close()


def test_the_text_of_a_claim_can_be_searched(browser: Browser, large_url: str) -> None:
    page = open_page(browser, f"{large_url}/?text=NUMBER+77777")
    expect(page.locator(ROW)).to_have_count(1)
    expect(page.locator(f"{ROW} .claim")).to_contain_text("claim number 77777")
    page.context.close()


def test_sorting_is_done_by_the_server_and_turns_round(browser: Browser, large_url: str) -> None:
    page = open_page(browser, large_url)
    page.locator("#app th a", has_text="score").click()
    expect(page.locator("#app th[aria-sort=descending]")).to_contain_text("score")
    best = page.locator(f"{ROW} [data-label=score]").first.inner_text()
    page.locator("#app th a", has_text="score").click()
    expect(page.locator("#app th[aria-sort=ascending]")).to_contain_text("score")
    worst = page.locator(f"{ROW} [data-label=score]").first.inner_text()
    assert best.startswith("+")
    assert worst.startswith("−")
    page.context.close()


@pytest.mark.parametrize("address", ["page=99999999", "page=-1&sort=nothing&dir=up", "kind=%27%3B+DROP", "page=90000"])
def test_an_address_that_makes_no_sense_shows_the_ledger_anyway(browser: Browser, large_url: str, address: str) -> None:
    page = open_page(browser, f"{large_url}/?{address}")
    expect(page.locator(ROW).first).to_be_visible()
    page.context.close()


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_shows_every_page_without_scrolling_sideways(browser: Browser, small_url: str, path: str) -> None:
    page = open_page(browser, small_url + path, width=375)
    page.wait_for_function("!document.getElementById('first')")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    widest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('#app .page *')].map(e => e.getBoundingClientRect().right))"
    )
    assert widest <= 376
    page.context.close()


def test_dark_follows_the_system_and_the_toggle_is_remembered(browser: Browser, small_url: str) -> None:
    def is_dark(page: Page) -> bool:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return int(re.findall(r"\d+", colour)[0]) < 128

    page = open_page(browser, small_url, scheme="dark")
    assert is_dark(page)
    page.locator("#app [data-theme-toggle]").click()
    assert not is_dark(page)
    page.reload()
    assert not is_dark(page)
    page.context.close()
    page = open_page(browser, small_url)
    assert not is_dark(page)
    page.context.close()


def test_a_new_settlement_appears_without_a_reload(browser: Browser, small_url: str, small: Client) -> None:
    page = open_page(browser, small_url)
    later = settlement(
        id="new/1", call="new", claim="BTC closes above 1 just now", settled_at=T0 + 50 * HOUR_MS, status="miss"
    )
    assert "just now" not in page.inner_text("#app")
    page.fill("#app input[name=text]", "half-typed")
    insert(small, "floor.settlements", [later.encode()])
    expect(page.locator(f"{ROW} .claim").first).to_contain_text("just now", timeout=15_000)
    assert page.input_value("#app input[name=text]") == "half-typed"
    page.context.close()


def test_nothing_is_loaded_from_another_host(browser: Browser, small_url: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{small_url}/coin/BTC")
    page.wait_for_selector("#app .chart canvas")
    hosts = {url.split("/")[2] for url in asked if not url.startswith(("data:", "blob:"))}
    assert hosts == {small_url.removeprefix("http://")}
    context.close()


def test_the_pages_say_when_clickhouse_is_away_and_come_back_by_themselves(
    browser: Browser, clickhouse_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with dashboard(clickhouse_url, "later", tmp_path_factory.mktemp("later") / "log") as url:
        page = open_page(browser, url)
        expect(page.locator("#app [role=alert]")).to_contain_text("ClickHouse is not answering")
        migrate(connect(clickhouse_url, "later"))
        expect(page.locator("#app .empty")).to_contain_text("No call has been settled yet", timeout=15_000)
        page.context.close()


def test_open_calls_begin_with_the_next_deadline(browser: Browser, large_url: str) -> None:
    page = open_page(browser, f"{large_url}/?status=open")
    due = page.locator(f"{ROW} [data-label=settled]").all_inner_texts()
    assert len(due) == 50
    assert due == sorted(due)
    page.context.close()
