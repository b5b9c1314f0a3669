"""What holds for every open record, whatever the market did and in whatever order it was told."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.arena.loading import required_loads
from rules.arena.numbers import round_to
from rules.arena.open_record import resolved_order, score_open
from rules.arena.pricing import return_of
from rules.arena.types import Candle, CoinRows, Commit, Interval, Level, OpenRecord, Reveal, Score, Status
from tests.rules.arena.strategies import DAY_S, LISTED, NAMES, START_S, Example, examples


@given(examples(), st.integers())
@settings(deadline=None)
def test_the_order_of_arrival_changes_nothing(example: Example, seed: int) -> None:
    assert example.shuffled(seed).settle() == example.settle()


@given(examples())
@settings(deadline=None)
def test_what_happens_after_the_moment_changes_nothing(example: Example) -> None:
    as_of_s = example.as_of_s
    past = replace(
        example,
        commits=[commit for commit in example.commits if commit.locked_at_s <= as_of_s],
        reveals=[reveal for reveal in example.reveals if reveal.at_s <= as_of_s],
        market={
            coin: CoinRows(
                [row for row in rows.hourly if row.time_s <= as_of_s],
                [row for row in rows.fine if row.time_s <= as_of_s],
                [row for row in rows.funding if row.time_s <= as_of_s],
            )
            for coin, rows in example.market.items()
        },
    )
    assert past.settle() == example.settle()


@given(examples())
@settings(deadline=None)
def test_a_coin_outside_the_required_loads_is_never_read(example: Example) -> None:
    record, as_of_s = example.record, example.as_of_s
    wanted = {load.coin for load in required_loads(record, example.commits, example.reveals, LISTED, as_of_s)}
    market = {coin: rows for coin, rows in example.market.items() if coin in wanted}
    assert replace(example, market=market).settle() == example.settle()


@given(examples())
@settings(deadline=None)
def test_a_score_and_its_parts_stay_in_their_ranges_and_the_counts_add_up(example: Example) -> None:
    result = example.settle()
    score, metrics = result.score, result.metrics
    assert 0 <= score.value <= 100
    assert all(0 <= part <= 1 for part in (score.profit, score.edge, score.risk))
    assert -1 <= score.beta <= 1
    resolved = metrics.revealed + metrics.withheld + metrics.unscorable
    assert resolved + metrics.pending == metrics.calls == len(result.predictions)
    assert len(resolved_order(result.predictions)) == resolved
    assert all((row.net is None) == (row.status is Status.PENDING) for row in result.predictions)
    assert metrics.max_drawdown >= 0


@given(examples())
@settings(deadline=None)
def test_a_curve_runs_from_one_to_the_sum_of_what_has_resolved(example: Example) -> None:
    result = example.settle()
    if not result.predictions:
        assert result.curve == ()
        return
    assert result.curve[0].value == 1
    value = 1.0
    for row in resolved_order(result.predictions):
        if row.net is not None and row.resolved_at_s is not None and row.resolved_at_s <= example.as_of_s:
            value += row.net
    assert result.curve[-1].value == round_to(value, 5)
    assert result.curve[-1].time_s in (example.as_of_s, example.as_of_s - 1)


@given(examples())
@settings(deadline=None)
def test_a_hidden_prediction_takes_the_losing_side(example: Example) -> None:
    for row in example.settle().predictions:
        if row.worst is not None and row.net is not None:
            better = return_of(-row.worst.side, row.worst.move)
            assert row.net <= better.net
            assert row.worst.gross <= 0


def test_a_record_without_commits_has_nothing() -> None:
    record = OpenRecord(1, "0x11", None, 300, 600, START_S)
    result = score_open(record, [], [], {}, LISTED, START_S)
    assert required_loads(record, [], [], LISTED, START_S) == []
    assert (result.predictions, result.curve, result.metrics.days) == ((), (), 0)
    assert result.score == Score(0, Level.NEW, 0, 0, 0, 0, 0, 0)


def test_only_the_last_five_thousand_commits_count_and_later_ones_count_as_truncated() -> None:
    record = OpenRecord(1, "0x11", None, 300, 600, START_S)
    commits = [Commit(call_id, bytes(32), START_S, START_S + 60, 300, call_id) for call_id in range(5001)]
    kept = score_open(record, commits, [], {}, LISTED, START_S)
    assert [kept.predictions[0].call_id, kept.predictions[-1].call_id] == [1, 5000]
    assert kept.truncated
    later = [*commits[:5000], replace(commits[5000], locked_at_s=START_S + 1)]
    known = score_open(record, later, [], {}, LISTED, START_S)
    assert (len(known.predictions), known.predictions[0].call_id, known.truncated) == (5000, 0, True)
    assert not score_open(record, commits[:5000], [], {}, LISTED, START_S).truncated


def test_a_prediction_is_withheld_a_second_after_its_deadline() -> None:
    record = OpenRecord(1, "0x11", tuple(NAMES), 300, 600, START_S)
    commit = Commit(0, bytes(32), START_S, START_S + 60, 300)
    deadline_s = START_S + 360 + 7 * DAY_S
    late = Reveal(0, deadline_s + 1, 1, 0, bytes(32))
    at_deadline = score_open(record, [commit], [late], {}, LISTED, deadline_s).predictions[0]
    assert (at_deadline.status, at_deadline.withheld_after_s) == (Status.PENDING, deadline_s)
    [after] = score_open(record, [commit], [], {}, LISTED, deadline_s + 1).predictions
    assert (after.status, after.resolved_at_s, after.net) == (Status.WITHHELD, deadline_s, -0.0006)


HOUR_RECORD = OpenRecord(1, "0x11", ("BTC",), 300, 7200, START_S)
FLAT = CoinRows([Candle(START_S + hour * 3600, 100.0, 100.0, 100.0, 100.0) for hour in range(3)])


def test_a_reveal_counts_from_its_own_second_on() -> None:
    commit = Commit(0, bytes(32), START_S, START_S + 3600, 3600)
    reveal = Reveal(0, START_S + 7300, 1, 0, bytes(32))
    before, at = (
        score_open(HOUR_RECORD, [commit], [reveal], {"BTC": FLAT}, LISTED, as_of_s).predictions[0].status
        for as_of_s in (START_S + 7299, START_S + 7300)
    )
    assert (before, at) == (Status.PENDING, Status.REVEALED)


def test_a_missing_exit_candle_is_waited_for_until_the_second_it_should_open() -> None:
    commit = Commit(0, bytes(32), START_S, START_S + 60, 7200)
    reveal = Reveal(0, START_S + 7260, 1, 0, bytes(32))
    waiting, missing = (
        score_open(HOUR_RECORD, [commit], [reveal], {"BTC": FLAT}, LISTED, as_of_s).predictions[0]
        for as_of_s in (START_S + 3 * 3600 - 1, START_S + 3 * 3600)
    )
    assert (waiting.status, waiting.coin, waiting.side, waiting.net) == (Status.PENDING, "BTC", 1, None)
    assert (missing.status, missing.net, missing.note) == (
        Status.UNSCORABLE,
        -0.0006,
        "no Hyperliquid price for this window",
    )


def test_a_record_of_less_than_an_hour_has_no_drift_to_divide_by() -> None:
    commit = Commit(0, bytes(32), START_S, START_S + 3600, 300)
    reveal = Reveal(0, START_S + 3900, 1, 0, bytes(32))
    fine = [Candle(START_S + 3600 + step * 300, 100.0 + step, 102.0, 99.0, 101.0) for step in range(3)]
    market = {"BTC": replace(FLAT, fine=fine)}
    result = score_open(HOUR_RECORD, [commit], [reveal], market, LISTED, START_S + 3900)
    assert result.predictions[0].move == 101 / 100 - 1
    # one prediction of side 1 has beta 1, so any drift would show in the excess over the coin's move
    assert result.metrics.versus_coin == pytest.approx(-0.0006, abs=1e-5)


def test_a_pending_short_hold_does_not_widen_the_fine_window() -> None:
    revealed = Commit(0, bytes(32), START_S, START_S + 60, 300)
    pending = Commit(1, bytes(32), START_S + 600, START_S + 660, 3540)
    reveal = Reveal(0, START_S + 360, 1, 0, bytes(32))
    loads = required_loads(HOUR_RECORD, [revealed, pending], [reveal], LISTED, START_S + 7200)
    assert [(load.coin, load.interval, load.from_s, load.to_s) for load in loads] == [
        ("BTC", Interval.HOURLY, START_S + 60 - DAY_S, START_S + 7200 + 3600),
        ("BTC", Interval.FINE, START_S + 60 - 3600, START_S + 360 + 3600),
    ]
