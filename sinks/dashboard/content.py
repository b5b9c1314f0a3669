"""What a page consists of, and the templates that make text of it: everything is escaped unless a template says so."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from sinks.clickhouse.reader import Reader
from sinks.dashboard.address import PAGE_ROWS, Address, path_to

_HEX = re.compile(r"((?:0x)?[0-9a-fA-F]{20,})((?:/\d{1,6})?)")


@dataclass(frozen=True, slots=True)
class Content:
    """A page's parts in their order; `filters` stay as they are while the rest is refreshed."""

    title: str
    filters: str
    above: str
    chart: dict[str, Any] | None = None
    below: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A kind of page: where it is, which tables it shows, and how its content is made.

    `build` gets the subject of the path (an agent, a coin, …) and raises `SinkError` when ClickHouse cannot answer.
    """

    path: str
    name: str
    tables: tuple[str, ...]
    build: Callable[[Reader, str, Address], Awaitable[Content]]
    has_chart: bool = False


def when(value: datetime | int | float | None, seconds: bool = False) -> str:
    """Return a UTC time with its date, to the minute or second; numbers are unix seconds."""
    if value is None:
        return "—"
    moment = datetime.fromtimestamp(value, UTC) if isinstance(value, int | float) else value
    return moment.strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")


def number(value: float | None, digits: int = 2, signed: bool = False) -> str:
    """Return a number with a fixed count of decimals and a true minus."""
    if value is None:
        return "—"
    if not isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "not a number"
    text = f"{value:{'+' if signed else ''},.{digits}f}"
    return text.replace("-", "−")


def price(value: float | None) -> str:
    """Return a price with the digits it needs: six significant ones or two decimals."""
    if value is None:
        return "—"
    if not isfinite(value):
        return number(value)
    if abs(value) >= 1000:
        return f"{value:,.2f}".replace("-", "−")
    return f"{value:.6g}".replace("-", "−")


def percent(value: float | None, digits: int = 2, signed: bool = False) -> str:
    """Return a fraction in per cent."""
    return "—" if value is None else f"{number(100 * value, digits, signed)} %"


def span(seconds: float | None) -> str:
    """Return a duration in its two largest units."""
    if seconds is None:
        return "—"
    minutes = int(seconds) // 60
    days, hours, rest = minutes // 1440, minutes // 60 % 24, minutes % 60
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {rest} min" if hours else f"{rest} min"


def brief(text: str) -> str:
    """Return an address or hash by its ends, a record's number with it, and any other text as it is."""
    found = _HEX.fullmatch(text)
    return f"{text[:8]}…{found[1][-6:]}{found[2]}" if found else text


def spark(values: list[float], width: int = 120, height: int = 28) -> str:
    """Return the points of a small line chart, for an SVG polyline of this size."""
    finite = [value for value in values if isfinite(value)]
    if len(finite) < 2:
        return ""
    low, high = min(*finite, 0.0), max(*finite, 0.0)
    scale = (height - 4) / ((high - low) or 1)
    step = (width - 4) / (len(finite) - 1)
    return " ".join(f"{2 + i * step:.1f},{height - 2 - (v - low) * scale:.1f}" for i, v in enumerate(finite))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sinks.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "when": when, "number": number, "price": price, "percent": percent, "span": span, "spark": spark,
        "brief": brief,
    }  # fmt: skip
    environment.globals |= {"path_to": path_to, "PAGE_ROWS": PAGE_ROWS}
    return environment


_templates = _environment()


def render(template: str, **values: Any) -> str:
    """Return a template filled with values, every one of them escaped."""
    return _templates.get_template(template).render(**values)


@dataclass(frozen=True, slots=True)
class Pager:
    """Which rows of how many a page shows."""

    address: Address
    total: int

    @property
    def page(self) -> int:
        """Return the page number, never past the last page."""
        return min(self.address.page, self.last)

    @property
    def last(self) -> int:
        """Return the number of the last page."""
        return max(1, -(-self.total // PAGE_ROWS))

    @property
    def offset(self) -> int:
        """Return how many rows stand before this page."""
        return (self.page - 1) * PAGE_ROWS
