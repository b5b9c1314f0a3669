"""Servers and processes shared by the tests of the embedded servers."""

import os
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client

from referee.embedded.clickhouse import clickhouse
from referee.embedded.ports import LOOPBACK
from referee.embedded.server import EmbeddedServer

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def clickhouse_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    server = EmbeddedServer(clickhouse(), tmp_path_factory.mktemp("clickhouse"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def client(clickhouse_server: EmbeddedServer, request: pytest.FixtureRequest) -> Iterator[Client]:
    """Connect to a database of the test's own."""
    name = f"db_{abs(hash(request.node.name)):x}"
    with clickhouse_connect.get_client(host=LOOPBACK, port=clickhouse_server.port) as admin:
        admin.command(f"CREATE DATABASE {name}")
    with clickhouse_connect.get_client(host=LOOPBACK, port=clickhouse_server.port, database=name) as own:
        yield own
    with clickhouse_connect.get_client(host=LOOPBACK, port=clickhouse_server.port) as admin:
        admin.command(f"DROP DATABASE {name}")


@pytest.fixture
def spawn() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start Python children from the source tree; kill those that still run at the end."""
    children: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
        children.append(child)
        return child

    yield start
    for child in children:
        if child.poll() is None:
            child.kill()
        child.communicate()


def is_gone_within(pid: int, timeout_s: float) -> bool:
    """Wait for a process, not our child, to end."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], timeout_s)[0])
    finally:
        os.close(descriptor)


@pytest.fixture
def gone_within() -> Callable[[int, float], bool]:
    return is_gone_within


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind((LOOPBACK, 0))
        holder.listen()
        yield holder.getsockname()[1]
