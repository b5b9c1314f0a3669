"""Tests of the agent that hands records to a sink outside the bus."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import warehouse
from streams.delivery.outbox import Outbox, SinkRecord
from streams.delivery.reducer import AgentSpec, PoisonError
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from tests.agents.records import RecordMaker
from topics.registry import LEDGER, SETTLEMENTS, TOPICS, Topic

PREFIXES = st.text("abz019._-", max_size=12) | st.sampled_from([topic.name + "." for topic in TOPICS])


async def nowhere(_records: Sequence[SinkRecord]) -> None:
    """Take a batch in."""


def spec(topics: Sequence[Topic]) -> AgentSpec:
    return warehouse.spec("warehouse", tuple(topics), nowhere)


@given(prefix=PREFIXES, sent=st.lists(st.sampled_from(TOPICS)), order=st.permutations(TOPICS))
def test_records_keep_their_order_and_get_their_plain_names_under_any_prefix(
    prefix: str, sent: list[Topic], order: list[Topic]
) -> None:
    reducer, out, record = spec(order).reducer(PartitionState(0, {})), Outbox(), RecordMaker(prefix)
    for number, topic in enumerate(sent):
        reducer.apply(record(topic, "key", b"%d" % number, number), out)
    assert out.sink_records == [SinkRecord(topic.name, b"%d" % number) for number, topic in enumerate(sent)]
    assert out.outputs == []
    assert reducer.state.take_changes() == []


async def test_nothing_is_promised_whatever_the_watermarks() -> None:
    reducer, out = spec([SETTLEMENTS]).reducer(PartitionState(0, {})), Outbox()
    tracker = WatermarkTracker({SETTLEMENTS.name: ["settlement/0"]})
    tracker.update(SETTLEMENTS.name, "settlement/0", 7)
    assert await reducer.advance(tracker, out) is None
    assert (out.sink_records, out.outputs) == ([], [])


def test_a_record_without_a_value_is_no_message_and_never_reaches_the_sink() -> None:
    reducer, out = spec([LEDGER]).reducer(PartitionState(0, {})), Outbox()
    with pytest.raises(PoisonError, match=r"ledger.*no value"):
        reducer.apply(RecordMaker("test.")(LEDGER, "0", None, 7), out)
    assert out.sink_records == []


def test_the_agent_sends_nothing_keeps_nothing_and_lets_work_gather() -> None:
    made = warehouse.spec("warehouse-single", (LEDGER,), nowhere, single_partition=True)
    assert (made.outputs, made.keeps_state, made.single_partition, made.sink) == ((), False, True, nowhere)
    assert made.partitions(8) == 1
    assert 0 < made.linger_s < 1
    assert spec([SETTLEMENTS]).partitions(8) == 8
