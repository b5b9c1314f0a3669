"""A worker process: the agents of a role on one Faust app, until it is told to stop or something fails."""

import asyncio
import signal
import tempfile
from contextlib import AsyncExitStack
from dataclasses import replace

import structlog

from referee.agents import Role, agents_of
from referee.settings import Settings
from streams.app import RefereeApp
from streams.delivery.publisher import Publisher
from streams.delivery.shell import AgentShell
from streams.provision import create_topics

SINK_FETCH_PAUSE_S = 0.25

log = structlog.get_logger()


async def run_worker(settings: Settings, role: Role, *, create: bool = True) -> int:
    """Run the agents of a role until SIGINT or SIGTERM and return the exit code: 1 when an agent or the app failed.

    With `create` the topics are created first; they must exist before the app starts.
    """
    bus = settings.bus()
    if role == "sink":
        # nobody waits for a sink, so it need not ask the broker often
        bus = replace(bus, group=f"{bus.group}-sink", fetch_pause_s=SINK_FETCH_PAUSE_S)
    async with AsyncExitStack() as stack:
        data = stack.enter_context(tempfile.TemporaryDirectory(prefix="referee-worker-"))
        specs = await agents_of(role, settings, stack)
        if create:
            await create_topics(bus, specs, replication=settings.replication)
        publisher = await stack.enter_async_context(
            Publisher(bus.bootstrap, prefix=bus.prefix, idempotent=bus.idempotent)
        )
        app = RefereeApp(bus, publisher, data)
        writers = {spec.name: spec for spec in specs}
        for spec in specs:
            AgentShell(app, spec, writers)
        app.finalize()
        return await _until_stopped(app, role)


async def _until_stopped(app: RefereeApp, role: Role) -> int:
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, asked.set)
    await app.start()
    log.info("worker_started", role=role, group=app.bus.group)
    waits = {asyncio.create_task(asked.wait()), asyncio.create_task(app._crashed.wait())}
    _, left = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for task in left:
        task.cancel()
    failed = app.crashed
    if failed:
        log.error("worker_failed", role=role, reason=repr(app.crash_reason))
    await app.stop()
    log.info("worker_stopped", role=role)
    return 1 if failed else 0
