"""Tests of deadlines as timers, and of what is decided from the answers of a running venue."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from agents.settlement import facts_of
from rules.floor.settle import VenueReading, decide, score
from tests.agents.court import (
    GRACE_MS,
    MINUTE_MS,
    PATIENCE_MS,
    changed,
    court,
    recorded,
    sealed,
    some_calls,
)
from tests.agents.floor_messages import DAY_MS, HOUR_MS
from tests.referee.simulated.rig import SAMPLE, ms
from topics.floor import Call
from topics.operations import Entry
from topics.registry import ENTRIES, EVIDENCE, RESULTS, SETTLEMENTS

BYBIT_COINS = ("BTC", "ETH", "SOL")


def plain_ending(call: Call) -> tuple[object, ...]:
    """Return (status, reason, value, second value, settled at) from all rows that were ever recorded."""
    venues = {coin: recorded("hyperliquid", coin) for coin in {call.coin, *BYBIT_COINS}}
    second = recorded("bybit", call.coin) if call.coin in BYBIT_COINS else None
    last = call.fields.deadline + (GRACE_MS if second is not None else PATIENCE_MS)
    decision = decide(facts_of(call), VenueReading(candles=venues, second=second), last)
    settled_at = call.fields.deadline + GRACE_MS if decision.reason == "venue_halt" else decision.decided_at_ms
    return (decision.status, decision.reason, decision.value, decision.second_value, settled_at)


async def test_calls_end_as_the_rulebook_says_on_the_recorded_rows() -> None:
    calls = some_calls(1, 90, BYBIT_COINS, "2025-06-03T00:00", 30)
    async with court("2025-06-03T00:00") as at:
        await at.tick(ms("2025-06-05T08:00"), calls)
        found = {one.call: one for one in at.settlements}
    assert len(found) == len(at.settlements) == len(calls)
    for call in calls:
        one = found[call.id]
        assert (one.status, one.reason, one.value, one.second_value, one.settled_at) == plain_ending(call)
        assert one.status != "void"
        expected = score(call.fields.p, call.b, one.status == "hit")
        assert (one.raw_score, one.weight, one.score) == (expected.raw, 1.0, expected.score)
    counts = Counter((one.kind, one.status) for one in found.values())
    assert min(counts[kind, status] for kind in ("touch", "close", "range") for status in ("hit", "miss")) >= 3


@pytest.mark.parametrize("seed", range(4))
async def test_steps_batches_and_restarts_change_no_ending(seed: int) -> None:
    calls = some_calls(seed, 25, (*BYBIT_COINS, "HYPE", "FARTCOIN"), "2025-06-07T20:00", 16)
    order = random.Random(seed)
    now, end = ms("2025-06-07T20:00"), ms("2025-06-09T14:00")
    waiting = list(calls)
    async with court("2025-06-07T20:00") as at:
        promised = 0
        while now < end:
            now = min(end, now + order.choice([7_000, MINUTE_MS, 5 * MINUTE_MS, HOUR_MS, 5 * HOUR_MS]))
            arrived = [one for one in waiting if one.posted_at < now]
            waiting = [one for one in waiting if one.posted_at >= now]
            order.shuffle(arrived)
            seen = len(at.settlements)
            promise = await at.tick(now, arrived)
            assert all(one.settled_at >= promised for one in at.settlements[seen:])
            assert promise is not None
            promised = max(promised, promise)
            if order.random() < 0.3:
                at.run.restart()
        found = {one.call: one for one in at.settlements}
    assert len(at.settlements) == len(calls)
    for call in calls:
        one = found[call.id]
        assert (one.status, one.reason, one.value, one.second_value, one.settled_at) == plain_ending(call)
    assert {one.reason for one in found.values()} == {None, "venue_halt", "source_unavailable"}
    assert {key.split("/")[1] for key in at.run.remembered()} <= {"settled"}


@pytest.mark.parametrize("coin", ["BTC", "SOL", "HYPE"])
async def test_a_window_over_the_halt_is_void_and_rests_on_the_candles_of_the_reference_symbols(coin: str) -> None:
    call = sealed(coin, "2025-06-08T09:07:13", "2025-06-08T12:00")
    async with court("2025-06-08T09:00") as at:
        await at.tick(call.fields.deadline + GRACE_MS, [call])
        (one,) = at.settlements
    assert (one.status, one.reason, one.settled_at) == ("void", "venue_halt", call.fields.deadline + GRACE_MS)
    assert (one.value, one.second_value, one.raw_score, one.weight, one.score) == (None, None, None, None, None)
    asked = " ".join(fetched.request for fetched in one.fetched)
    assert all(f'"coin":"{symbol}"' in asked for symbol in {coin, *BYBIT_COINS})


async def test_a_hole_of_one_coin_alone_is_a_data_gap() -> None:
    call = sealed("BTC", "2025-06-08T11:31", "2025-06-08T18:30")
    async with court("2025-06-08T11:00", changed(("hyperliquid", "BTC", "5m"), "volume", "0.0")) as at:
        await at.tick(call.fields.deadline + GRACE_MS, [call])
        assert [(one.status, one.reason) for one in at.settlements] == [("void", "data_gap")]


@pytest.mark.parametrize("step_ms", [MINUTE_MS, 5 * MINUTE_MS, 3 * HOUR_MS], ids=["minute", "five", "jump"])
@pytest.mark.parametrize("reason", ["source_unavailable", "venues_disagree"])
async def test_after_an_hour_of_asking_in_vain_a_call_is_void_whatever_the_steps(step_ms: int, reason: str) -> None:
    alone = reason == "source_unavailable"
    sample = SAMPLE if alone else changed(("bybit", "BTC", "5m"), "close", "1000.0")
    call = sealed("HYPE" if alone else "BTC", "2025-06-08T12:07:13", "2025-06-08T14:00")
    async with court("2025-06-08T12:00", sample) as at:
        now = call.fields.deadline
        await at.tick(now, [call])
        while now < call.fields.deadline + 3 * HOUR_MS:
            now += step_ms
            promise = await at.tick(now)
            assert promise == now
            assert bool(at.settlements) is (now >= call.fields.deadline + PATIENCE_MS)
        (one,) = at.settlements
    assert (one.status, one.reason) == ("void", reason)
    assert one.settled_at == call.fields.deadline + 120_000 + 3_600_000
    assert one.final_at == one.settled_at + DAY_MS


@pytest.mark.parametrize(
    ("refusals", "minutes"),
    [([(500, b"")] * 2, 2), ([(429, b""), (200, b"<html>")], 2), ([(500, b"")] * 3, 3), ([(422, b"no")], 3)],
)
async def test_a_venue_in_trouble_is_asked_again_at_once_and_then_by_the_minute(
    refusals: list[tuple[int, bytes]], minutes: int
) -> None:
    call = sealed("BTC", "2025-06-03T12:07", "2025-06-03T14:00")
    async with court("2025-06-03T12:00") as at:
        await at.tick(call.fields.deadline, [call])
        for status, body in refusals:
            at.venue.refuse_next(status, body)
        await at.tick(call.fields.deadline + GRACE_MS)
        assert len(at.settlements) == (1 if minutes == 2 else 0)
        at.run.restart()
        await at.tick(call.fields.deadline + GRACE_MS + MINUTE_MS)
        (one,) = at.settlements
    assert (one.reason, one.settled_at) == (None, call.fields.deadline + minutes * MINUTE_MS)
    assert (one.status, one.reason, one.value, one.second_value) == plain_ending(call)[:4]


@pytest.mark.parametrize("silences", [1, 2])
async def test_a_venue_silent_after_an_outage_of_hours_is_asked_anew_before_its_silence_voids(silences: int) -> None:
    call = sealed("BTC", "2025-06-03T12:07", "2025-06-03T14:00")
    last = call.fields.deadline + PATIENCE_MS
    now = call.fields.deadline + 3 * HOUR_MS
    async with court("2025-06-03T12:00") as at:
        await at.tick(call.fields.deadline, [call])
        for second in range(silences):
            assert await at.silent_tick(now + second * 1_000) == last
            at.run.restart()
        assert at.settlements == []
        now += silences * 1_000
        assert await at.tick(now) == now
        (one,) = at.settlements
    assert (one.status, one.reason, one.value, one.second_value) == plain_ending(call)[:4]
    assert one.settled_at == last


@pytest.mark.parametrize("step_ms", [MINUTE_MS, 3 * HOUR_MS], ids=["minute", "jump"])
async def test_silence_voids_at_the_last_attempt_once_three_readings_after_the_hour_met_it(step_ms: int) -> None:
    call = sealed("BTC", "2025-06-03T12:07", "2025-06-03T14:00")
    last = call.fields.deadline + PATIENCE_MS
    now, after_the_hour = call.fields.deadline + PATIENCE_MS - 2 * MINUTE_MS, 0
    async with court("2025-06-03T12:00") as at:
        await at.tick(call.fields.deadline, [call])
        while after_the_hour < 3:
            assert at.settlements == []
            now += step_ms
            after_the_hour += now >= last
            promise = await at.silent_tick(now)
            assert promise == (now if after_the_hour in (0, 3) else last)
            at.run.restart()
        (one,) = at.settlements
    assert (one.status, one.reason, one.settled_at) == ("void", "source_unavailable", last)


@pytest.mark.parametrize("coin", ["MATIC", "BTC"])
async def test_a_coin_that_the_venue_marks_as_delisted_is_void(coin: str) -> None:
    universe = tuple({**row, "isDelisted": True} if row["name"] == coin else row for row in SAMPLE.universe)
    call = sealed(coin, "2025-06-03T12:07", "2025-06-03T14:00", {"kind": "range", "low": 0.1, "high": 10.0**6})
    async with court("2025-06-03T12:00", replace(SAMPLE, universe=universe)) as at:
        await at.tick(call.fields.deadline + GRACE_MS, [call])
        (one,) = at.settlements
    assert (one.status, one.reason, one.settled_at) == ("void", "delisted", call.fields.deadline + GRACE_MS)
    assert any(fetched.request == '{"type":"meta"}' for fetched in one.fetched)


async def test_a_call_is_settled_once_even_if_it_is_repeated_afterwards() -> None:
    call = sealed("BTC", "2025-06-03T12:07", "2025-06-03T14:00")
    async with court("2025-06-03T12:00") as at:
        await at.tick(call.fields.deadline + GRACE_MS - 1, [call, call])
        assert at.run.outputs == []
        await at.tick(call.fields.deadline + GRACE_MS, [call])
        sent = list(at.run.outputs)
        assert len(at.settlements) == 1
        await at.tick(call.fields.deadline + HOUR_MS, [call])
        at.run.restart()
        await at.tick(call.fields.deadline + 2 * HOUR_MS, [call])
        assert at.run.outputs == sent
        await at.tick(call.fields.deadline + 9 * DAY_MS)
        assert at.run.remembered() == {}


async def test_a_copy_counts_half() -> None:
    labels = {"baseline_hugging": False, "copy_of": "another", "correlated_with": ()}
    call = sealed("BTC", "2025-06-03T12:07", "2025-06-03T14:00", labels=labels)
    async with court("2025-06-03T12:00") as at:
        await at.tick(call.fields.deadline + GRACE_MS, [call])
        (one,) = at.settlements
    assert one.weight == 0.5
    assert one.raw_score is not None
    assert one.score == one.raw_score / 2 != 0


async def test_each_settlement_is_sent_by_call_and_by_agent_and_to_the_ledger_when_it_was_decided() -> None:
    calls = [
        sealed("HYPE", "2025-06-03T12:07", "2025-06-03T14:00"),
        sealed("ETH", "2025-06-03T12:07", "2025-06-03T14:00"),
    ]
    async with court("2025-06-03T12:00") as at:
        await at.tick(calls[0].fields.deadline + 3 * HOUR_MS, calls)
        by_call = {one.call: one for one in at.settlements}
        outputs = at.run.outputs
        entries = {entry.body["call"]: entry for entry in map(Entry.decode, at.run.sent(ENTRIES))}
    for call in calls:
        one, entry = by_call[call.id], entries[call.id]
        raw, at_ms = one.encode(), one.settled_at
        sent = [(output.topic, output.key.decode()) for output in outputs if output.value == raw]
        assert sent == [(SETTLEMENTS, call.id), (RESULTS, "ann")]
        assert {output.timestamp_ms for output in outputs if output.value == raw} == {at_ms}
        assert (entry.id, entry.kind, entry.at) == (f"{call.id}/0", "settle", at_ms)
        assert entry.body["type"] == ("void" if call.coin == "HYPE" else "settle")
        assert (entry.body["status"], entry.body["score"]) == (one.status, one.score)
        assert entry.body["evidence"] == sorted({fetched.sha256 for fetched in one.fetched})
    kept = [output.key for output in outputs if output.topic is EVIDENCE]
    assert len(kept) == len(set(kept))
    assert {fetched.sha256.encode() for one in by_call.values() for fetched in one.fetched} == set(kept)


async def test_the_promise_reaches_an_hour_and_two_minutes_beyond_the_calls_but_not_beyond_the_clock() -> None:
    start = ms("2025-06-03T12:00")
    async with court("2025-06-03T12:00") as at:
        assert await at.run.work([]) is None
        assert await at.tick(start + 5, calls_ms=start) == start + 5
        assert await at.tick(start + 3 * HOUR_MS, calls_ms=start + 1) == start + 1 + HOUR_MS + 2 * MINUTE_MS
        assert await at.tick(start + 3 * HOUR_MS, calls_ms=start + 3 * HOUR_MS) == start + 3 * HOUR_MS
