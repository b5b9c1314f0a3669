"""The whole demo as a plain batch program: recorded files and sent envelopes in, everything settled out.

It shares the rulebooks with the referee and nothing else: no stream, no agent, no table. What the clock of a run
decides is said here in words: steps end 125 s after a whole 5 minutes, the settleable list is read once an hour by the
first of them, a settlement is due when the clock has reached it, an Arena evaluation 120 s after its moment.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rules.arena.commitment import Deployment
from rules.market import DAY_MS, HOUR_MS
from tests.demo.envelopes import Sent, in_order
from tests.demo.plain_arena import Arena
from tests.demo.plain_floor import Floor
from tests.demo.plain_market import ASKED_AFTER_S
from tests.demo.recorded import Recorded

PAST_BOUNDARY_MS = 125_000


@dataclass(frozen=True)
class Recomputed:
    """Both halves at the end of the run."""

    floor: Floor
    arena: Arena
    end_ms: int


def recompute(recorded: Recorded, sent: Iterable[Sent], deployment: Deployment, first_ms: int, days: int) -> Recomputed:
    """Settle everything that was sent over so many days from `first_ms`, a whole day in ms."""
    start_ms = first_ms + PAST_BOUNDARY_MS
    end_ms = first_ms + days * DAY_MS
    floor = Floor(recorded, list(range(start_ms, end_ms + 1, HOUR_MS)), end_ms)
    arena = Arena(recorded, deployment)
    for request in in_order(sent):
        (floor.take if request.kind.startswith("floor.") else arena.take)(request)
    arena.evaluate(end_ms // 1_000 - ASKED_AFTER_S)
    return Recomputed(floor, arena, end_ms)
