"""`floor-table` bundles: standings, the Board week and the season table, recomputed."""

from __future__ import annotations

from collections.abc import Mapping

from rules.floor.board import SettledCall, board_week, standings
from rules.floor.bundle.fields import BundleError, Fields
from rules.floor.constants import RULES_VERSION
from rules.floor.disputes import FINAL_STATUSES
from rules.floor.season import Season, SeasonAgent, season_table


def evaluate_table(document: Mapping[str, object]) -> dict[str, object]:
    """Recompute a `floor-table` bundle; raises BundleError when it is malformed. Rules F7, F9, F13."""
    bundle = Fields(document)
    if "rules" in bundle.raw:
        bundle.choice("rules", (RULES_VERSION,))
    now_ms = bundle.time_ms("now")
    season = _season(bundle.fields("season"))
    agents = _agents(bundle)
    settled = _settled(bundle, frozenset(agent.id for agent in agents))
    rows = standings((agent.id for agent in agents), settled, now_ms)
    week = board_week((row.agent for row in rows if not row.provisional), settled, now_ms)
    table = season_table(season, agents, settled, now_ms)
    return {
        "standings": [
            {
                "agent": row.agent,
                "standing": row.standing,
                "settled": row.settled,
                "brier": row.brier,
                "provisional": row.provisional,
                "rank": row.rank,
            }
            for row in rows
        ],
        "board_week": [{"agent": row.agent, "score": row.score} for row in week],
        "season": {"frozen": table.frozen, "rows": [row.as_json() for row in table.rows], "hash": table.hash},
    }


def _season(fields: Fields) -> Season:
    season = Season(fields.count("id"), fields.time_ms("start"), fields.time_ms("end"))
    if season.end_ms <= season.start_ms:
        raise BundleError(f"{fields.at('end')}: is {season.end_ms}; it must be after start, {season.start_ms}")
    return season


def _agents(bundle: Fields) -> tuple[SeasonAgent, ...]:
    agents: dict[str, SeasonAgent] = {}
    for fields in bundle.objects("agents"):
        pass_rate = None if fields.get("pass_rate") is None else fields.number("pass_rate")
        agent = SeasonAgent(fields.text("id"), fields.text("operator"), fields.flag("verified"), pass_rate)
        if agent.id in agents:
            raise BundleError(f"{fields.at('id')}: stands twice among the agents")
        agents[agent.id] = agent
    return tuple(agents.values())


def _settled(bundle: Fields, agents: frozenset[str]) -> tuple[SettledCall, ...]:
    settled: dict[str, SettledCall] = {}
    for fields in bundle.objects("settlements"):
        call = _settled_call(fields)
        if call.agent not in agents:
            raise BundleError(f"{fields.at('agent')}: is none of the agents")
        if call.call in settled:
            raise BundleError(f"{fields.at('call')}: stands twice among the settlements")
        settled[call.call] = call
    return tuple(settled.values())


def _settled_call(fields: Fields) -> SettledCall:
    status = fields.choice("status", FINAL_STATUSES)
    score = None if fields.get("score") is None else fields.number("score")
    if (score is None) != (status == "void"):
        raise BundleError(f"{fields.at('score')}: must be null exactly when the status is void, which is {status}")
    return SettledCall(
        call=fields.text("call"),
        agent=fields.text("agent"),
        p=fields.number("p"),
        status=status,
        score=score,
        settled_at_ms=fields.time_ms("settled_at"),
        final_at_ms=fields.optional_time_ms("final_at"),
        posted_at_ms=fields.time_ms("posted_at"),
        correlated_with=fields.texts("correlated_with"),
    )
