"""Events that wait for the watermark, in the state, and leave it in the order of their event time.

Inputs of several topics and origins arrive in any order; what must be decided in one order (caps, sums, the chain)
waits here until no earlier event can come. The wait is part of the state, so a restart loses nothing.
"""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from sortedcontainers import SortedDict

from streams.delivery.state import PartitionState
from topics.base import Message

M = TypeVar("M", bound=Message)

Order = tuple[int | str, ...]


class Pending(Generic[M]):
    """A queue ordered by (event time in ms, then whatever makes it total), kept under a prefix of the state."""

    def __init__(self, state: PartitionState, prefix: str, model: type[M], order: Callable[[M], Order]) -> None:
        """Rebuild the queue from the state; `order` returns the event time first and is unique per event."""
        self._state = state
        self._prefix = prefix
        self._order = order
        self._queue: SortedDict[Order, M] = SortedDict()
        for _, raw in state.items(prefix):
            event = model.decode(raw)
            self._queue[order(event)] = event

    def _key(self, order: Order) -> str:
        return self._prefix + ":".join(str(part) for part in order)

    def add(self, event: M) -> None:
        """Take an event in; another in the same place of the order is a repeat, and the first of them stays.

        A repeat may say it in other words (a venue was asked again): the last would depend on how records are batched.
        """
        order = self._order(event)
        if order not in self._queue:
            self._queue[order] = event
            self._state.put(self._key(order), event.encode())

    def first_time(self) -> int | None:
        """Return the event time in ms of the earliest waiting event."""
        return int(self._queue.peekitem(0)[0][0]) if self._queue else None

    def pop_before(self, time_ms: int) -> Iterator[M]:
        """Yield and remove, in order, the events with a time below `time_ms`."""
        while self._queue and int(self._queue.peekitem(0)[0][0]) < time_ms:
            order, event = self._queue.popitem(0)
            self._state.delete(self._key(order))
            yield event

    def remove(self, event: M) -> None:
        """Remove one event, wherever it stands."""
        order = self._order(event)
        del self._queue[order]
        self._state.delete(self._key(order))

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[M]:
        return iter(self._queue.values())
