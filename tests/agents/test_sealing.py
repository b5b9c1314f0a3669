"""Tests of the caps and the seal, in the order in which calls were posted."""

import pytest
from aiokafka.structs import ConsumerRecord
from pydantic import ValidationError

from agents import sealing
from rules.floor.seal import SealedBaseline, SealedFields, seal
from rules.floor.sources import Source
from rules.floor.terms import Close, Range, Touch
from streams.delivery.reducer import PoisonError
from tests.agents.floor_messages import DAY_MS, FIVE_MINUTES_MS, HOUR_MS, T0, post, quote, settlement
from tests.agents.interleaving import Event
from tests.agents.records import RecordMaker
from tests.agents.runs import Run, Watermark
from topics.floor import Call, OpenLevel, Quote, Settlement
from topics.ingress import Receipt
from topics.operations import Entry
from topics.registry import CALLS, ENTRIES, LEVELS, QUOTES, RECEIPTS, RESULTS

SPEC = sealing.spec()
MINUTE_MS = 60_000
record = RecordMaker("test.")


def asked(message: Quote) -> ConsumerRecord:
    return record(QUOTES, message.post.agent, message, message.post.posted_at)


def ended(message: Settlement) -> ConsumerRecord:
    return record(RESULTS, message.agent, message, message.settled_at)


def heard(at_ms: int) -> list[Event]:
    return [Watermark(QUOTES, at_ms), Watermark(RESULTS, at_ms)]


def run() -> Run:
    return Run(SPEC.reducer, SPEC.inputs)


def calls(done: Run) -> list[Call]:
    return [Call.decode(raw) for raw in done.sent(CALLS)]


def receipts(done: Run) -> list[Receipt]:
    return [Receipt.decode(raw) for raw in done.sent(RECEIPTS)]


def codes(done: Run) -> list[str | None]:
    return [receipt.code for receipt in receipts(done)]


async def answer(done: Run, at: int, offset: int, refusal: str | None = None) -> str | None:
    """Have one post answered when everything before it is known, and return the code of its receipt."""
    await done.work([asked(quote(post(at, offset=offset), refusal)), *heard(at + 1)])
    return codes(done)[-1]


async def season(done: Run, statuses: list[str]) -> int:
    """Seal and settle one call an hour of five a day for each status; returns the time after the last."""
    now = T0
    for number, status in enumerate(statuses):
        now = T0 + (number // 5) * DAY_MS + (number % 5) * HOUR_MS
        assert await answer(done, now, number) is None
        await done.work([ended(settlement(calls(done)[-1], now + HOUR_MS // 2, status))])
    return T0 + len(statuses) // 5 * DAY_MS + 12 * HOUR_MS


async def test_quotes_are_answered_by_time_and_then_by_position_whatever_order_they_came_in() -> None:
    done = run()
    posts = [post(T0 + 5, offset=3), post(T0, offset=10, agent="bob"), post(T0, offset=9), post(T0 + 1, offset=1)]
    await done.work([*(asked(quote(one)) for one in posts), *heard(T0 + 6)])
    assert [(one.at - T0, one.id) for one in receipts(done)] == [
        (0, "post-of-ann-9"),
        (0, "post-of-bob-10"),
        (1, "post-of-ann-1"),
        (5, "post-of-ann-3"),
    ]
    assert [one.post for one in calls(done)] == [one.id for one in receipts(done)]


async def test_a_quote_waits_for_earlier_quotes_and_for_earlier_settlements() -> None:
    done = run()
    assert await done.work([asked(quote(post(T0)))]) is None
    assert await done.work([Watermark(QUOTES, T0 + HOUR_MS)]) == T0
    assert await done.work([Watermark(RESULTS, T0)]) == T0
    assert receipts(done) == []
    done.restart()
    await done.work(heard(T0))
    assert receipts(done) == []
    assert await done.work([Watermark(RESULTS, T0 + 1)]) == T0
    assert await done.work([Watermark(QUOTES, T0 + 1)]) == T0 + 1
    assert codes(done) == [None]


async def test_the_seventh_call_of_a_utc_day_is_refused_and_midnight_begins_a_new_day() -> None:
    done = run()
    now = await season(done, ["hit"] * 20)
    midnight = now - now % DAY_MS + DAY_MS
    for number in range(6):
        assert await answer(done, midnight - 7 + number, 100 + number) is None
    assert await answer(done, midnight - 1, 106) == "daily_cap"
    for number in range(6):
        assert await answer(done, midnight + number, 107 + number) is None
    assert await answer(done, midnight + 6, 113) == "daily_cap"
    assert await answer(done, midnight + DAY_MS - 1, 114) == "daily_cap"
    assert await answer(done, midnight + DAY_MS, 115) is None


async def test_refused_posts_count_toward_no_cap() -> None:
    done = run()
    for number in range(10):
        assert await answer(done, T0 + number, number, "claim_disagrees") == "claim_disagrees"
    assert [await answer(done, T0 + 10 + number, 10 + number) for number in range(5)] == [None] * 5


async def test_a_provisional_agent_has_five_open_calls_at_most_and_other_agents_are_not_touched() -> None:
    done = run()
    assert [await answer(done, T0 + number, number) for number in range(6)] == [None] * 5 + ["open_cap"]
    await done.work([asked(quote(post(T0 + 10, agent="bob"))), *heard(T0 + 11)])
    assert codes(done)[-1] is None


@pytest.mark.parametrize(("settled_after", "code"), [(0, None), (1, "open_cap")])
async def test_a_call_that_settles_at_the_very_moment_of_a_post_is_open_no_more(
    settled_after: int, code: str | None
) -> None:
    done = run()
    for number in range(5):
        await answer(done, T0 + number, number)
    at = T0 + 2 * HOUR_MS
    await done.work([ended(settlement(calls(done)[0], at + settled_after)), asked(quote(post(at, offset=9)))])
    done.restart()
    await done.work(heard(at + 1))
    assert codes(done)[-1] == code


@pytest.mark.parametrize(("statuses", "most"), [(["hit", "miss"] * 10, 20), (["hit"] * 19 + ["void"] * 6, 5)])
async def test_twenty_settled_calls_that_are_no_voids_lift_the_cap_to_twenty(statuses: list[str], most: int) -> None:
    done = run()
    start = await season(done, statuses)
    start += DAY_MS - start % DAY_MS
    times = [start + number // 6 * DAY_MS + number % 6 for number in range(most + 1)]
    found = [await answer(done, at, 1_000 + number) for number, at in enumerate(times)]
    assert found == [None] * most + ["open_cap"]


async def test_the_caps_come_before_a_missing_baseline_and_behind_every_other_refusal() -> None:
    done = run()
    assert await answer(done, T0, 0, "no_baseline") == "no_baseline"
    for number in range(5):
        assert await answer(done, T0 + 1 + number, 1 + number) is None
    assert await answer(done, T0 + 10, 10, "no_baseline") == "open_cap"
    assert await answer(done, T0 + 11, 11, "terms_invalid") == "terms_invalid"


async def test_the_daily_cap_comes_before_the_open_cap() -> None:
    done = run()
    now = await season(done, ["hit"] * 20)
    now += DAY_MS - now % DAY_MS
    for number in range(20):
        assert await answer(done, now + number // 6 * DAY_MS + number % 6, 100 + number) is None
    assert await answer(done, now + 3 * DAY_MS + 100, 200) == "open_cap"
    await done.work([ended(settlement(one, now + 3 * DAY_MS + 100)) for one in calls(done)[-4:]])
    for number in range(4):
        assert await answer(done, now + 3 * DAY_MS + 101 + number, 300 + number) is None
    assert await answer(done, now + 3 * DAY_MS + 200, 400) == "daily_cap"


async def test_the_same_call_twice_in_one_millisecond_is_one_call_and_both_receipts_name_it() -> None:
    done = run()
    twins = [quote(post(T0, offset=0)), quote(post(T0, offset=1))]
    await done.work([*map(asked, reversed(twins)), *heard(T0 + 1)])
    (sealed,) = calls(done)
    assert sealed.post == "post-of-ann-0"
    assert [(one.id, one.ref) for one in receipts(done)] == [
        ("post-of-ann-0", sealed.id),
        ("post-of-ann-1", sealed.id),
    ]
    assert len(done.sent(ENTRIES)) == 1
    assert [await answer(done, T0 + 1 + number, 2 + number) for number in range(5)] == [None] * 4 + ["open_cap"]


async def test_a_quote_that_is_repeated_later_is_answered_once() -> None:
    done = run()
    asked_once = [quote(post(T0 + number, offset=number)) for number in range(6)]
    await done.work([*map(asked, asked_once), *heard(T0 + HOUR_MS)])
    sent = list(done.outputs)
    assert codes(done) == [None] * 5 + ["open_cap"]
    done.restart()
    await done.work([*map(asked, asked_once), *heard(T0 + HOUR_MS)])
    await done.work([*map(ended, (settlement(one, T0 + 2 * HOUR_MS) for one in calls(done))), *heard(T0 + 3 * HOUR_MS)])
    await done.work([*map(asked, asked_once)])
    assert done.outputs == sent
    assert await answer(done, T0 + 4 * HOUR_MS, 6) is None
    assert await answer(done, T0 + 4 * HOUR_MS + 1, 7) == "daily_cap"


@pytest.mark.parametrize(
    ("terms", "parsed"),
    [
        ({"kind": "touch", "level": 110.0}, Touch(110.0)),
        ({"kind": "close", "level": 99.5, "direction": "below"}, Close(99.5, "below")),
        ({"kind": "range", "low": 90.0, "high": 110.0}, Range(90.0, 110.0)),
    ],
)
async def test_the_call_is_named_by_its_seal_and_the_ledger_gets_what_the_seal_hashes(
    terms: dict[str, object], parsed: Touch | Close | Range
) -> None:
    done = run()
    of = post(T0, terms, source="hyperliquid:kPEPE:price", claim="pepe – ünïcode ∑", p=0.55)
    await done.work([asked(quote(of, b=0.512346)), *heard(T0 + 1)])
    (sealed,) = calls(done)
    fields = SealedFields(
        of.fields.claim, of.fields.deadline, "", 0.55, Source("hyperliquid", "kPEPE", "price"), parsed
    )
    assert sealed.id == seal("ann", fields, SealedBaseline(0.512346, "b-1"), T0)
    (entry,) = [Entry.decode(raw) for raw in done.sent(ENTRIES)]
    assert (entry.id, entry.kind, entry.at, entry.body["seal"]) == (sealed.id, "seal", T0, sealed.id)
    assert entry.body["document"]["fields"]["terms"] == terms
    assert sealed.labels.baseline_hugging
    levels = [OpenLevel.decode(raw) for raw in done.sent(LEVELS)]
    assert [(one.call, one.level, one.posted_at) for one in levels] == (
        [(sealed.id, 110.0, T0)] if terms["kind"] == "touch" else []
    )
    assert {output.timestamp_ms for output in done.outputs} == {T0}


async def test_what_is_no_quote_or_cannot_be_sealed_is_refused_before_anything_changes() -> None:
    done = run()
    broken = [
        quote(post(T0), b=None),
        quote(post(T0, {"kind": "touch", "level": 110.0}).model_copy(update={"fields": post(T0).fields.model_copy(
            update={"terms": {"kind": "touch"}})})),
        quote(post(T0, source="nowhere")),
    ]  # fmt: skip
    for message in broken:
        with pytest.raises(PoisonError, match="incomplete_quote"):
            await done.work([asked(message)])
    with pytest.raises(ValidationError):
        await done.work([record(QUOTES, "ann", b"{}", T0)])
    assert await done.work(heard(T0 + 1)) == T0 + 1
    assert done.outputs == []


async def test_the_promise_rests_on_the_quotes_alone() -> None:
    done = run()
    assert await done.work([Watermark(RESULTS, T0)]) is None
    done = run()
    assert await done.work([Watermark(QUOTES, T0)]) == T0
    assert await done.work([asked(quote(post(T0 + 7))), Watermark(QUOTES, T0 + FIVE_MINUTES_MS)]) == T0 + 7
    assert await done.work([Watermark(RESULTS, T0 + 8)]) == T0 + FIVE_MINUTES_MS


async def test_settled_calls_and_waiting_settlements_leave_nothing_behind() -> None:
    done = run()
    for number in range(3):
        await answer(done, T0 + number, number)
    await done.work([*map(ended, (settlement(one, T0 + HOUR_MS) for one in calls(done))), *heard(T0 + HOUR_MS)])
    assert [key for key in done.remembered() if "/results/" in key] != []
    await done.work(heard(T0 + HOUR_MS + 1))
    assert set(done.remembered()) == {"0/counts/ann"}
