"""The engine as a process of its own, started, killed and started again."""

import sys
from pathlib import Path

from referee.embedded.process import ServerProcess
from referee.settings import Settings

COMMAND = (sys.executable, "-m", "referee", "worker", "--role", "engine", "--no-create")
ROOT = Path(__file__).parents[2]
NOWHERE = "http://127.0.0.1:9"


def settings_for(kafka: str, prefix: str, venue_url: str = NOWHERE, second_url: str = NOWHERE) -> Settings:
    """Return the settings of a worker on an embedded broker."""
    return Settings(kafka=kafka, broker="tansu", topic_prefix=prefix, hyperliquid_url=venue_url, bybit_url=second_url)


class Engine:
    """A worker of the role engine; it logs to `engine.log`."""

    def __init__(self, settings: Settings, logs: Path, command: tuple[str, ...] = COMMAND) -> None:
        self._settings = settings
        self._log = logs / "engine.log"
        self._command = command
        self._process: ServerProcess | None = None

    def __enter__(self) -> "Engine":
        self.start(*self._command)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stop()

    @property
    def process(self) -> ServerProcess:
        """Return the process that was started last."""
        assert self._process is not None
        return self._process

    def start(self, *command: str) -> None:
        """Start the worker, or another command in its place."""
        environment = self._settings.environment() | {"PYTHONPATH": str(ROOT)}
        self._process = ServerProcess("engine", command or COMMAND, self._log, environment=environment)

    def kill(self) -> None:
        """Kill the worker as `kill -9` does."""
        self.process.kill()

    def resident_bytes(self) -> int:
        """Return how much memory the worker holds."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * 4096
