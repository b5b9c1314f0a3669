"""One child process that leaves no orphan: started under the guard, logged, awaited, stopped."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from typing import Final

GUARD: Final = Path(__file__).with_name("guard.py")
PROBE_INTERVAL_S: Final = 0.01
LOG_LINES_QUOTED: Final = 8
LOG_LINE_LIMIT: Final = 300
COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


class ServerFailedError(RuntimeError):
    """A server did not become ready, or ended by itself."""


class _Launcher:
    """Start children from one thread that lives as long as this process.

    Linux sends the parent-death signal when the *thread* that started the child ends, so a child started from a
    pool's short-lived thread would die with that thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner_pid = 0
        self._requests: SimpleQueue[tuple[Callable[[], subprocess.Popen[bytes]], Future[subprocess.Popen[bytes]]]]

    def start(self, request: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._owner_pid != os.getpid():
                self._owner_pid = os.getpid()
                self._requests = SimpleQueue()
                threading.Thread(target=self._serve, name="server-launcher", daemon=True).start()
        answer: Future[subprocess.Popen[bytes]] = Future()
        self._requests.put((request, answer))
        return answer.result()

    def _serve(self) -> None:
        while True:
            request, answer = self._requests.get()
            try:
                answer.set_result(request())
            except OSError as error:
                answer.set_exception(error)


_launcher = _Launcher()


class ServerProcess:
    """A running server: its process group, its log file and how it is told to end."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log_path: Path,
        *,
        environment: Mapping[str, str] | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
        watch: bool = False,
    ) -> None:
        """Start the command under the guard with its output appended to the log; raise OSError if it cannot start.

        ``watch`` forces the guard's way for systems without a parent-death signal.
        """
        self.name = name
        self.log_path = log_path
        self._stop_signal = stop_signal
        log_path.parent.mkdir(parents=True, exist_ok=True)
        self._log_start = log_path.stat().st_size if log_path.exists() else 0
        guarded = [sys.executable, "-I", "-S", str(GUARD), str(os.getpid()), *(["--watch"] if watch else [])]
        with log_path.open("ab") as log:
            self._process = _launcher.start(
                lambda: subprocess.Popen(
                    [*guarded, "--", *command],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **(environment or {})},
                    # A group of its own: Ctrl-C in the terminal reaches the parent only, which stops its servers.
                    process_group=0,
                )
            )

    @property
    def pid(self) -> int:
        """Return the server's process id (on Linux the guard has become the server)."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Return how the server ended, or None while it runs."""
        return self._process.poll()

    def wait_ready(self, is_ready: Callable[[], bool], deadline_s: float) -> None:
        """Probe until ready; raise ServerFailedError with the last log lines if it ends or ``deadline_s`` passes."""
        end = time.monotonic() + deadline_s
        while not is_ready():
            # Waiting on the child is the pause between two probes, so that an early end is seen at once.
            try:
                self._process.wait(timeout=PROBE_INTERVAL_S)
            except subprocess.TimeoutExpired:
                if time.monotonic() < end:
                    continue
                raise ServerFailedError(
                    f"{self.name} was not ready after {deadline_s:g} s (limit); {self._quote_log()}"
                ) from None
            raise ServerFailedError(self.reason_of_end())

    def wait_end(self) -> int:
        """Wait for the server to end by itself; return its exit code."""
        return self._process.wait()

    def reason_of_end(self) -> str:
        """Say in one line that the server ended, with its exit code and last log lines."""
        return f"{self.name} ended with exit code {self.exit_code}; {self._quote_log()}"

    def stop(self, grace_s: float = 5.0) -> None:
        """Ask the process group to end, and kill it after ``grace_s``; do nothing if it has ended."""
        if self._process.poll() is None:
            self._signal_group(self._stop_signal)
            try:
                self._process.wait(timeout=grace_s)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                self._signal_group(signal.SIGKILL)
                self._process.wait()

    def kill(self) -> None:
        """Kill the process group at once and reap it."""
        if self._process.poll() is None:
            self._signal_group(signal.SIGKILL)
        self._process.wait()

    def log_since_start(self) -> str:
        """Return what this process has logged."""
        with self.log_path.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def _signal_group(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return

    def _quote_log(self) -> str:
        plain = COLOUR.sub("", self.log_since_start())
        lines = [line.strip()[:LOG_LINE_LIMIT] for line in plain.splitlines() if line.strip()]
        if not lines:
            return f"it logged nothing to {self.log_path}"
        return f"{self.log_path} ends with: " + " | ".join(lines[-LOG_LINES_QUOTED:])
