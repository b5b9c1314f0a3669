"""The engine with a chosen append of state held back for ever: its outputs are out, its state is not.

Arguments are `AGENT:N`, the N-th append of an agent that says something new; `AGENT:0` is its first one behind another
held one. A held append is reported on `progress` by the origin `held/AGENT`.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence

import orjson

from referee.logs import configure_logs
from referee.settings import Settings
from referee.worker import run_worker
from streams.delivery.outbox import Output
from streams.delivery.publisher import Publisher
from tests.integration.world import FIRST_MS
from topics.operations import Progress
from topics.registry import PROGRESS

Change = tuple[str, bytes | None]

SAYS_SOMETHING_NEW: Mapping[str, Callable[[Change], bool]] = {
    "ingress": lambda change: "/seen/" in change[0] and orjson.loads(change[1] or b'{"at":0}')["at"] > FIRST_MS,
    "settlement": lambda change: "/calls/" in change[0] and change[1] is None,
    "ledger": lambda change: "/appended/" in change[0],
}


class HoldingPublisher(Publisher):
    """Holds back the appends that it was told to."""

    left: dict[str, int]
    holds = False

    async def append_changes(
        self, changelog: str, partition: int, changes: Sequence[Change], timestamp_ms: int
    ) -> None:
        """Append, unless this one is to be held."""
        agent = changelog.split("-")[-2]
        if agent in self.left and any(map(SAYS_SOMETHING_NEW[agent], changes)):
            type(self).left[agent] -= 1
            if self.left[agent] == 0 or (self.left[agent] < 0 and self.holds):
                type(self).holds = True
                held = Progress(origin=f"held/{agent}", watermark=None, delivered=None)
                await self.send([Output(PROGRESS, b"held", held.encode(), timestamp_ms)])
                await asyncio.Event().wait()
        await super().append_changes(changelog, partition, changes, timestamp_ms)


if __name__ == "__main__":
    configure_logs()
    HoldingPublisher.left = {agent: int(number) for agent, number in (text.split(":") for text in sys.argv[1:])}
    vars(sys.modules["referee.worker"])["Publisher"] = HoldingPublisher
    sys.exit(asyncio.run(run_worker(Settings(), "engine", create=False)))
