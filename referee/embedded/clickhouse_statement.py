"""Reading the head of an INSERT: which bytes are the statement, which format follows, where the data begins.

The engine reads a text as a client's console would: it looks for the next statement inside the data, so that a blank
line or a semicolon in a row would cut it. A server knows that all of the rest is data, which is why it is split here.
"""

import re
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    rb"""(?P<space>\s+|--[^\n]*|/\*.*?\*/)
    |(?P<quoted>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`\\]|\\.|``)*`)
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_DATA_GAP: Final = re.compile(rb"[ \t\f]*\r?\n?")
_QUERY_FOLLOWS: Final = (b"SELECT", b"WITH", b"EXPLAIN")
_FORMAT_AT_END: Final = re.compile(rb"\bFORMAT\s+([A-Za-z0-9_]+)\s*;?\s*(?:SETTINGS\s[^'\"`;]*)?\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Insert:
    """An INSERT with its data: ``INSERT INTO table (columns) SETTINGS …``, the data's format, and the data."""

    head: str
    data_format: str
    data: memoryview


class FileClauseError(ValueError):
    """An INSERT that names a file of the client's, which a server cannot read."""


def split_insert(text: bytes) -> Insert | None:
    """Split ``INSERT … FORMAT name`` or ``INSERT … VALUES`` from its data; return None for any other statement.

    Raise FileClauseError for ``INSERT … FROM INFILE``.
    """
    depth = 0
    words = 0
    table_seen = False
    previous = b""
    format_at: int | None = None
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "space":
            continue
        token = match.group()
        if match.lastgroup == "other":
            depth += (token == b"(") - (token == b")")
        elif match.lastgroup == "quoted":
            table_seen = True
        elif depth == 0 and previous != b".":
            words += 1
            word = token.upper()
            if words == 1 and word != b"INSERT":
                return None
            if format_at is not None:
                return _insert(text, format_at, token.decode(), match.end())
            if table_seen:
                if word == b"VALUES":
                    return _insert(text, match.start(), "Values", match.end())
                if word == b"INFILE" and previous.upper() == b"FROM":
                    raise FileClauseError("INSERT … FROM INFILE is read by a client, not by a server")
                if word in _QUERY_FOLLOWS:
                    return None
                if word == b"FORMAT":
                    format_at = match.start()
            elif words > 1 and word not in (b"INTO", b"TABLE", b"FUNCTION"):
                table_seen = True
        if words == 0:
            return None
        previous = token
    return None


def named_format(text: bytes) -> str | None:
    """Return the format that a query asks for in its closing FORMAT clause, if it has one."""
    match = _FORMAT_AT_END.search(text)
    return match.group(1).decode() if match else None


def _insert(text: bytes, head_end: int, data_format: str, format_end: int) -> Insert:
    gap = _DATA_GAP.match(text, format_end)
    start = gap.end() if gap else format_end
    return Insert(text[:head_end].decode(errors="replace").strip(), data_format, memoryview(text)[start:])
