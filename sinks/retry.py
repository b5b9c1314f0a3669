"""Waits out a sink that is away: the same work again, with growing pauses, until it is done or cannot be."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from sinks.errors import RetriableSinkError

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0

log = structlog.get_logger()


async def patiently(
    work: Callable[[], Awaitable[None]], *, pause: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Await the work, again after each `RetriableSinkError`; any other error is raised.

    Nothing is lost meanwhile: the records stay unconsumed, and that holds back whoever feeds the sink.
    """
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            await work()
        except RetriableSinkError as error:
            log.warning("sink_away", error=str(error), retry_in_s=pause_s)
            await pause(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
        else:
            return
