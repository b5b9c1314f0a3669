"""Tests of what pages make of addresses, numbers and candles, without a server."""

from datetime import datetime, timedelta
from math import inf, nan

import pytest

from sinks.clickhouse.queries import LedgerSort
from sinks.dashboard.address import MAX_PAGE, MAX_TEXT, PAGE_ROWS, Address, path_to
from sinks.dashboard.charts import candlesticks, line
from sinks.dashboard.content import Pager, brief, number, price, render, span, spark, when

NOON = datetime.fromisoformat("2025-06-08T12:00:00")


def candle(**changes: object) -> dict[str, object]:
    """Return a candle as a page reads it."""
    return {"open_time": NOON, "open": 100.0, "high": 101.0, "low": 99.0, "close": 100.5, "volume": 1.0} | changes


@pytest.mark.parametrize("query", ["", "?", "page=x", "page=0", "page=-3", "page=1e9", "page=٣", "&&==&", "a" * 5000])
def test_a_senseless_address_is_the_first_page(query: str) -> None:
    assert Address.parse(query).page == 1


def test_what_an_address_says_is_bounded() -> None:
    address = Address.parse(f"page=999999&text={'x' * 900}&sort=claim;DROP&dir=asc&kind=nothing")
    assert address.page == MAX_PAGE
    assert len(address.text("text")) == MAX_TEXT
    assert address.sort(LedgerSort, LedgerSort.SETTLED) is LedgerSort.SETTLED
    assert address.choice("kind", ("touch",)) == ""
    assert not address.descending


def test_a_link_keeps_the_filters_and_drops_what_is_empty() -> None:
    address = Address.parse("?kind=touch&page=3&text=a%26b")
    assert address.link(page="") == "?kind=touch&text=a%26b"
    assert address.link(page=4) == "?kind=touch&page=4&text=a%26b"


def test_a_path_escapes_every_character_that_a_name_may_have() -> None:
    assert path_to("agent", 'a/b?c#d"<') == "/agent/a%2Fb%3Fc%23d%22%3C"


@pytest.mark.parametrize(("total", "page", "offset"), [(0, 1, 0), (1, 1, 0), (PAGE_ROWS + 1, 2, PAGE_ROWS)])
def test_a_page_past_the_end_is_the_last_one(total: int, page: int, offset: int) -> None:
    pager = Pager(Address.parse("page=9"), total)
    assert (pager.page, pager.offset) == (page, offset)


def test_numbers_are_set_with_a_true_minus_and_nothing_is_a_dash() -> None:
    assert number(-1234.5, 1, signed=True) == "−1,234.5"
    assert number(2.0, signed=True) == "+2.00"
    assert number(None) == price(None) == when(None) == span(None) == "—"
    assert (number(inf), number(-inf), number(nan)) == ("∞", "−∞", "not a number")
    assert (price(0.000012345678), price(105_800.129)) == ("1.23457e−05", "105,800.13")


def test_times_have_their_date_and_are_utc() -> None:
    assert when(NOON) == "2025-06-08 12:00"
    assert when(1_749_340_801) == "2025-06-08 00:00"
    assert when(1_749_340_801, seconds=True) == "2025-06-08 00:00:01"


def test_only_addresses_and_hashes_are_shortened() -> None:
    assert brief("0x" + "ab" * 20) == "0xababab…ababab"
    assert brief("0x" + "ab" * 20 + "/17") == "0xababab…ababab/17"
    assert brief("an agent with a very long name indeed") == "an agent with a very long name indeed"


def test_a_small_chart_needs_two_finite_values() -> None:
    assert spark([1.0, nan]) == ""
    assert len(spark([0.0, inf, 1.0]).split()) == 2


def test_a_template_escapes_what_it_is_given() -> None:
    assert "<b>" not in render("missing.html", what="call", subject="<b>x</b>")


def test_a_picture_of_a_call_reaches_its_levels_even_over_one_candle() -> None:
    moments = {"posted": NOON + timedelta(minutes=2), "deadline": NOON - timedelta(hours=1)}
    chart = candlesticks([candle()], [{"name": "level", "level": 120.0}], [], moments)
    assert chart["yAxis"][0]["max"] > 120.0
    assert chart["yAxis"][0]["min"] < 99.0
    marks = chart["series"][0]["markLine"]["data"]
    assert [mark["name"] for mark in marks] == ["level", "posted"]
    assert candlesticks([candle()], [], [], moments)["yAxis"][0]["max"] > 101.0


def test_sigma_has_a_picture_only_when_it_is_known() -> None:
    assert len(candlesticks([candle()], [], [{"at": NOON, "sigma": None}])["grid"]) == 1
    chart = candlesticks([candle()], [], [{"at": NOON, "sigma": 0.005}])
    assert chart["series"][1]["data"] == [0.5]


def test_a_line_leaves_out_what_is_not_a_number() -> None:
    assert line("x", ["a", "b"], [1.0, nan])["series"][0]["data"] == [1.0, None]
