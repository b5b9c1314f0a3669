"""What a page shows, as its address says it: filters, sorting and the page number of a query string."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar
from urllib.parse import parse_qsl, quote, urlencode

Column = TypeVar("Column", bound=StrEnum)

PAGE_ROWS = 50
MAX_PAGE = 100_000
MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class Address:
    """The query string of a page, read leniently: what makes no sense is as if it were not there."""

    values: Mapping[str, str]

    @classmethod
    def parse(cls, query: str) -> "Address":
        """Read a query string, with or without its question mark; of a repeated name the last one counts."""
        pairs = parse_qsl(query.removeprefix("?"), max_num_fields=50, errors="replace") if len(query) < 4096 else []
        return cls({name: value[:MAX_TEXT] for name, value in pairs})

    def text(self, name: str) -> str:
        """Return a free filter, or an empty text."""
        return self.values.get(name, "").strip()

    def choice(self, name: str, allowed: tuple[str, ...]) -> str:
        """Return a filter that is one of a list, or an empty text."""
        value = self.values.get(name, "")
        return value if value in allowed else ""

    def sort(self, columns: type[Column], default: Column) -> Column:
        """Return the column to sort by."""
        try:
            return columns(self.values.get("sort", ""))
        except ValueError:
            return default

    @property
    def descending(self) -> bool:
        """Tell the direction of sorting: downwards unless the address says `dir=asc`."""
        return self.values.get("dir") != "asc"

    @property
    def page(self) -> int:
        """Return the page number, from 1."""
        text = self.values.get("page", "1")
        return min(max(int(text), 1), MAX_PAGE) if text.isascii() and text.isdigit() and len(text) < 7 else 1

    def link(self, **changes: object) -> str:
        """Return this address with some values changed, as a query string; empty values leave it."""
        merged = {**self.values, **{name: str(value) for name, value in changes.items()}}
        return "?" + urlencode({name: value for name, value in merged.items() if value})


def path_to(page: str, subject: str) -> str:
    """Return the path of one agent, call, coin or record, whatever characters its name has."""
    return f"/{page}/{quote(subject, safe='')}"
