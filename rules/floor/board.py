"""The Board: order of agents by Standing, and the Board week with its correlation rule (Rules F7, F9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rules.floor.rounding import r6
from rules.floor.standing import is_provisional, plain_standing
from rules.floor.window import week_start_ms
from rules.market import WEEK_MS


@dataclass(frozen=True, slots=True)
class SettledCall:
    """A settled call as tables read it; score None for a void, `final_at_ms` None while that is not known."""

    call: str
    agent: str
    p: float
    status: Literal["hit", "miss", "void"]
    score: float | None
    settled_at_ms: int
    final_at_ms: int | None
    posted_at_ms: int
    correlated_with: tuple[str, ...] = ()

    @property
    def squared_error(self) -> float:
        """Return (p − h)² of a hit or miss. Rule F9."""
        return (self.p - (1.0 if self.status == "hit" else 0.0)) ** 2


@dataclass(frozen=True, slots=True)
class StandingRow:
    """One agent on the Board; rank is None while it is provisional."""

    agent: str
    standing: float
    settled: int
    brier: float | None
    provisional: bool
    rank: int | None


@dataclass(frozen=True, slots=True)
class WeekRow:
    """One ranked agent's sum of scores in the Board week."""

    agent: str
    score: float


def board_order(standing: float, brier: float | None, settled: int, agent: str) -> tuple[float, float, int, str]:
    """Return the key that sorts agents into Board order; sums and means compare by their r6. Rules F9, F13."""
    return (-r6(standing), 1.0 if brier is None else r6(brier), -settled, agent)


def brier_score(calls: Sequence[SettledCall]) -> float | None:
    """Return the mean of (p − h)² over hits and misses in their order, None without any. Rule F9."""
    total = 0.0
    for call in calls:
        total += call.squared_error
    return total / len(calls) if calls else None


def standings(agents: Iterable[str], settled: Sequence[SettledCall], now_ms: int) -> tuple[StandingRow, ...]:
    """Return every agent in Board order at `now_ms`, provisional ones last by id. Rule F9."""
    by_agent = group_by_agent(settled, lambda call: call.settled_at_ms <= now_ms)
    rows = [_standing_row(agent, by_agent.get(agent, []), now_ms) for agent in agents]
    ranked = sorted(
        (row for row in rows if not row.provisional),
        key=lambda row: board_order(row.standing, row.brier, row.settled, row.agent),
    )
    provisional = sorted((row for row in rows if row.provisional), key=lambda row: row.agent)
    placed = [
        StandingRow(row.agent, row.standing, row.settled, row.brier, False, rank)
        for rank, row in enumerate(ranked, start=1)
    ]
    return (*placed, *provisional)


def board_week(ranked: Iterable[str], settled: Sequence[SettledCall], now_ms: int) -> tuple[WeekRow, ...]:
    """Sum the ranked agents' scores of the Monday-to-Monday week that holds `now_ms`, best first. Rule F7."""
    start_ms = week_start_ms(now_ms)
    end_ms = start_ms + WEEK_MS
    in_week = {
        call.call: call
        for call in settled
        if call.status != "void" and start_ms <= call.settled_at_ms < end_ms and call.settled_at_ms <= now_ms
    }
    beaten = beaten_calls(in_week)
    listed = frozenset(ranked)
    sums: dict[str, float] = {}
    for call in in_week.values():
        if call.agent in listed:
            counted = 0.0 if call.call in beaten else call.score or 0.0
            sums[call.agent] = sums.get(call.agent, 0.0) + counted
    rows = [WeekRow(agent, total) for agent, total in sums.items()]
    return tuple(sorted(rows, key=lambda row: (-r6(row.score), row.agent)))


def beaten_calls(in_week: Mapping[str, SettledCall]) -> frozenset[str]:
    """Return the calls that lose a correlated pair, each pair judged by itself, whichever call names it. Rule F7."""
    return frozenset(
        max(call, in_week[other], key=_pair_order).call
        for call in in_week.values()
        for other in call.correlated_with
        if other in in_week and other != call.call
    )


def group_by_agent(
    settled: Iterable[SettledCall], counts: Callable[[SettledCall], bool]
) -> dict[str, list[SettledCall]]:
    """Group the hits and misses that count by agent, in their order."""
    grouped: dict[str, list[SettledCall]] = {}
    for call in settled:
        if call.status != "void" and counts(call):
            grouped.setdefault(call.agent, []).append(call)
    return grouped


def _standing_row(agent: str, calls: Sequence[SettledCall], now_ms: int) -> StandingRow:
    scores = ((call.score or 0.0, call.settled_at_ms) for call in calls)
    return StandingRow(
        agent,
        plain_standing(scores, now_ms),
        len(calls),
        brier_score(calls),
        is_provisional(len(calls)),
        None,
    )


def _pair_order(call: SettledCall) -> tuple[float, int, str]:
    return (-(call.score or 0.0), call.posted_at_ms, call.call)
