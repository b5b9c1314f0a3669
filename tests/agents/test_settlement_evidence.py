"""Tests that the kept bytes are the answers, and that they alone give the settlement again."""

import base64
import hashlib
from collections.abc import Iterable, Mapping

import orjson
import pytest

from agents.settlement import facts_of
from agents.venue_reading import CANDLES_A_REQUEST
from rules.floor.settle import VenueReading, decide
from rules.market import Candle
from streams.venues.base import VenueCandle
from streams.venues.bybit import parse_bybit_kline
from streams.venues.hyperliquid import parse_candle_snapshot, parse_listed
from tests.agents.court import GRACE_MS, MINUTE_MS, court, recorded, sealed, some_calls
from tests.agents.floor_messages import DAY_MS, FIVE_MINUTES_MS, HOUR_MS
from tests.referee.simulated.rig import ms
from topics.floor import Call, Evidence, Settlement


def as_rules(rows: Iterable[VenueCandle]) -> tuple[Candle, ...]:
    return tuple(Candle(row.open_time_ms, row.open, row.high, row.low, row.close, row.volume) for row in rows)


def reading_of(one: Settlement, kept: Mapping[str, Evidence]) -> VenueReading:
    """Return what a settlement's kept bytes say, parsed anew."""
    candles: dict[str, tuple[Candle, ...]] = {}
    second = None
    listed: set[str] = set()
    for fetched in one.fetched:
        evidence = kept[fetched.sha256]
        raw = base64.b64decode(evidence.body, validate=True)
        assert hashlib.sha256(raw).hexdigest() == evidence.sha256
        assert (evidence.status, fetched.status) == (200, 200)
        if fetched.venue == "bybit":
            second = as_rules(parse_bybit_kline(raw))
            continue
        request = orjson.loads(fetched.request)
        if request["type"] == "candleSnapshot":
            coin = request["req"]["coin"]
            candles[coin] = (*candles.get(coin, ()), *as_rules(parse_candle_snapshot(raw)))
        else:
            assert request == {"type": "meta"}
            listed |= set(parse_listed(raw))
    assert one.coin in listed
    return VenueReading(candles=candles, second=second)


async def test_a_settlement_is_decided_again_from_its_kept_bytes_alone() -> None:
    calls = [
        *some_calls(5, 20, ("BTC", "ETH", "SOL"), "2025-06-03T00:00", 10),
        sealed("ETH", "2025-06-08T09:07", "2025-06-08T11:00"),
        sealed("HYPE", "2025-06-08T09:07", "2025-06-08T11:00"),
        sealed("FARTCOIN", "2025-06-08T12:07", "2025-06-08T14:00"),
    ]
    by_id = {call.id: call for call in calls}
    async with court("2025-06-02T20:00") as at:
        await at.tick(ms("2025-06-09T00:00"), calls)
        found, kept = at.settlements, at.evidence
    assert len(found) == len(calls)
    for one in found:
        decision = decide(facts_of(by_id[one.call]), reading_of(one, kept), one.settled_at)
        assert (decision.status, decision.reason, decision.value) == (one.status, one.reason, one.value)
        assert (decision.second_value, decision.decided_at_ms) == (one.second_value, one.settled_at)


async def test_the_kept_rows_are_the_recorded_rows_of_the_window_and_end_at_the_deadline() -> None:
    call = sealed("SOL", "2025-06-03T12:07", "2025-06-04T14:00")
    async with court("2025-06-03T12:00") as at:
        await at.tick(ms("2025-06-10T00:00"), [call])
        (one,), kept = at.settlements, at.evidence
    reading = reading_of(one, kept)
    first, end = call.posted_at - call.posted_at % FIVE_MINUTES_MS, call.fields.deadline
    assert reading.candles is not None
    assert reading.candles["SOL"] == tuple(
        row for row in recorded("hyperliquid", "SOL") if first <= row.open_time_ms < end
    )
    assert reading.second is not None
    assert reading.second[-1] == next(
        row for row in recorded("bybit", "SOL") if row.open_time_ms == end - FIVE_MINUTES_MS
    )


async def test_answers_that_led_to_nothing_are_not_kept_and_those_that_did_are_named_with_their_attempt() -> None:
    call = sealed("BTC", "2025-06-03T12:07", "2025-06-03T14:00")
    async with court("2025-06-03T12:00") as at:
        for _ in range(3):
            at.venue.refuse_next(500, b"null")
        await at.tick(call.fields.deadline + GRACE_MS, [call])
        assert at.run.outputs == []
        await at.tick(call.fields.deadline + GRACE_MS + MINUTE_MS)
        (one,), kept = at.settlements, at.evidence
    assert {fetched.at for fetched in one.fetched} == {call.fields.deadline + GRACE_MS + MINUTE_MS}
    assert {fetched.sha256 for fetched in one.fetched} == set(kept)
    assert sorted(fetched.venue for fetched in one.fetched) == ["bybit", "hyperliquid", "hyperliquid"]


@pytest.mark.parametrize("most", [100, CANDLES_A_REQUEST])
async def test_a_window_longer_than_a_request_is_read_in_parts_without_a_seam(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.venue_reading.CANDLES_A_REQUEST", most)
    calls: list[Call] = []
    for hours in (3, 26, 24 * 13):
        posted = ms("2025-06-02T12:07:13")
        rows = [row for row in recorded("hyperliquid", "BTC") if row.open_time_ms >= posted]
        high = max(row.high for row in rows if row.open_time_ms < posted + hours * HOUR_MS)
        deadline = posted // HOUR_MS * HOUR_MS + hours * HOUR_MS
        calls.append(sealed("BTC", posted, deadline, {"kind": "range", "low": 1.0, "high": high * 2}))
    async with court("2025-06-02T12:00") as at:
        await at.tick(ms("2025-06-02T12:00") + 14 * DAY_MS, calls)
        found = {one.deadline: one for one in at.settlements}
    halt_ms = ms("2025-06-08T09:45")
    for call in calls:
        one = found[call.fields.deadline]
        inside = [
            row
            for row in recorded("hyperliquid", "BTC")
            if call.posted_at <= row.open_time_ms < call.fields.deadline and row.volume > 0
        ]
        if call.fields.deadline > halt_ms:
            assert one.reason == "venue_halt"
        else:
            assert one.value == (min(row.low for row in inside), max(row.high for row in inside))
        own = [fetched for fetched in one.fetched if '"coin":"BTC"' in fetched.request]
        assert len(own) == -(-(call.fields.deadline - call.posted_at) // (most * FIVE_MINUTES_MS))
