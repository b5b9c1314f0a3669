"""Children that leave no orphan."""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.embedded.process import ServerFailedError, ServerProcess

SLEEPER = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()"]
DEAF = [
    sys.executable,
    "-c",
    "import signal; signal.signal(15, signal.SIG_IGN); print('up', flush=True)\nwhile True: signal.pause()",
]
PARENT = """
import sys, signal
from pathlib import Path
from referee.embedded.process import ServerProcess
child = ServerProcess("sleeper", {command!r}, Path({log!r}), watch={watch})
child.wait_ready(lambda: "up" in child.log_since_start(), 10)
import subprocess
below = subprocess.run(["ps", "-o", "pid=", "--ppid", str(child.pid)], capture_output=True, text=True).stdout.split()
print(child.pid, *below, flush=True)
signal.pause()
"""


def started(command: list[str], tmp_path: Path) -> ServerProcess:
    process = ServerProcess("sleeper", command, tmp_path / "logs" / "sleeper.log")
    process.wait_ready(lambda: "up" in process.log_since_start(), 10)
    return process


@pytest.mark.parametrize("watch", [False, True], ids=["parent-death signal", "watcher"])
def test_a_child_ends_when_its_parent_is_killed(
    watch: bool,
    tmp_path: Path,
    spawn: Callable[..., subprocess.Popen[str]],
    gone_within: Callable[[int, float], bool],
) -> None:
    parent = spawn("-c", PARENT.format(command=SLEEPER, log=str(tmp_path / "log"), watch=watch))
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == (2 if watch else 1)
    parent.kill()
    assert all(gone_within(pid, 5) for pid in pids)


def test_a_child_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    running: list[ServerProcess] = []
    thread = threading.Thread(target=lambda: running.append(started(SLEEPER, tmp_path)))
    thread.start()
    thread.join()
    (process,) = running
    with pytest.raises(ServerFailedError, match=r"not ready after 0\.3 s"):
        process.wait_ready(lambda: False, 0.3)
    assert process.exit_code is None
    process.stop()


def test_stop_asks_first(tmp_path: Path) -> None:
    process = started(SLEEPER, tmp_path)
    process.stop()
    assert process.exit_code == -signal.SIGTERM


def test_stop_kills_what_does_not_listen(tmp_path: Path) -> None:
    process = started(DEAF, tmp_path)
    process.stop(grace_s=0.2)
    assert process.exit_code == -signal.SIGKILL


def test_an_early_end_quotes_the_log(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('first'); print('\\x1b[31mno luck\\x1b[0m'); raise SystemExit(7)"]
    process = ServerProcess("unlucky", command, tmp_path / "unlucky.log")
    with pytest.raises(ServerFailedError, match=r"unlucky ended with exit code 7; .* first \| no luck$"):
        process.wait_ready(lambda: False, 10)


def test_a_log_keeps_earlier_runs_but_quotes_the_last(tmp_path: Path) -> None:
    log = tmp_path / "sleeper.log"
    log.write_text("yesterday\n")
    process = ServerProcess("sleeper", [sys.executable, "-c", "print('today')"], log)
    assert process.wait_end() == 0
    assert "yesterday" not in process.reason_of_end()
    assert log.read_text() == "yesterday\ntoday\n"
