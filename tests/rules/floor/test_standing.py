"""Standing, the Board and its week, seasons."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.canonical import canonical_sha256
from rules.floor.board import SettledCall, board_week, standings
from rules.floor.constants import HALF_LIFE_MS
from rules.floor.season import SEASON_0, Season, SeasonAgent, SeasonTable, season_table
from rules.floor.standing import StandingSum, plain_standing
from rules.floor.window import moment
from rules.market import DAY_MS, HOUR_MS, WEEK_MS

_MONDAY_MS = 1_750_032_000_000
_SETTLED = st.lists(
    st.tuples(st.floats(-600, 600), st.floats(0.02, 0.98), st.booleans(), st.integers(0, 200 * DAY_MS)), max_size=60
)


@given(_SETTLED, st.integers(0, 60 * DAY_MS))
def test_the_incremental_standing_is_the_plain_sum(rows: list[tuple[float, float, bool, int]], later_ms: int) -> None:
    kept = StandingSum()
    for row in rows:
        kept = kept.add(*row)
    now_ms = kept.as_of_ms + later_ms
    pairs = [(score, settled_at_ms) for score, _, _, settled_at_ms in rows]
    size = plain_standing([(abs(score), settled_at_ms) for score, settled_at_ms in pairs], now_ms)
    assert abs(kept.at(now_ms) - plain_standing(pairs, now_ms)) <= 1e-12 * size
    assert kept.settled == len(rows)


@given(_SETTLED.filter(bool), st.floats(-600, 600))
def test_a_correction_leaves_what_the_right_score_would_have_given(
    rows: list[tuple[float, float, bool, int]], wrong: float
) -> None:
    score, p, hit, settled_at_ms = rows[0]
    corrected = StandingSum().add(wrong, p, not hit, settled_at_ms)
    right = StandingSum()
    for row in rows[1:]:
        corrected, right = corrected.add(*row), right.add(*row)
    corrected = corrected.remove(wrong, p, not hit, settled_at_ms).add(score, p, hit, settled_at_ms)
    right = right.add(score, p, hit, settled_at_ms)
    now_ms = right.as_of_ms
    assert corrected.at(now_ms) == pytest.approx(right.at(now_ms), rel=1e-9, abs=1e-9)
    assert corrected.brier == pytest.approx(right.brier, abs=1e-12)


def test_thirty_days_halve_a_score_and_the_sum_does_not_look_back() -> None:
    kept = StandingSum().add(10.0, 0.6, True, 1_000)
    assert kept.at(1_000 + HALF_LIFE_MS) == 5.0
    with pytest.raises(ValueError, match="cannot look back"):
        kept.at(999)


def test_twenty_settled_calls_end_the_provisional_time() -> None:
    kept = StandingSum()
    for _ in range(19):
        kept = kept.add(1.0, 0.5, True, 0)
    assert kept.provisional
    assert not kept.add(1.0, 0.5, True, 0).provisional


def _call(call: str, agent: str, score: float | None = 1.0, at_ms: int = _MONDAY_MS, p: float = 0.5) -> SettledCall:
    status = "void" if score is None else "hit"
    return SettledCall(call, agent, p, status, score, at_ms, at_ms + DAY_MS, at_ms - HOUR_MS)  # type: ignore[arg-type]


def _calls(agent: str, count: int, score: float = 1.0, p: float = 0.5, at_ms: int = _MONDAY_MS) -> list[SettledCall]:
    return [_call(f"{agent}-{number}", agent, score, at_ms, p) for number in range(count)]


def test_the_board_breaks_ties_by_brier_then_calls_then_id() -> None:
    settled = [
        *_calls("b", 20, 1.0),
        *_calls("a", 20, 1.0),
        *_calls("calm", 20, 1.0, p=0.9),
        *_calls("busy", 40, 0.5),
        *_calls("new", 19, 99.0),
        _call("void", "new", None),
    ]
    rows = standings(["new", "a", "b", "busy", "calm", "idle"], settled, _MONDAY_MS)
    assert [(row.agent, row.rank) for row in rows] == [
        ("calm", 1),
        ("busy", 2),
        ("a", 3),
        ("b", 4),
        ("idle", None),
        ("new", None),
    ]
    assert rows[4].brier is None


def test_sums_that_differ_in_the_last_bit_are_equal_on_the_board() -> None:
    settled = [*_calls("b", 20, 0.1), *_calls("a", 19, 0.0), _call("a-20", "a", 2.0)]
    rows = standings(["b", "a"], settled, _MONDAY_MS)
    assert sum([0.1] * 20) != 2.0
    assert [row.agent for row in rows] == ["a", "b"]


def test_only_the_better_of_each_correlated_pair_counts_in_the_week() -> None:
    in_week_ms = _MONDAY_MS + DAY_MS
    settled = [
        _call("x", "a", 5.0, in_week_ms),
        replace(_call("y", "b", 3.0, in_week_ms), correlated_with=("x",)),
        replace(_call("z", "c", 1.0, in_week_ms), correlated_with=("x", "y")),
        replace(_call("w", "d", 2.0, in_week_ms), correlated_with=("old", "void", "unknown")),
        _call("old", "a", 50.0, _MONDAY_MS - 1),
        _call("void", "a", None, in_week_ms),
        _call("future", "a", 7.0, in_week_ms + 2),
    ]
    rows = board_week(["a", "b", "c", "d"], settled, in_week_ms + 1)
    assert [(row.agent, row.score) for row in rows] == [("a", 5.0), ("d", 2.0), ("b", 0.0), ("c", 0.0)]
    assert board_week(["b"], settled, _MONDAY_MS + WEEK_MS) == ()


def test_a_call_that_lost_one_pair_still_beats_its_others_and_ties_go_to_the_earlier_post() -> None:
    in_week_ms = _MONDAY_MS + DAY_MS
    settled = [
        _call("best", "a", 9.0, in_week_ms),
        replace(_call("mid", "b", 4.0, in_week_ms), correlated_with=("best",)),
        replace(_call("low", "c", 4.0, in_week_ms), correlated_with=("mid",), posted_at_ms=in_week_ms - 5),
    ]
    rows = {row.agent: row.score for row in board_week(["a", "b", "c"], settled, in_week_ms)}
    assert rows == {"a": 9.0, "b": 0.0, "c": 0.0}


_SEASON = Season(0, _MONDAY_MS, _MONDAY_MS + 10 * WEEK_MS)


def _table(
    settled: list[SettledCall], agents: list[SeasonAgent] | None = None, now_ms: int | None = None
) -> SeasonTable:
    listed = agents or [SeasonAgent(agent, f"op_{agent}", True, 0.9) for agent in ("a", "b")]
    return season_table(_SEASON, listed, settled, _SEASON.end_ms + WEEK_MS if now_ms is None else now_ms)


def test_a_season_freezes_when_its_last_settlement_is_final_voids_too() -> None:
    last = _call("last", "b", None, _SEASON.end_ms - 1)
    settled = [*_calls("a", 20), last]
    assert last.final_at_ms is not None
    assert not _table(settled, now_ms=last.final_at_ms - 1).frozen
    frozen = _table(settled, now_ms=last.final_at_ms)
    assert frozen.hash == canonical_sha256([row.as_json() for row in frozen.rows])
    assert not _table([*settled, replace(last, call="open", final_at_ms=None)]).frozen
    assert _table([*settled, replace(last, call="next", settled_at_ms=_SEASON.end_ms, final_at_ms=None)]).frozen


def test_season_0_is_the_last_four_months_of_2026() -> None:
    assert moment(SEASON_0.start_ms) == datetime(2026, 9, 1, tzinfo=UTC)
    assert moment(SEASON_0.end_ms) == datetime(2027, 1, 1, tzinfo=UTC)
    assert SEASON_0.holds(SEASON_0.start_ms)
    assert not SEASON_0.holds(SEASON_0.end_ms)


@pytest.mark.parametrize(
    ("agent", "count", "listed"),
    [
        (SeasonAgent("a", "op", True, 0.9), 20, True),
        (SeasonAgent("a", "op", True, 0.9), 19, False),
        (SeasonAgent("a", "op", True, 0.899), 20, False),
        (SeasonAgent("a", "op", True, None), 20, False),
        (SeasonAgent("a", "op", False, 1.0), 20, False),
    ],
)
def test_who_is_listed_in_a_season(agent: SeasonAgent, count: int, listed: bool) -> None:
    assert bool(_table(_calls("a", count), [agent]).rows) is listed


def test_an_operator_has_its_first_three_of_those_that_pass_the_rest() -> None:
    agents = [SeasonAgent(name, "op", name != "e", 1.0) for name in "abcde"] + [SeasonAgent("z", "other", True, 1.0)]
    settled = [call for place, name in enumerate("zabcde") for call in _calls(name, 20, float(place))]
    assert [(row.rank, row.agent) for row in _table(settled, agents).rows] == [(1, "d"), (2, "c"), (3, "b"), (4, "z")]


def test_season_scores_do_not_decay_and_settlements_at_the_end_are_outside() -> None:
    settled = [
        *_calls("a", 20, 1 / 3),
        _call("end", "a", 50.0, _SEASON.end_ms),
        _call("early", "a", 50.0, _MONDAY_MS - 1),
    ]
    row = _table(settled).rows[0]
    assert (row.score, row.settled, row.brier) == (6.666667, 20, 0.25)
    assert math.isfinite(row.score)
