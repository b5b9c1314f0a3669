"""A settled open record as messages: an outcome a prediction, and the record's score."""

from agents.arena_records import RecordBook
from rules.arena.open_record import OpenResult
from rules.arena.types import Prediction
from topics import arena


def outcome_of(book: RecordBook, row: Prediction, at_ms: int) -> arena.Outcome:
    """Return a prediction's state; a coin that is not listed keeps the text that named it."""
    return arena.Outcome(
        id=book.outcome_id(row.call_id),
        record=book.key,
        owner=book.terms.owner,
        call_id=row.call_id,
        status=row.status.value,
        horizon_s=row.horizon_s,
        locked_at_s=book.commits[row.call_id].locked_at_s,
        entry_at_s=row.entry_at_s,
        exit_at_s=row.exit_at_s,
        coin=row.symbol if row.coin is None else row.coin,
        side=row.side,
        candles=None if row.interval is None else row.interval.value,
        entry=row.entry,
        exit=row.exit,
        move=row.move,
        gross=row.gross,
        fee=row.fee,
        net=row.net,
        resolved_at_s=row.resolved_at_s,
        at=at_ms,
    )


def score_of(book: RecordBook, result: OpenResult, as_of_s: int) -> arena.Score:
    """Return a record's score as of a moment, with its curve and what stands beside it (Rule A8)."""
    score, metrics = result.score, result.metrics
    return arena.Score(
        id=f"{book.key}@{as_of_s}",
        record=book.key,
        owner=book.terms.owner,
        as_of_s=as_of_s,
        value=score.value,
        level=score.level.value,
        beta=score.beta,
        t_stat=score.t_stat,
        profit_t=score.profit_t,
        profit=score.profit,
        edge=score.edge,
        risk=score.risk,
        calls=metrics.calls,
        revealed=metrics.revealed,
        withheld=metrics.withheld,
        unscorable=metrics.unscorable,
        pending=metrics.pending,
        coverage=metrics.coverage,
        days=metrics.days,
        hit_rate=metrics.hit_rate,
        mean_return=metrics.mean_return,
        total_return=metrics.total_return,
        max_drawdown=metrics.max_drawdown,
        curve=tuple(arena.CurvePoint(t=point.time_s, v=point.value) for point in result.curve),
    )
