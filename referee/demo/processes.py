"""The processes of a run: workers and pages, each a process of its own, watched so that an early end is noticed."""

import asyncio
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from referee.embedded.process import ServerProcess
from referee.settings import Settings


class RunProcesses:
    """Starts `referee …` children with given settings and stops them all at the end."""

    def __init__(self, settings: Settings, logs: Path) -> None:
        self._environment = settings.environment()
        self._logs = logs
        self._processes: list[ServerProcess] = []
        self.failure: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._watches: list[asyncio.Task[None]] = []
        self._stopping = False

    def start(self, name: str, *arguments: str) -> None:
        """Start `referee ARGUMENTS`, logging to `NAME.log`."""
        command = [sys.executable, "-m", "referee", *arguments]
        process = ServerProcess(name, command, self._logs / f"{name}.log", environment=self._environment)
        self._processes.append(process)
        self._watches.append(asyncio.create_task(self._watch(process)))

    async def _watch(self, process: ServerProcess) -> None:
        await asyncio.to_thread(process.wait_end)
        if not self._stopping and not self.failure.done():
            self.failure.set_result(process.reason_of_end())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping = True
        await asyncio.gather(*(asyncio.to_thread(process.stop) for process in self._processes))
        await asyncio.gather(*self._watches)
