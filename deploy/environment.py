"""Makes `.venv` from `requirements.lock` when it is missing or made from another; standard library only.

`make` runs it before everything else. Two at once are safe: the second waits for the first. What is wrong is said in
one line on stderr, with exit code 1.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
OLDEST_PYTHON: Final = (3, 11)
NEEDED_MB: Final = 2_500
"""Room for the environment and for the wheels while they are unpacked; chDB alone takes 550 MB."""


class EnvironmentFailedError(Exception):
    """The environment cannot be made; the text says why, in one line."""


def stamp_of(root: Path) -> str:
    """Return what an environment is made of: the lock, the Python, and the place, which its scripts name."""
    lock = hashlib.sha256((root / "requirements.lock").read_bytes()).hexdigest()
    return f"{lock} {sys.version_info.major}.{sys.version_info.minor} {root}\n"


def is_current(root: Path) -> bool:
    """Tell whether the environment under `root` was made, to the end, from what is there now."""
    stamp = root / ".venv" / "made-of"
    return stamp.is_file() and stamp.read_text() == stamp_of(root)


def check_machine(root: Path, needed_mb: int = NEEDED_MB) -> None:
    """Raise `EnvironmentFailedError` when this Python is too old or the disk too full."""
    if sys.version_info < OLDEST_PYTHON:
        raise EnvironmentFailedError(f"Python {sys.version.split()[0]} is too old: 3.11 or later is needed")
    free_mb = shutil.disk_usage(root).free // 1_000_000
    if free_mb < needed_mb:
        raise EnvironmentFailedError(f"not enough disk for .venv: {free_mb} MB free in {root}, {needed_mb} MB needed")


def make(root: Path) -> None:
    """Make the environment anew, with a progress line; raises `EnvironmentFailedError`."""
    check_machine(root)
    environment = root / ".venv"
    python = environment / "bin" / "python"
    lock = root / "requirements.lock"
    packages = sum(1 for line in lock.read_text().splitlines() if line and not line.startswith("#"))
    began_s = time.monotonic()
    say(f"making .venv: {packages} packages, 1.6 GB, some minutes")
    log = root / ".make" / "install.log"
    run(log, [sys.executable, "-m", "venv", "--clear", str(environment)], "cannot make .venv")
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--progress-bar", "off"]
    run(log, [*pip, "-r", str(lock)], "cannot install requirements.lock")
    run(log, [*pip, "--no-deps", "--no-build-isolation", "-e", str(root)], "cannot install referee")
    (environment / "made-of").write_text(stamp_of(root))
    say(f"made .venv in {time.monotonic() - began_s:.0f} s")


def run(log: Path, command: list[str], what_fails: str) -> None:
    """Run a command with its output in the log; raises `EnvironmentFailedError` with the line that says most."""
    with log.open("w+") as output:
        code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
        if code:
            output.seek(0)
            raise EnvironmentFailedError(f"{what_fails}: {telling_line(output.read())} (all of it: {log})")


def telling_line(text: str) -> str:
    """Return the last line that calls itself an error, or else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["it said nothing"])[-1]


def say(text: str) -> None:
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)


def main(root: Path = ROOT) -> int:
    """Make the environment under `root` unless it is current; return the exit code."""
    if is_current(root):
        return 0
    (root / ".make").mkdir(exist_ok=True)
    with (root / ".make" / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            if not is_current(root):
                make(root)
        except EnvironmentFailedError as error:
            say(str(error))
            return 1
        except KeyboardInterrupt:
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
