"""The demo against the batch program: what was settled and scored follows from the recorded files and the envelopes."""

import base64
import hashlib
import json
import math
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from referee.demo.run import FIRST_DAY_MS
from rules.floor.volatility import volatility
from rules.market import DAY_MS, HOUR_MS
from tests.demo.finished_run import FinishedRun, Json, keyed
from topics.registry import (
    CALLS,
    CANDLES,
    EVIDENCE,
    FUNDING,
    OUTCOMES,
    RECEIPTS,
    SCORES,
    SETTLEMENTS,
    STANDINGS,
    TOUCHES,
    VOLATILITY,
)

HALT_DAY_MS = int(datetime(2025, 6, 8, tzinfo=UTC).timestamp()) * 1_000
HALT_BEGINS_MS = HALT_DAY_MS + 9 * HOUR_MS + 45 * 60_000
HALT_ENDS_MS = HALT_DAY_MS + 10 * HOUR_MS + 20 * 60_000


def without(messages: dict[tuple[Any, ...], Json], *names: str) -> dict[tuple[Any, ...], Json]:
    """Return messages without some of their fields."""
    return {
        key: {name: value for name, value in message.items() if name not in names} for key, message in messages.items()
    }


def test_every_sealed_call_equals_the_recomputed_one(run: FinishedRun) -> None:
    assert run.by(CALLS, "id") == keyed(run.recomputed.floor.calls, "id")


def test_every_settlement_equals_the_recomputed_one(run: FinishedRun) -> None:
    assert without(run.by(SETTLEMENTS, "id"), "fetched") == keyed(run.recomputed.floor.settlements, "id")


def test_every_standing_equals_a_sum_of_its_own(run: FinishedRun) -> None:
    key = ("agent", "at", "settled", "voids")
    published, plain = run.by(STANDINGS, *key), keyed(run.recomputed.floor.standings(), *key)
    assert without(published, "standing", "brier") == without(plain, "standing", "brier")
    assert [
        (place, published[place], row)
        for place, row in plain.items()
        if not is_near(published[place]["standing"], row["standing"])
        or not is_near(published[place]["brier"], row["brier"])
    ] == []


def is_near(one: float | None, other: float | None) -> bool:
    """Tell whether two numbers agree to 1e-9 relative; sums of scores of some hundred points may cancel to nothing."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-10)


def test_every_touch_equals_the_recomputed_one(run: FinishedRun) -> None:
    assert run.by(TOUCHES, "call") == keyed(run.recomputed.floor.touches, "call")


def test_a_touch_call_hits_exactly_where_its_level_was_touched(run: FinishedRun) -> None:
    touched = run.by(TOUCHES, "call").keys()
    decided = [one for one in run.sent(SETTLEMENTS) if one["kind"] == "touch" and one["status"] != "void"]
    assert {one["call"]: one["status"] == "hit" for one in decided} == {
        one["call"]: (one["call"],) in touched for one in decided
    }


def test_every_receipt_equals_the_recomputed_one(run: FinishedRun) -> None:
    expected = [*run.recomputed.floor.receipts, *run.recomputed.arena.receipts]
    assert without(run.by(RECEIPTS, "id"), "detail") == keyed(expected, "id")


def test_every_arena_outcome_equals_the_recomputed_one_each_time_it_changed(run: FinishedRun) -> None:
    assert run.by(OUTCOMES, "id", "at") == keyed(run.recomputed.arena.outcomes, "id", "at")


def test_every_arena_score_equals_the_recomputed_one_at_its_moment(run: FinishedRun) -> None:
    assert run.by(SCORES, "id") == keyed(run.recomputed.arena.scores, "id")


def test_candles_on_the_bus_are_the_recorded_ones(run: FinishedRun) -> None:
    end_ms = run.recomputed.end_ms
    expected = {}
    for interval, series, step_ms, back_ms in (
        ("5m", run.recorded.fine, 300_000, 2 * DAY_MS),
        ("1h", run.recorded.hourly, HOUR_MS, 31 * DAY_MS),
    ):
        first_ms = (FIRST_DAY_MS + 125_000 - back_ms) // step_ms * step_ms
        for coin, candles in series.items():
            for one in candles:
                if first_ms <= one.open_time_ms < end_ms - step_ms:
                    prices = (one.open, one.high, one.low, one.close, one.volume)
                    expected[coin, interval, one.open_time_ms] = prices
    closed = [message for message in run.sent(CANDLES) if message["type"] == "candle" and message["closed"]]
    published = {
        (message["coin"], message["interval"], message["open_time"]): tuple(
            message[name] for name in ("open", "high", "low", "close", "volume")
        )
        for message in closed
    }
    assert published == expected
    assert len(closed) == len(expected)


def test_funding_on_the_bus_is_the_recorded_funding(run: FinishedRun) -> None:
    first_ms = (FIRST_DAY_MS + 125_000 - 3 * DAY_MS) // HOUR_MS * HOUR_MS
    expected = {
        (coin, time_ms, rate)
        for coin, rows in run.recorded.funding.items()
        for time_ms, rate in rows
        if first_ms < time_ms <= run.recomputed.end_ms
    }
    published = [(one["coin"], one["time"], one["rate"]) for one in run.sent(FUNDING)]
    assert set(published) == expected
    assert len(published) == len(expected)


def test_rolling_volatility_agrees_with_the_plain_sum(run: FinishedRun) -> None:
    rows = [one for one in run.sent(VOLATILITY) if one["at"] >= FIRST_DAY_MS]
    plain = {(one["coin"], one["at"]): volatility(run.recorded.hourly[one["coin"]], one["at"]) for one in rows}
    hours = range(FIRST_DAY_MS, run.recomputed.end_ms, HOUR_MS)
    assert plain.keys() == {(coin, at_ms) for coin in run.recorded.hourly for at_ms in hours}
    assert [one for one in rows if not is_near(one["sigma"], plain[one["coin"], one["at"]])] == []


def test_each_settlement_rests_on_raw_answers_that_hold_the_recorded_rows(run: FinishedRun) -> None:
    bodies: dict[str, bytes] = {}
    for one in run.sent(EVIDENCE):
        raw = base64.b64decode(one["body"])
        assert hashlib.sha256(raw).hexdigest() == one["sha256"]
        bodies[one["sha256"]] = raw
    recorded = {
        (coin, one.open_time_ms): [one.open, one.high, one.low, one.close, one.volume]
        for coin, candles in run.recorded.fine.items()
        for one in candles
    }
    for settlement in run.sent(SETTLEMENTS):
        fetched = Counter(one["venue"] for one in settlement["fetched"])
        assert fetched["hyperliquid"] >= 2, "the universe and the window"
        assert settlement["status"] == "void" or fetched["bybit"] == 1
        answers = [json.loads(bodies[one["sha256"]]) for one in settlement["fetched"] if one["venue"] == "hyperliquid"]
        rows = [row for answer in answers for row in answer if "t" in row]
        shown = {(row["s"], row["t"]): [float(row[name]) for name in "ohlcv"] for row in rows}
        assert shown.items() <= recorded.items()
        opens = range(-(-settlement["posted_at"] // 300_000) * 300_000, settlement["deadline"], 300_000)
        assert shown.keys() >= {(settlement["coin"], at_ms) for at_ms in opens} & recorded.keys()


def test_the_days_settle_enough_of_every_kind_and_hold_a_void_of_the_halt(run: FinishedRun) -> None:
    settlements = run.sent(SETTLEMENTS)
    settled = Counter(one["kind"] for one in settlements if one["status"] != "void")
    assert min(settled["touch"], settled["close"], settled["range"]) >= 150
    last = {one["id"]: one for one in sorted(run.sent(OUTCOMES), key=lambda one: one["at"])}
    assert Counter(one["status"] for one in last.values())["revealed"] >= 100
    halted = [one for one in settlements if one["reason"] == "venue_halt"]
    assert any(one["posted_at"] <= HALT_BEGINS_MS and one["deadline"] >= HALT_ENDS_MS for one in halted)
    assert FIRST_DAY_MS <= HALT_DAY_MS < FIRST_DAY_MS + run.days * DAY_MS
