"""Tests of a partition's state: what it remembers, and what of it reaches the changelog."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from streams.delivery.state import OFFSETS_KEY, PartitionState

KEYS = st.sampled_from(["a", "a/1", "a/11", "b", ""])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.binary(max_size=3)),
        st.tuples(st.just("delete"), KEYS, st.just(b"")),
        st.tuples(st.just("deliver"), st.just(""), st.just(b"")),
    ),
    max_size=40,
)


def deliver(state: PartitionState, table: dict[str, bytes]) -> list[tuple[str, bytes | None]]:
    """Take the changes and put them into a table, as the changelog's readers do."""
    changes = state.take_changes()
    for key, value in changes:
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value
    return changes


def restored(number: int, table: Mapping[str, bytes]) -> PartitionState:
    """Return the state of a partition from a table that several partitions share."""
    prefix = f"{number}/"
    return PartitionState(number, {key[len(prefix) :]: raw for key, raw in table.items() if key.startswith(prefix)})


def test_a_key_that_came_and_went_within_a_batch_is_not_sent() -> None:
    state = PartitionState(3, {})
    state.put("a", b"1")
    state.delete("a")
    assert state.take_changes() == []
    state.put("a", b"1")
    assert [key for key, _ in state.take_changes()] == ["3/a", "3/" + OFFSETS_KEY]
    state.delete("a")
    state.put("a", b"2")
    state.delete("a")
    assert state.take_changes()[0] == ("3/a", None)
    assert state.take_changes() == []


def test_deleting_what_is_not_there_is_no_change() -> None:
    state = PartitionState(0, {"a": b"1"})
    state.delete("b")
    assert state.take_changes() == []
    state.delete("a")
    state.delete("a")
    assert state.take_changes()[0] == ("0/a", None)


def test_offsets_travel_with_changes_and_alone_change_nothing() -> None:
    state, table = PartitionState(0, {}), dict[str, bytes]()
    state.include("posts", 5)
    assert deliver(state, table) == []
    assert restored(0, table).includes("posts", 4) is False
    state.put("a", b"1")
    assert deliver(state, table)[-1] == ("0/" + OFFSETS_KEY, b'{"posts":5}')
    again = restored(0, table)
    assert again.includes("posts", 4)
    assert not again.includes("posts", 5)
    assert not again.includes("clock", 0)


def test_a_replayed_fetch_does_not_take_the_offsets_back() -> None:
    state = PartitionState(0, {OFFSETS_KEY: b'{"posts":100}'})
    assert state.includes("posts", 50)
    state.include("posts", 81)
    assert state.includes("posts", 99)
    assert not state.includes("posts", 100)


def test_partition_1_sees_nothing_of_partition_11() -> None:
    table: dict[str, bytes] = {}
    for number in (1, 11):
        state = PartitionState(number, {})
        state.put("a", str(number).encode())
        state.put("1/a", b"nested")
        state.include("posts", number)
        deliver(state, table)
    one, eleven = restored(1, table), restored(11, table)
    assert (one.get("a"), eleven.get("a")) == (b"1", b"11")
    assert dict(one.items("")).keys() == {"a", "1/a", OFFSETS_KEY}
    assert (one.offsets, eleven.offsets) == ({"posts": 1}, {"posts": 11})


def test_items_come_in_the_order_of_their_keys_without_the_prefix() -> None:
    state = PartitionState(0, {"b/2": b"", "b/10": b"", "c/1": b"", "b": b""})
    assert [key for key, _ in state.items("b/")] == ["10", "2"]


@given(STEPS)
def test_the_changelog_rebuilds_the_state_whatever_was_done(steps: list[tuple[str, str, bytes]]) -> None:
    state, table, model = PartitionState(7, {}), dict[str, bytes](), dict[str, bytes]()
    for step, key, value in steps:
        if step == "put":
            state.put(key, value)
            model[key] = value
        elif step == "delete":
            state.delete(key)
            model.pop(key, None)
        else:
            changes = deliver(state, table)
            assert len({name for name, _ in changes}) == len(changes)
    deliver(state, table)
    found = dict(restored(7, table).items(""))
    found.pop(OFFSETS_KEY, None)
    assert found == model
