"""Tests of the events that wait in the state for the watermark."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.delivery.pending import Order, Pending
from streams.delivery.state import PartitionState
from topics.base import Message


class Event(Message):
    """Something that happened, with what makes its order total."""

    at: int
    name: str
    text: str = ""


def order(event: Event) -> Order:
    """Return the time and the name."""
    return event.at, event.name


def waiting(state: PartitionState) -> Pending[Event]:
    """Return the queue as the state holds it."""
    return Pending(state, "pending/", Event, order)


def again(state: PartitionState) -> PartitionState:
    """Return the state as its changelog would restore it."""
    return PartitionState(0, dict(state.items("")))


EVENTS = st.lists(st.builds(Event, at=st.integers(-20, 2_000), name=st.sampled_from(["a", "b", "0"])), max_size=30)


def test_events_leave_by_time_as_a_number_not_as_text() -> None:
    state = PartitionState(0, {})
    queue = waiting(state)
    for at in (1_000, 999, 10, 9, 100):
        queue.add(Event(at=at, name="a"))
    queue = waiting(again(state))
    assert queue.first_time() == 9
    assert [event.at for event in queue.pop_before(1_000)] == [9, 10, 100, 999]
    assert queue.first_time() == 1_000


def test_the_watermark_itself_stays() -> None:
    queue = waiting(PartitionState(0, {}))
    queue.add(Event(at=5, name="a"))
    assert list(queue.pop_before(5)) == []
    assert [event.at for event in queue.pop_before(6)] == [5]
    assert queue.first_time() is None


def test_one_event_twice_waits_once_and_a_removed_one_is_gone() -> None:
    state = PartitionState(0, {})
    queue = waiting(state)
    event = Event(at=5, name="a")
    queue.add(event)
    queue.add(event)
    queue.add(Event(at=5, name="b"))
    assert len(queue) == 2
    queue.remove(event)
    assert [left.name for left in waiting(again(state))] == ["b"]
    with pytest.raises(KeyError):
        queue.remove(event)


def test_the_first_of_two_tellings_of_one_event_stays() -> None:
    state = PartitionState(0, {})
    queue = waiting(state)
    for text in ("first", "second"):
        queue.add(Event(at=5, name="a", text=text))
        queue = waiting(again(state))
    assert [event.text for event in queue] == ["first"]


def test_what_was_popped_before_the_consumer_gave_up_is_gone_and_the_rest_is_not() -> None:
    state = PartitionState(0, {})
    queue = waiting(state)
    for at in range(4):
        queue.add(Event(at=at, name="a"))
    for event in queue.pop_before(10):
        if event.at == 1:
            break
    assert [event.at for event in queue] == [2, 3]
    assert [event.at for event in waiting(again(state))] == [2, 3]


@given(EVENTS, st.lists(st.integers(-30, 2_100), max_size=6))
def test_order_does_not_depend_on_arrival_nor_on_restarts(events: Sequence[Event], marks: Sequence[int]) -> None:
    state = PartitionState(0, {})
    queue = waiting(state)
    for event in events:
        queue.add(event)
    assert sum(1 for key, _ in state.items("pending/")) == len(set(map(order, events)))
    left = [event for mark in sorted(marks) for event in queue.pop_before(mark)]
    queue = waiting(again(state))
    left += list(queue.pop_before(10_000))
    assert [order(event) for event in left] == sorted(set(map(order, events)))
