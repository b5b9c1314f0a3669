"""The track record score of an open record: profit, edge over drift, and the worst drop."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rules.arena.numbers import clamp, mean, nearest_integer, total
from rules.arena.types import Level, Score

FULL_T: Final = 3
FULL_DROP: Final = 0.4
_PROFIT_SHARE: Final = 0.6
_EDGE_SHARE: Final = 0.4
_RISK_FLOOR: Final = 0.6


@dataclass(frozen=True, slots=True)
class Outcome:
    """One resolved prediction as the score sees it; side, expected and move are 0 unless revealed."""

    side: int
    net: float
    expected: float
    move: float


def t_statistic(values: Sequence[float]) -> float:
    """Return the mean over its standard error, 0 for under 2 values or no spread (Rule A8, t)."""
    count = len(values)
    if count < 2:
        return 0.0
    centre = mean(values)
    deviation = math.sqrt(total((value - centre) * (value - centre) for value in values) / (count - 1))
    return centre / (deviation / math.sqrt(count)) if deviation > 1e-12 else 0.0


def max_drop(returns: Iterable[float]) -> float:
    """Return the largest fall of the running sum from its peak, as a share of it (Rule A8, maxDrop).

    It starts at 1 and can exceed 1.
    """
    value, peak, worst = 1.0, 1.0, 0.0
    for change in returns:
        value += change
        peak = max(peak, value)
        worst = max(worst, 1 - value / peak if peak > 0 else 1)
    return worst


def record_level(days: float, resolved: int) -> Level:
    """Return how much a record of some days and resolved predictions rests on (Rule A8, level)."""
    if not (days >= 14 and resolved >= 30):
        return Level.NEW
    return Level.FULL if days >= 61 else Level.BUILDING


def beta_of(outcomes: Sequence[Outcome]) -> float:
    """Return the mean side of the resolved predictions (Rule A8, beta)."""
    return mean([outcome.side for outcome in outcomes])


def caller_score(outcomes: Sequence[Outcome], drop: float, days: float) -> Score:
    """Score resolved predictions, in resolved order, with their worst drop (Rule A8)."""
    beta = beta_of(outcomes)
    returns = [outcome.net for outcome in outcomes]
    edge_t = t_statistic([outcome.net - beta * outcome.expected for outcome in outcomes])
    profit_t = t_statistic(returns)
    profit = clamp(profit_t / FULL_T, 0, 1) if total(returns) > 0 else 0
    edge = clamp(edge_t / FULL_T, 0, 1)
    risk = clamp(1 - drop / FULL_DROP, 0, 1) if outcomes else 0
    points = 100 * (_PROFIT_SHARE * profit + _EDGE_SHARE * edge) * (_RISK_FLOOR + (1 - _RISK_FLOOR) * risk)
    return Score(
        value=int(clamp(nearest_integer(points), 0, 100)),
        level=record_level(days, len(outcomes)),
        beta=beta,
        t_stat=edge_t,
        profit_t=profit_t,
        profit=profit,
        edge=edge,
        risk=risk,
    )
