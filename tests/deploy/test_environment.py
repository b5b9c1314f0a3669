"""Tests of what makes `.venv`: once for many, again for another lock, and one line when it cannot."""

import fcntl
import subprocess
import sys
import threading
from pathlib import Path
from typing import TextIO

import pytest

from deploy import environment

ROOT = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a project's folder with a lock of nothing."""
    (tmp_path / "requirements.lock").write_text("# nothing\n")
    return tmp_path


def finish(root: Path) -> None:
    """Leave what a finished environment leaves."""
    (root / ".venv").mkdir(exist_ok=True)
    (root / ".venv" / "made-of").write_text(environment.stamp_of(root))


def test_an_environment_is_current_until_its_lock_or_its_place_changes(root: Path) -> None:
    assert not environment.is_current(root)
    finish(root)
    assert environment.is_current(root)
    moved = root.parent / "moved"
    root.rename(moved)
    assert not environment.is_current(moved)
    finish(moved)
    (moved / "requirements.lock").write_text("six==1.17.0\n")
    assert not environment.is_current(moved)


def test_who_comes_while_another_makes_the_environment_waits_and_makes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []
    codes: list[int] = []
    asked = threading.Event()
    take = fcntl.flock

    def take_and_tell(held: TextIO, how: int) -> None:
        asked.set()
        take(held, how)

    monkeypatch.setattr(environment, "make", made.append)
    (root / ".make").mkdir()
    with (root / ".make" / "lock").open("w") as other:
        take(other, fcntl.LOCK_EX)
        monkeypatch.setattr(fcntl, "flock", take_and_tell)
        second = threading.Thread(target=lambda: codes.append(environment.main(root)))
        second.start()
        assert asked.wait(10)
        finish(root)
    second.join(10)
    assert (made, codes) == ([], [0])


def test_the_first_holds_the_lock_while_it_makes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(place: Path) -> None:
        with (place / ".make" / "lock").open("w") as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finish(place)

    monkeypatch.setattr(environment, "make", make)
    assert environment.main(root) == 0
    assert environment.is_current(root)


def test_a_full_disk_is_said_in_one_line_with_both_sizes(root: Path) -> None:
    with pytest.raises(
        environment.EnvironmentFailedError, match=r"^not enough disk for \.venv: \d+ MB free .+ MB needed$"
    ):
        environment.check_machine(root, needed_mb=10**12)


def test_a_failing_step_ends_in_one_line_that_names_the_log(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = root / "log"
    fail = "import sys; print('Collecting six'); print('ERROR: no such version'); print('hint: none'); sys.exit(1)"
    with pytest.raises(environment.EnvironmentFailedError) as caught:
        environment.run(log, [sys.executable, "-c", fail], "cannot install")
    assert str(caught.value) == f"cannot install: ERROR: no such version (all of it: {log})"
    assert capsys.readouterr().out == ""


def test_a_python_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    script = str(ROOT / "deploy" / "find-python")
    absent = subprocess.run(
        ["/bin/sh", script, str(tmp_path / "python3.8")], capture_output=True, text=True, check=False
    )
    assert absent.returncode == 1
    assert absent.stderr.splitlines() == [
        f"no Python 3.11 or later found in {tmp_path / 'python3.8'}: install one, or name it: "
        "make PYTHON=/path/to/python3.11"
    ]
    given = subprocess.run(["/bin/sh", script, sys.executable], capture_output=True, text=True, check=True)
    assert given.stdout.strip() == sys.executable
