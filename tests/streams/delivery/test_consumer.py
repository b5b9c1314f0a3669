"""Tests of what the consumer may fetch and commit, without a broker."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from faust.types import TP

from streams.app import Bus, RefereeApp
from streams.delivery.consumer import BatchConsumer
from streams.delivery.publisher import Publisher
from tests.streams.delivery.probe import probe_spec
from topics.registry import POSTS

SOURCE, CHANGELOG = TP(POSTS.name, 0), TP("referee-probe-changelog", 0)


async def idle(_: object) -> None:
    """Do nothing."""


@pytest.fixture
async def app(tmp_path: Path) -> RefereeApp:
    """Return an app that was not started."""
    bus = Bus("127.0.0.1:9", idempotent=False)
    app = RefereeApp(bus, Publisher.__new__(Publisher), str(tmp_path))
    app.declare_table(probe_spec())
    app.declare_agent(probe_spec(), idle)
    app.finalize()
    return app


@pytest.fixture
async def consumer(app: RefereeApp) -> AsyncIterator[BatchConsumer]:
    """Yield the app's consumer, with nothing assigned."""
    consumer = cast(BatchConsumer, app.consumer)
    consumer._set_active_tps(set())
    yield consumer
    thread: Any = consumer._thread
    thread.thread_loop.close()


async def test_agents_get_nothing_until_the_flow_resumes_behind_recovery(consumer: BatchConsumer) -> None:
    consumer.resume_flow()
    consumer.resume_partitions({SOURCE, CHANGELOG})
    assert consumer._get_active_partitions() == {CHANGELOG}
    consumer.resume_flow()
    assert consumer._get_active_partitions() == {SOURCE, CHANGELOG}


async def test_a_partition_that_was_paused_meanwhile_stays_paused(consumer: BatchConsumer) -> None:
    consumer.resume_partitions([SOURCE])
    consumer.pause_partitions([SOURCE])
    consumer.resume_flow()
    assert consumer._get_active_partitions() == set()


async def test_what_is_committed_is_the_least_mark_of_all_readers(app: RefereeApp, consumer: BatchConsumer) -> None:
    app.readers[POSTS.name] = {"probe", "other"}
    consumer.mark("probe", SOURCE, 10)
    assert consumer._new_offset(SOURCE) is None
    consumer.mark("other", SOURCE, 7)
    assert list(consumer._filter_tps_with_pending_acks()) == [SOURCE]
    assert consumer._new_offset(SOURCE) == 7
    consumer.mark("other", SOURCE, 12)
    assert consumer._new_offset(SOURCE) == 10


async def test_a_fetch_keeps_to_its_partitions_though_they_are_paused_meanwhile(consumer: BatchConsumer) -> None:
    asked: list[set[TP]] = []

    async def getmany(partitions: set[TP], _timeout: float) -> dict[TP, list[object]]:
        consumer.pause_partitions([CHANGELOG])
        asked.append(set(partitions))
        return {}

    thread: Any = consumer._thread
    thread.getmany = getmany
    consumer.resume_flow()
    consumer.resume_partitions([CHANGELOG])
    await consumer._wait_next_records(1.0)
    # no partition at all would mean every one, those of agents too, ahead of recovery
    assert asked == [{CHANGELOG}]
