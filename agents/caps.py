"""What sealing knows of one agent of the Floor: calls sealed today, open, settled; posts answered (Rules F1, F9)."""

from collections import defaultdict

import orjson

from rules.floor.standing import is_provisional
from rules.market import DAY_MS
from streams.delivery.state import PartitionState
from topics.floor import Position

OPEN_PREFIX = "open/"


def open_calls_by_agent(state: PartitionState) -> dict[str, set[str]]:
    """Return every agent's open calls, read in one pass."""
    found: dict[str, set[str]] = defaultdict(set)
    for key, _ in state.items(OPEN_PREFIX):
        agent, _, call = key.rpartition("/")
        found[agent].add(call)
    return found


class AgentCounts:
    """The counts of one agent; open calls are one key each."""

    def __init__(self, state: PartitionState, agent: str, open_calls: set[str]) -> None:
        """Rebuild the counts from the state; `open_calls` are the agent's among `open_calls_by_agent`."""
        self._state = state
        self._key = f"counts/{agent}"
        self._open_prefix = f"{OPEN_PREFIX}{agent}/"
        counts = orjson.loads(state.get(self._key) or b'{"day":-1,"sealed":0,"settled":0,"answered":{}}')
        self._day: int = counts["day"]
        self._sealed: int = counts["sealed"]
        self._settled: int = counts["settled"]
        self._answered: dict[str, int] = counts["answered"]
        self.open = open_calls

    @property
    def provisional(self) -> bool:
        """Tell whether fewer than 20 of the agent's calls are settled; voids do not count (Rule F9)."""
        return is_provisional(self._settled)

    def sealed_on(self, time_ms: int) -> int:
        """Return how many calls were sealed on the UTC day of a time."""
        return self._sealed if time_ms // DAY_MS == self._day else 0

    def is_answered(self, position: Position) -> bool:
        """Tell whether the post at a position, or one behind it of the same agent, was answered before."""
        return position.offset <= self._answered.get(str(position.partition), -1)

    def answer(self, position: Position) -> None:
        """Note that the post at a position is answered."""
        partition = str(position.partition)
        self._answered[partition] = max(position.offset, self._answered.get(partition, -1))
        self._save()

    def seal(self, call: str, posted_at_ms: int) -> None:
        """Count a sealed call."""
        self._sealed = self.sealed_on(posted_at_ms) + 1
        self._day = posted_at_ms // DAY_MS
        self.open.add(call)
        self._state.put(self._open_prefix + call, b"1")
        self._save()

    def settle(self, call: str, *, void: bool) -> None:
        """Take a settled or void call off the open ones; the same one again changes nothing."""
        if call not in self.open:
            return
        self.open.remove(call)
        self._state.delete(self._open_prefix + call)
        self._settled += not void
        self._save()

    def _save(self) -> None:
        counts = {
            "day": self._day,
            "sealed": self._sealed,
            "settled": self._settled,
            "answered": self._answered,
        }
        self._state.put(self._key, orjson.dumps(counts))
