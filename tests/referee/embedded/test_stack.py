"""The three embedded servers together."""

import asyncio
import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import clickhouse_connect
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from redis import Redis

from referee.embedded.clickhouse import clickhouse
from referee.embedded.kafka import kafka
from referee.embedded.ports import free_port
from referee.embedded.process import ServerFailedError
from referee.embedded.redis import redis
from referee.embedded.server import EmbeddedServer, ServerKind
from referee.embedded.stack import EmbeddedStack

pytestmark = pytest.mark.embedded

PARENT = """
import json, signal, sys
from pathlib import Path
from referee.embedded.stack import EmbeddedStack
with EmbeddedStack(Path(sys.argv[1])) as stack:
    print(json.dumps([server.process.pid for server in stack.servers]), flush=True)
    signal.pause()
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    with EmbeddedStack(tmp_path_factory.mktemp("stack")) as running:
        yield running


def test_all_three_are_up_within_three_seconds(tmp_path: Path) -> None:
    begun = time.monotonic()
    with EmbeddedStack(tmp_path) as running:
        assert time.monotonic() - begun < 3
        assert len(running.servers) == 3
        processes = [each.process for each in running.servers]
    assert all(process.exit_code is not None for process in processes)
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == ["clickhouse.log", "kafka.log", "redis.log"]


async def test_what_is_produced_is_consumed(stack: EmbeddedStack) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=stack.kafka)
    await admin.start()
    await admin.create_topics([NewTopic("calls", num_partitions=2, replication_factor=1)])
    assert "calls" in await admin.list_topics()
    await admin.close()
    async with AIOKafkaProducer(bootstrap_servers=stack.kafka) as producer:
        for number in range(10):
            await producer.send_and_wait("calls", str(number).encode(), key=b"k")
    async with AIOKafkaConsumer("calls", bootstrap_servers=stack.kafka, auto_offset_reset="earliest") as consumer:
        received = [(await asyncio.wait_for(consumer.getone(), 10)).value for _ in range(10)]
    assert received == [str(number).encode() for number in range(10)]


def test_redis_keeps_a_value(stack: EmbeddedStack) -> None:
    with Redis.from_url(stack.redis) as connection:
        assert connection.ping()
        connection.set("limit", 7, ex=60)
        assert connection.get("limit") == b"7"


def test_clickhouse_is_found_by_its_url(stack: EmbeddedStack) -> None:
    with clickhouse_connect.get_client(dsn=stack.clickhouse) as connection:
        assert connection.query("SELECT 1").result_rows == [(1,)]


def test_a_given_address_replaces_a_server(tmp_path: Path) -> None:
    given = EmbeddedStack(
        tmp_path,
        kafka_address="kafka:9092",
        clickhouse_address="http://clickhouse:8123",
        redis_address="redis://redis/1",
    )
    with given as running:
        assert running.servers == []
        assert (running.kafka, running.clickhouse, running.redis) == (
            "kafka:9092",
            "http://clickhouse:8123",
            "redis://redis/1",
        )
    assert list(tmp_path.iterdir()) == []


async def test_the_stack_is_an_asynchronous_context_too(tmp_path: Path) -> None:
    async with EmbeddedStack(tmp_path, kafka_address="kafka:9092", clickhouse_address="http://c:1") as running:
        (server,) = running.servers
        assert server.process.exit_code is None
    assert server.process.exit_code is not None


async def test_a_cancelled_start_leaves_nothing_behind(tmp_path: Path) -> None:
    stack = EmbeddedStack(tmp_path, kafka_address="kafka:9092")
    starting = asyncio.ensure_future(stack.__aenter__())
    done, _ = await asyncio.wait([starting], timeout=0.02)
    assert not done
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert all(each.process.exit_code is not None for each in stack.servers)


def test_killing_the_parent_leaves_no_orphan(
    tmp_path: Path, spawn: Callable[..., subprocess.Popen[str]], gone_within: Callable[[int, float], bool]
) -> None:
    parent = spawn("-c", PARENT, str(tmp_path))
    assert parent.stdout is not None
    pids = json.loads(parent.stdout.readline())
    assert len(pids) == 3
    parent.kill()
    assert all(gone_within(pid, 5) for pid in pids)


def test_ctrl_c_stops_the_servers_in_order(
    tmp_path: Path, spawn: Callable[..., subprocess.Popen[str]], gone_within: Callable[[int, float], bool]
) -> None:
    parent = spawn("-c", PARENT, str(tmp_path))
    assert parent.stdout is not None
    pids = json.loads(parent.stdout.readline())
    parent.send_signal(signal.SIGINT)
    parent.wait(10)
    assert all(gone_within(pid, 0) for pid in pids)
    assert "bye bye" in (tmp_path / "logs" / "redis.log").read_text()


def test_one_failure_stops_the_others(tmp_path: Path) -> None:
    (tmp_path / "clickhouse").mkdir()
    (tmp_path / "clickhouse" / "chdb").write_text("not a directory")
    stack = EmbeddedStack(tmp_path)
    with pytest.raises(ServerFailedError, match="clickhouse ended with exit code 1"):
        stack.start()
    assert all(each.process.exit_code is not None for each in stack.servers)


@pytest.mark.parametrize("kind", [kafka, clickhouse, redis], ids=["kafka", "clickhouse", "redis"])
def test_a_port_lost_between_choice_and_start_is_replaced(
    kind: Callable[[], ServerKind],
    tmp_path: Path,
    taken_port: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ports = iter([taken_port])
    monkeypatch.setattr("referee.embedded.server.free_port", lambda: next(ports, None) or free_port())
    server = EmbeddedServer(kind(), tmp_path)
    server.start()
    assert server.port != taken_port
    server.stop()


def test_an_unknown_broker_is_named() -> None:
    with pytest.raises(ValueError, match=r"embedded Kafka broker 'rabbit' is unknown \(known: tansu\)"):
        kafka("rabbit")
