"""What a record's page shows beside its score: counts, means, extremes and the curve."""

from collections import Counter
from collections.abc import Sequence

from rules.arena.numbers import DAY_S, HOUR_S, mean, round_to, total
from rules.arena.score import Outcome
from rules.arena.types import CurvePoint, Extreme, Interval, Metrics, Prediction, Score, Status


def record_days(first_s: int | None, as_of_s: int) -> float:
    """Return the days since the first entry, 0 before it and with none (Rule A8, days)."""
    return 0.0 if first_s is None else max(0.0, (as_of_s - first_s) / DAY_S)


def record_metrics(
    predictions: Sequence[Prediction],
    short_calls: frozenset[int],
    resolved: Sequence[Prediction],
    outcomes: Sequence[Outcome],
    score: Score,
    drop: float,
    days: float,
) -> Metrics:
    """Return the metrics of a record, unrounded (Rule A8).

    `predictions` are in call id order, `resolved` and `outcomes` in resolved order; `short_calls` are the ids
    of the predictions that want 5-minute candles.
    """
    by_status = Counter(row.status for row in predictions)
    ascending = sorted(resolved, key=lambda row: _number(row.net))
    revealed = [row for row in predictions if row.status is Status.REVEALED]
    returns = [outcome.net for outcome in outcomes]
    return Metrics(
        calls=len(predictions),
        revealed=by_status[Status.REVEALED],
        withheld=by_status[Status.WITHHELD],
        unscorable=by_status[Status.UNSCORABLE],
        pending=by_status[Status.PENDING],
        coverage=len(revealed) / len(resolved) if resolved else None,
        days=days,
        hit_rate=_hit_rate(revealed),
        mean_return=mean(returns) if returns else None,
        mean_move=mean([_number(row.move) for row in revealed]) if revealed else None,
        versus_coin=mean([each.net - score.beta * each.move for each in outcomes]) if outcomes else None,
        total_return=total(returns),
        t_stat=score.t_stat,
        max_drawdown=drop,
        average_horizon_hours=mean([row.horizon_s for row in revealed]) / HOUR_S if revealed else None,
        short_on_hourly=sum(1 for row in predictions if row.interval is Interval.HOURLY and row.call_id in short_calls),
        best=_extreme(ascending[-1]) if ascending else None,
        worst=_extreme(ascending[0]) if ascending else None,
    )


def record_curve(resolved: Sequence[Prediction], first_s: int | None, as_of_s: int) -> list[CurvePoint]:
    """Return the running value at the first entry, each UTC day's end and the moment (Rule A8, curve).

    `resolved` is in resolved order. A record without kept commits has no points.
    """
    if first_s is None:
        return []
    points = [CurvePoint(first_s, 1.0)]
    value, place = 1.0, 0
    day_end_s = (first_s // DAY_S + 1) * DAY_S
    while True:
        stop_s = min(day_end_s, as_of_s)
        while place < len(resolved) and _number(resolved[place].resolved_at_s) <= stop_s:
            value += _number(resolved[place].net)
            place += 1
        points.append(CurvePoint(day_end_s - 1 if stop_s == day_end_s else as_of_s, round_to(value, 5)))
        if day_end_s >= as_of_s:
            return points
        day_end_s += DAY_S


def _hit_rate(revealed: Sequence[Prediction]) -> float | None:
    if not revealed:
        return None
    return sum(1 for row in revealed if _number(row.net) > 0) / len(revealed)


def _extreme(row: Prediction) -> Extreme:
    worst = row.worst
    coin = row.coin if row.coin is not None or worst is None else worst.coin
    side = row.side if row.side is not None or worst is None else worst.side
    return Extreme(row.call_id, coin, int(_number(side)), round_to(_number(row.net), 5), row.status)


def _number(value: float | None) -> float:
    if value is None:
        raise ValueError("a resolved prediction has its numbers")
    return value
