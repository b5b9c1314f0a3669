"""``python -m referee.serve``: one embedded server in the foreground."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.embedded.clickhouse import answers_http_ping
from referee.embedded.kafka import answers_api_versions
from referee.embedded.ports import free_port
from referee.embedded.redis import answers_ping
from referee.serve import serve

pytestmark = pytest.mark.embedded

Spawn = Callable[..., subprocess.Popen[str]]


def first_line(child: subprocess.Popen[str]) -> dict[str, str]:
    assert child.stdout is not None
    line: dict[str, str] = json.loads(child.stdout.readline())
    return line


@pytest.mark.parametrize(
    ("kind", "url", "answers"),
    [
        ("kafka", "127.0.0.1:{port}", answers_api_versions),
        ("clickhouse", "http://127.0.0.1:{port}", answers_http_ping),
        ("redis", "redis://127.0.0.1:{port}/0", answers_ping),
    ],
)
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_each_server_prints_its_url_and_ends_when_told(
    kind: str, url: str, answers: Callable[[int], bool], ending: signal.Signals, tmp_path: Path, spawn: Spawn
) -> None:
    port = free_port()
    child = spawn("-m", "referee.serve", kind, "--port", str(port), "--data", str(tmp_path))
    assert first_line(child) == {"url": url.format(port=port)}
    assert answers(port)
    child.send_signal(ending)
    assert child.communicate(timeout=10) == ("", "")
    assert child.returncode == 0
    assert not answers(port)


def test_a_taken_port_gives_one_clear_line(taken_port: int, spawn: Spawn) -> None:
    child = spawn("-m", "referee.serve", "redis", "--port", str(taken_port))
    output, error = child.communicate(timeout=10)
    assert (output, child.returncode) == ("", 1)
    assert error == f"redis: port {taken_port} on 127.0.0.1 is already taken\n"


def test_a_server_that_dies_ends_the_command_with_one_line(tmp_path: Path, spawn: Spawn) -> None:
    child = spawn("-m", "referee.serve", "redis", "--data", str(tmp_path))
    first_line(child)
    (server_pid,) = _children(child.pid)
    os.kill(server_pid, signal.SIGKILL)
    _, error = child.communicate(timeout=10)
    assert child.returncode == 1
    assert error.startswith("redis ended with exit code -9; ")
    assert error.count("\n") == 1


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=r"server 'mysql' is unknown \(known: kafka, clickhouse, redis\)"):
        serve("mysql")


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]
