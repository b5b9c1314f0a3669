"""Season tables: plain sums of final scores, frozen once and published with a hash (Rule F13)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rules.canonical import canonical_sha256
from rules.floor.board import SettledCall, board_order, brier_score, group_by_agent
from rules.floor.constants import SEASON_AGENTS_PER_OPERATOR, SEASON_PASS_RATE_MIN, SEASON_SETTLED_MIN
from rules.floor.rounding import r6


@dataclass(frozen=True, slots=True)
class Season:
    """A season from `start_ms` (inclusive) to `end_ms` (exclusive)."""

    id: int
    start_ms: int
    end_ms: int

    def holds(self, time_ms: int) -> bool:
        """Tell whether a time lies inside the season."""
        return self.start_ms <= time_ms < self.end_ms


SEASON_0 = Season(0, 1_788_220_800_000, 1_798_761_600_000)


@dataclass(frozen=True, slots=True)
class SeasonAgent:
    """What listing needs of an agent; `pass_rate` is None without spot checks in the 30 days."""

    id: str
    operator: str
    verified: bool
    pass_rate: float | None


@dataclass(frozen=True, slots=True)
class SeasonRow:
    """One row of a season table; score and Brier are r6."""

    rank: int
    agent: str
    operator: str
    score: float
    settled: int
    brier: float

    def as_json(self) -> dict[str, object]:
        """Return the row as it is published and hashed."""
        return {
            "rank": self.rank,
            "agent": self.agent,
            "operator": self.operator,
            "score": self.score,
            "settled": self.settled,
            "brier": self.brier,
        }


@dataclass(frozen=True, slots=True)
class SeasonTable:
    """A season's table of what is final; the hash exists once it is frozen."""

    frozen: bool
    rows: tuple[SeasonRow, ...]
    hash: str | None


def season_table(
    season: Season, agents: Iterable[SeasonAgent], settled: Sequence[SettledCall], now_ms: int
) -> SeasonTable:
    """Return a season's table at `now_ms`. Rule F13."""
    rows = _rows(season, agents, settled, now_ms)
    frozen = is_season_frozen(season, settled, now_ms)
    return SeasonTable(frozen, rows, canonical_sha256([row.as_json() for row in rows]) if frozen else None)


def is_season_frozen(season: Season, settled: Iterable[SettledCall], now_ms: int) -> bool:
    """Tell whether a season is over and every settlement of it, voids too, is final. Rule F13."""
    return now_ms >= season.end_ms and all(
        _is_final(call, now_ms) for call in settled if season.holds(call.settled_at_ms)
    )


def _rows(
    season: Season, agents: Iterable[SeasonAgent], settled: Sequence[SettledCall], now_ms: int
) -> tuple[SeasonRow, ...]:
    calls = group_by_agent(settled, lambda call: season.holds(call.settled_at_ms) and _is_final(call, now_ms))
    candidates = [
        _unplaced_row(agent, calls[agent.id])
        for agent in agents
        if agent.id in calls and _is_listed(agent, len(calls[agent.id]))
    ]
    candidates.sort(key=lambda row: board_order(row.score, row.brier, row.settled, row.agent))
    rows: list[SeasonRow] = []
    per_operator: dict[str, int] = {}
    for row in candidates:
        taken = per_operator.get(row.operator, 0)
        if taken < SEASON_AGENTS_PER_OPERATOR:
            per_operator[row.operator] = taken + 1
            rows.append(SeasonRow(len(rows) + 1, row.agent, row.operator, row.score, row.settled, row.brier))
    return tuple(rows)


def _unplaced_row(agent: SeasonAgent, calls: Sequence[SettledCall]) -> SeasonRow:
    total = 0.0
    for call in calls:
        total += call.score or 0.0
    return SeasonRow(0, agent.id, agent.operator, r6(total), len(calls), r6(brier_score(calls) or 0.0))


def _is_listed(agent: SeasonAgent, settled: int) -> bool:
    return (
        agent.verified
        and settled >= SEASON_SETTLED_MIN
        and agent.pass_rate is not None
        and agent.pass_rate >= SEASON_PASS_RATE_MIN
    )


def _is_final(call: SettledCall, now_ms: int) -> bool:
    return call.final_at_ms is not None and call.final_at_ms <= now_ms
