"""Tests that no interleaving, batching, restart or repeat changes what is sealed."""

import random
from collections import Counter
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.sealing import sealed
from tests.agents.floor_messages import DAY_MS, HOUR_MS, T0, post, quote, settlement
from tests.agents.interleaving import Event, in_any_order, in_one_go, sent_once
from tests.agents.runs import Run, Watermark
from tests.agents.test_sealing import SPEC, asked, calls, ended, receipts
from topics.floor import Quote, Settlement
from topics.registry import QUOTES, RECEIPTS, RESULTS

DAYS = 8
END = T0 + (DAYS + 5) * DAY_MS


def some_quotes(draw: random.Random) -> list[Quote]:
    """Return quotes in the order of their posts, several of one millisecond, some of them the same call."""
    times = sorted(T0 + draw.randint(0, DAYS * 48) * (HOUR_MS // 2) for _ in range(draw.randint(1, 90)))
    found = []
    for offset, at in enumerate(times):
        refusal = draw.choice([None] * 8 + ["no_baseline", "claim_disagrees"])
        terms: dict[str, object] = {"kind": "touch", "level": float(draw.choice([110, 111, 112]))}
        found.append(quote(post(at, terms, offset=offset, agent=draw.choice("aab")), refusal))
    return found


def some_results(quotes: Sequence[Quote], draw: random.Random) -> list[Settlement]:
    """Return a settlement for every quote that may be sealed, whether it will be or not."""
    ends: dict[str, Settlement] = {}
    longest = draw.choice([8, 40, 150])
    for one in quotes:
        if one.refusal is None:
            call, _ = sealed(one, ranked=False)
            at = call.posted_at + draw.randint(3, longest) * (HOUR_MS // 2)
            ends[call.id] = settlement(call, at, draw.choice(["hit", "miss", "miss", "void"]))
    return sorted(ends.values(), key=lambda one: one.settled_at)


def plain_codes(quotes: Sequence[Quote], results: Sequence[Settlement]) -> dict[str, str | None]:
    """Return each post's code, counted anew from everything before it."""
    ends = {one.call: one for one in results}
    found: dict[str, str | None] = {}
    taken: dict[str, Quote] = {}
    for one in sorted(quotes, key=lambda each: (each.post.posted_at, each.post.position.offset)):
        now, own = one.post.posted_at, {key: each for key, each in taken.items() if each.post.agent == one.post.agent}
        settled = [call for call in own if ends[call].settled_at <= now]
        is_provisional = sum(ends[call].status != "void" for call in settled) < 20
        today = sum(each.post.posted_at // DAY_MS == now // DAY_MS for each in own.values())
        if one.refusal is not None and one.refusal.code != "no_baseline":
            code: str | None = one.refusal.code
        elif today >= 6:
            code = "daily_cap"
        elif len(own) - len(settled) >= (5 if is_provisional else 20):
            code = "open_cap"
        else:
            code = None if one.refusal is None else one.refusal.code
        if code is None:
            taken[sealed(one, ranked=False)[0].id] = one
        found[one.post.id] = code
    return found


def topic_of_quotes(quotes: Sequence[Quote], draw: random.Random) -> list[Event]:
    """Return the topic: quotes of about one time in any order, watermarks, and repeats from behind them."""
    arrival = sorted(quotes, key=lambda one: (one.post.posted_at // (6 * HOUR_MS), draw.random()))
    events: list[Event] = []
    for number, one in enumerate(arrival):
        events.append(asked(one))
        least = min((later.post.posted_at for later in arrival[number + 1 :]), default=END)
        events.append(Watermark(QUOTES, least))
        if draw.random() < 0.15:
            events.append(asked(draw.choice(arrival[: number + 1])))
    return [*events, Watermark(QUOTES, END)]


def topic_of_results(results: Sequence[Settlement]) -> list[Event]:
    events: list[Event] = []
    for one in results:
        events += [Watermark(RESULTS, one.settled_at), ended(one)]
    return [*events, Watermark(RESULTS, END)]


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 100_000), order=st.integers(0, 100_000))
async def test_any_interleaving_batching_restart_and_repeat_seals_what_a_plain_count_seals(
    seed: int, order: int
) -> None:
    draw = random.Random(seed)
    quotes = some_quotes(draw)
    results = some_results(quotes, draw)
    topics = [topic_of_quotes(quotes, draw), topic_of_results(results)]

    def check(done: Run, promise: int | None) -> None:
        answered = {receipt.id for receipt in receipts(done)}
        waiting = [one.post.posted_at for one in quotes if one.post.id not in answered]
        assert promise is None or promise <= min(waiting, default=END)

    straight = await in_one_go(SPEC, topics)
    done = await in_any_order(SPEC, topics, random.Random(order), check)
    assert sorted(sent_once(done)) == sorted(sent_once(straight))
    assert done.remembered() == straight.remembered()
    assert {receipt.id: receipt.code for receipt in receipts(done)} == plain_codes(quotes, results)
    once = [sent for sent in sent_once(done) if sent[0] == RECEIPTS.name]
    assert len(once) == len(quotes)
    assert len(receipts(straight)) == len(quotes)
    accepted = [receipt.ref for receipt in receipts(straight) if receipt.status == "accepted"]
    assert set(Counter(call.id for call in calls(straight)).items()) == {(ref, 1) for ref in accepted}
    assert not [key for key in done.remembered() if "/quotes/" in key or "/results/" in key]
