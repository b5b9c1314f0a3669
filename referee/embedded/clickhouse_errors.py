"""ClickHouse's exceptions as its HTTP interface reports them: code, text and status."""

import re
from collections.abc import Mapping
from typing import Final

NOT_IMPLEMENTED: Final = 48
SYNTAX_ERROR: Final = 62
UNKNOWN_TYPE_OF_QUERY: Final = 78
READONLY: Final = 164
UNKNOWN_COMPRESSION_METHOD: Final = 89
CANNOT_DECOMPRESS: Final = 271
INTO_OUTFILE_NOT_ALLOWED: Final = 358
STD_EXCEPTION: Final = 1001

_CODE: Final = re.compile(r"(?:Code: (\d+)\. DB::Exception: )+")
_VERSION: Final = re.compile(r" \(version [^)]*\)")
_BAD_REQUEST: Final = frozenset(
    {6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376, 427, 441, 675, 676}
)
_NOT_FOUND: Final = frozenset({46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511})
_OTHER: Final[Mapping[int, int]] = {48: 501, 76: 503, 159: 408, 209: 503, 229: 413, 439: 503, 497: 403}


class ClickHouseError(Exception):
    """One of ClickHouse's exceptions: its number and its text without the number."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text

    @property
    def http_status(self) -> int:
        """Return the HTTP status that ClickHouse gives this code."""
        if self.code in _BAD_REQUEST:
            return 400
        if self.code in _NOT_FOUND:
            return 404
        return _OTHER.get(self.code, 500)

    def body(self, version: str) -> str:
        """Return the response's text as ClickHouse words it."""
        return f"Code: {self.code}. DB::Exception: {self.text} (version {version} (official build))\n"


def from_engine(message: str) -> ClickHouseError:
    """Read the engine's message; nested prefixes and versions are dropped, a text without a code is code 1001."""
    match = _CODE.search(message)
    if match is None:
        return ClickHouseError(STD_EXCEPTION, f"{message.strip()} (STD_EXCEPTION)")
    return ClickHouseError(int(match.group(1)), _VERSION.sub("", message[match.end() :]).strip())
