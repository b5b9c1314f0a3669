"""An embedded server of any kind: from its description to a ready address, and back to nothing."""

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from referee.embedded.ports import free_port, is_port_free
from referee.embedded.process import ServerFailedError, ServerProcess

START_ATTEMPTS: Final = 3
READY_WITHIN_S: Final = 60.0
PORT_LOST: Final = ("address already in use", "address in use")


@dataclass(frozen=True)
class ServerKind:
    """How one kind of server is started, probed, addressed and ended."""

    name: str
    command: Callable[[int, Path], Sequence[str]]
    """Prepare the data directory (given with the port) and return the command line."""
    is_ready: Callable[[int], bool]
    url: Callable[[int], str]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signal: signal.Signals = signal.SIGTERM
    stop_grace_s: float = 5.0


class EmbeddedServer:
    """One server under ``data/<name>``, logging to ``data/logs/<name>.log``, on a loopback port."""

    def __init__(self, kind: ServerKind, data: Path, port: int | None = None) -> None:
        """Describe the server; without a port a free one is taken at each attempt to start."""
        self.kind = kind
        self.data = data
        self._wanted_port = port
        self.port = 0
        self._process: ServerProcess | None = None

    @property
    def url(self) -> str:
        """Return the address that clients use."""
        return self.kind.url(self.port)

    @property
    def process(self) -> ServerProcess:
        """Return the running process; raise ServerFailedError before the start."""
        if self._process is None:
            raise ServerFailedError(f"{self.kind.name} has not been started")
        return self._process

    def spawn(self) -> None:
        """Start the process without waiting for it; raise ServerFailedError if the wanted port is taken."""
        if self._wanted_port is not None and not is_port_free(self._wanted_port):
            raise ServerFailedError(f"{self.kind.name}: port {self._wanted_port} on 127.0.0.1 is already taken")
        self.port = self._wanted_port if self._wanted_port is not None else free_port()
        directory = self.data / self.kind.name
        directory.mkdir(parents=True, exist_ok=True)
        self._process = ServerProcess(
            self.kind.name,
            self.kind.command(self.port, directory),
            self.data / "logs" / f"{self.kind.name}.log",
            environment=self.kind.environment,
            stop_signal=self.kind.stop_signal,
        )

    def wait_ready(self, deadline_s: float = READY_WITHIN_S) -> None:
        """Wait until clients are answered; take another port if this one was lost meanwhile.

        Raise ServerFailedError, with the end of the log, when the server ends or ``deadline_s`` passes.
        """
        end = time.monotonic() + deadline_s
        for attempt in range(1, START_ATTEMPTS + 1):
            process = self.process
            try:
                process.wait_ready(lambda: self.kind.is_ready(self.port), end - time.monotonic())
            except ServerFailedError:
                lost = any(sign in process.log_since_start().lower() for sign in PORT_LOST)
                process.kill()
                if self._wanted_port is not None or not lost or attempt == START_ATTEMPTS:
                    raise
                self.spawn()
                continue
            # A stranger who won the port may answer the probe while ours is ending.
            if process.exit_code is None:
                return
            raise ServerFailedError(process.reason_of_end())

    def start(self) -> None:
        """Start the process and wait until it answers."""
        self.spawn()
        self.wait_ready()

    def stop(self) -> None:
        """End the process if it was started."""
        if self._process is not None:
            self._process.stop(self.kind.stop_grace_s)
