"""Tests of how a worker ends when it cannot go on: at once or in bounded time, with a code, losing nothing."""

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from referee.agents import engine_agents
from referee.embedded.kafka import kafka
from referee.embedded.server import EmbeddedServer
from referee.settings import Settings
from streams.app import Bus
from streams.delivery.shell import DEAD_LETTER_LIMIT
from streams.provision import create_topics
from tests.integration.engine import NOWHERE, Engine, settings_for
from tests.streams.delivery.probe import committed, marks, post, probe_spec, sent
from tests.streams.delivery.reader import Reader
from topics.registry import DEAD_LETTERS, POSTS, PROGRESS, QUOTES

pytestmark = pytest.mark.embedded

T0 = 1_750_000_000_000
ENDS_WITHIN_S = 40
PROBE = (sys.executable, "-m", "tests.integration.probe_worker")


async def end_of(engine: Engine) -> tuple[int, str]:
    """Return a worker's exit code and what it logged."""
    async with asyncio.timeout(ENDS_WITHIN_S):
        code = await asyncio.to_thread(engine.process.wait_end)
    return code, engine.process.log_since_start()


async def probe_bus(settings: Settings) -> Bus:
    """Return the bus of the settings with the probe's topics on it."""
    bus = settings.bus()
    await create_topics(bus, [probe_spec()], stepped=True)
    return bus


async def test_a_worker_without_its_topics_names_them_and_ends(broker: EmbeddedServer, logs: Path) -> None:
    with Engine(settings_for(broker.url, "absent."), logs) as engine:
        code, log = await end_of(engine)
    assert code == 1
    assert f"topics are missing on {broker.url}: absent.alerts, absent.arena.commits, " in log
    assert "worker_started" not in log


async def test_a_worker_with_another_number_of_partitions_says_so_and_ends(broker: EmbeddedServer, logs: Path) -> None:
    settings = settings_for(broker.url, "layout.")
    async with AsyncExitStack() as stack:
        specs = await engine_agents(settings, stack)
        await create_topics(settings.bus(), specs, stepped=True)
    other = settings.partitions + 1
    with Engine(settings.model_copy(update={"partitions": other}), logs) as engine:
        code, log = await end_of(engine)
    assert code == 1
    assert f"REFEREE_PARTITIONS is {other}, but on {broker.url} " in log
    assert f"layout.ingress has {settings.partitions}, not {other}" in log
    assert "worker_started" not in log


async def test_a_worker_without_a_broker_names_its_address_and_ends(logs: Path) -> None:
    address = NOWHERE.removeprefix("http://")
    with Engine(settings_for(address, ""), logs) as engine:
        code, log = await end_of(engine)
    assert code == 1
    assert address in log
    assert "Unclosed" not in log


async def test_a_worker_whose_broker_goes_away_ends(tmp_path: Path, logs: Path) -> None:
    server = EmbeddedServer(kafka(), tmp_path)
    server.start()
    settings = settings_for(server.url, "")
    bus = await probe_bus(settings)
    with Engine(settings, logs, PROBE) as engine:
        async with Reader(bus, PROGRESS) as progress:
            await sent(bus, marks(bus, T0))
            await progress.until(PROGRESS, bus.partitions)
        server.process.kill()
        code, log = await end_of(engine)
    assert code == 1
    assert f"no broker of {server.url} has answered" in log
    assert "worker_failed" in log


async def test_a_fault_stops_the_worker_and_commits_nothing_past_it(broker: EmbeddedServer, logs: Path) -> None:
    settings = settings_for(broker.url, "fault.")
    bus = await probe_bus(settings)
    await sent(bus, [*(post(text, T0, 1) for text in ("one", "fault", "two")), *marks(bus, T0 + 1)])
    async with Reader(bus, QUOTES) as reader:
        with Engine(settings, logs, PROBE) as engine:
            code, log = await end_of(engine)
        await reader.read(timeout_ms=0)
    assert code == 1
    assert reader.of(QUOTES) == []
    assert "a fault at offset 1" in log
    assert (await committed(bus, POSTS))[1] in (None, 0, 1)


async def test_too_many_dead_letters_stop_the_worker(broker: EmbeddedServer, logs: Path) -> None:
    settings = settings_for(broker.url, "poison.")
    bus = await probe_bus(settings)
    await sent(bus, [*(post("poison", T0, 0) for _ in range(DEAD_LETTER_LIMIT)), *marks(bus, T0 + 1)])
    async with Reader(bus, QUOTES, DEAD_LETTERS) as reader:
        with Engine(settings, logs, PROBE) as engine:
            await reader.until_watermark(QUOTES, T0 + 1)
            assert len(reader.of(DEAD_LETTERS)) == DEAD_LETTER_LIMIT
            await sent(bus, [post("fine", T0 + 1, 0), post("poison", T0 + 1, 0), post("two", T0 + 1, 0)])
            code, log = await end_of(engine)
        await reader.read()
    assert code == 1
    assert f"{DEAD_LETTER_LIMIT + 1} of the last" in log
    assert len(reader.of(DEAD_LETTERS)) == DEAD_LETTER_LIMIT
    assert ((await committed(bus, POSTS))[0] or 0) <= DEAD_LETTER_LIMIT + 2
