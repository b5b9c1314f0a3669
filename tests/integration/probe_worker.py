"""The worker with the probe as its only agent, and with less patience."""

import asyncio
import sys
from contextlib import AsyncExitStack

from referee import worker
from referee.agents import Role
from referee.logs import configure_logs
from referee.settings import Settings
from streams import app
from streams.delivery.reducer import AgentSpec
from tests.streams.delivery.probe import probe_spec


async def agents_of(_role: Role, _settings: Settings, _stack: AsyncExitStack) -> tuple[AgentSpec, ...]:
    """Return the probe alone."""
    return (probe_spec(),)


if __name__ == "__main__":
    configure_logs()
    vars(worker)["agents_of"] = agents_of
    app.WATCH_EVERY_S, app.BROKER_AWAY_S, app.STOP_WITHIN_S = 0.2, 1.0, 2.0
    sys.exit(asyncio.run(worker.run_worker(Settings(), "engine", create=False)))
