"""An open record settled as of a moment: statuses, prices, metrics, score and curve in one pure call."""

from collections.abc import Sequence
from dataclasses import dataclass

from rules.arena.drift import drift_rates, expected_move
from rules.arena.loading import LoadPlan, Window, candidates, first_entry_s, own_coins, plan_loads
from rules.arena.lookups import PriceBook, build_book
from rules.arena.metrics import record_curve, record_days, record_metrics
from rules.arena.pricing import Books, price_call
from rules.arena.score import Outcome, caller_score, max_drop
from rules.arena.status import is_truncated, open_calls
from rules.arena.symbols import spellings
from rules.arena.types import (
    Commit,
    CurvePoint,
    Interval,
    Market,
    Metrics,
    OpenRecord,
    Prediction,
    Reveal,
    Score,
    Status,
)


@dataclass(frozen=True, slots=True)
class OpenResult:
    """A record's settlement as of a moment; predictions in ascending call id.

    `exits_unread` are the ids of revealed predictions whose salt carries a stop or a target: they stay pending.
    """

    predictions: tuple[Prediction, ...]
    metrics: Metrics
    score: Score
    curve: tuple[CurvePoint, ...]
    truncated: bool
    exits_unread: tuple[int, ...]


def score_open(
    record: OpenRecord,
    commits: Sequence[Commit],
    reveals: Sequence[Reveal],
    market: Market,
    listed: Sequence[str],
    as_of_s: int,
) -> OpenResult:
    """Settle and score an open record as of a moment (Rules A1 to A4, A6 to A8).

    `market` holds at least the rows of `required_loads`; rows beyond them change nothing. `listed` is the
    exchange's list of perps in its order and spelling. The order of commits and reveals changes nothing.
    """
    known = spellings(listed)
    calls = open_calls(record, commits, reveals, known, as_of_s)
    plan = plan_loads(record, calls, known, as_of_s)
    books = _books(market, plan, as_of_s)
    judged_over = candidates(record, known)
    predictions = tuple(price_call(call, books, judged_over, as_of_s) for call in calls)

    first_s = first_entry_s(calls)
    own = own_coins(record, calls, known)
    rates = drift_rates(books.hourly if plan.hourly else None, own, first_s, as_of_s)
    resolved = resolved_order(predictions)
    outcomes = [outcome_of(row, rates) for row in resolved]
    drop = max_drop(outcome.net for outcome in outcomes)
    days = record_days(first_s, as_of_s)
    score = caller_score(outcomes, drop, days)
    short_calls = frozenset(call.commit.call_id for call in calls if call.is_short)
    return OpenResult(
        predictions=predictions,
        metrics=record_metrics(predictions, short_calls, resolved, outcomes, score, drop, days),
        score=score,
        curve=tuple(record_curve(resolved, first_s, as_of_s)),
        truncated=is_truncated(commits),
        exits_unread=tuple(call.commit.call_id for call in calls if call.exits_unread),
    )


def resolved_order(predictions: Sequence[Prediction]) -> list[Prediction]:
    """Return the predictions with a net return by the time they resolved, then call id (Rule A8)."""
    resolved = [(row.resolved_at_s, row.call_id, row) for row in predictions if row.resolved_at_s is not None]
    return [row for _, _, row in sorted(resolved, key=lambda item: item[:2])]


def outcome_of(row: Prediction, rates: dict[str, float]) -> Outcome:
    """Return a resolved prediction as the score sees it, with its coin's drift over the hold (Rule A8)."""
    if row.net is None:
        raise ValueError(f"call {row.call_id}: no net return, status {row.status}")
    if row.status is not Status.REVEALED or row.coin is None or row.side is None or row.move is None:
        return Outcome(side=0, net=row.net, expected=0.0, move=0.0)
    return Outcome(row.side, row.net, expected_move(rates.get(row.coin), row.horizon_s), row.move)


def _books(market: Market, plan: LoadPlan, as_of_s: int) -> Books:
    hourly = _book(market, plan.hourly, as_of_s) if plan.hourly else PriceBook(Interval.HOURLY, {})
    return Books(hourly, _book(market, plan.fine, as_of_s) if plan.fine else None)


def _book(market: Market, window: Window, as_of_s: int) -> PriceBook:
    return build_book(market, window.interval, window.coins, window.from_s, window.to_s, as_of_s)
