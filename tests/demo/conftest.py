"""One demo of three days for all its tests, with its servers up until the last of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from referee.demo.run import Demo, Options
from referee.settings import Settings
from rules.arena.commitment import Deployment
from sinks.clickhouse.connection import connect_read_only
from tests.demo.bus_reading import data_records
from tests.demo.finished_run import FinishedRun
from topics.registry import PROGRESS, TOPICS

DAYS, SEED = 3, 7
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.demo)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def run() -> AsyncIterator[FinishedRun]:
    async with Demo(Settings(), Options(days=DAYS, seed=SEED, pages=False)) as demo:
        summary = await demo.run(lambda now_ms: None)
        records = {topic.name: await data_records(demo.bus, topic) for topic in TOPICS if topic is not PROGRESS}
        settings = demo.settings
        assert settings.clickhouse is not None
        client = await asyncio.to_thread(connect_read_only, settings.clickhouse, settings.database)
        try:
            deployment = Deployment(settings.chain_id, settings.callbook)
            yield FinishedRun(DAYS, demo.bus, client, deployment, summary, records)
        finally:
            await asyncio.to_thread(client.close)
