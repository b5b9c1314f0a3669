"""Watermarks that travel in the topics: records with one header, behind the data they vouch for.

A watermark W of an origin says: this origin sends no further record with an event time below W to this partition. The
watermark of a partition is the least over all origins that write to its topic, so it is unknown until each has spoken.
"""

from collections.abc import Iterable, Mapping, Sequence

HEADER = "referee-watermark"

Headers = Sequence[tuple[str, bytes]]


def header(origin: str, watermark_ms: int) -> list[tuple[str, bytes]]:
    """Return the headers of a watermark record."""
    return [(HEADER, f"{watermark_ms}@{origin}".encode())]


def is_watermark(headers: Headers) -> bool:
    """Tell whether a record is a watermark and no data."""
    return bool(headers) and headers[0][0] == HEADER


def parse(headers: Headers) -> tuple[str, int]:
    """Return (origin, watermark in ms) of a watermark record; raises `ValueError` for a broken one."""
    text, _, origin = headers[0][1].decode().partition("@")
    return origin, int(text)


class WatermarkTracker:
    """The watermark of one partition of an agent: the least over its input topics and their origins."""

    def __init__(self, origins: Mapping[str, Iterable[str]]) -> None:
        """Start with every origin unknown; `origins` names, per input topic that carries watermarks, who writes it."""
        self._seen: dict[tuple[str, str], int | None] = {
            (topic, origin): None for topic, names in origins.items() for origin in names
        }

    def update(self, topic: str, origin: str, watermark_ms: int) -> bool:
        """Take a watermark in and tell whether it is the origin's; unknown origins and steps back are ignored."""
        key = (topic, origin)
        if key not in self._seen:
            return False
        known = self._seen[key]
        if known is not None and watermark_ms < known:
            return False
        self._seen[key] = watermark_ms
        return True

    def current(self, *topics: str) -> int | None:
        """Return the watermark over these topics (all, if none is named); None while an origin is unknown."""
        least: int | None = None
        for (topic, _), seen in self._seen.items():
            if topics and topic not in topics:
                continue
            if seen is None:
                return None
            if least is None or seen < least:
                least = seen
        return least
