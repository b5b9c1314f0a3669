"""Tests of the Standing that follows each settlement."""

import random
from collections.abc import Sequence

import pytest
from aiokafka.structs import ConsumerRecord
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import standing
from rules.floor.standing import plain_standing
from tests.agents.records import RecordMaker
from tests.agents.runs import Run, Watermark
from topics.floor import Settlement, Standing
from topics.registry import RESULTS, STANDINGS

T0 = 1_749_340_920_000
HOUR_MS = 3_600_000
SPEC = standing.spec()
record = RecordMaker("test.")


def settlement(call: str, settled_at: int, score: float | None, agent: str = "a", p: float = 0.7) -> Settlement:
    """Return a settlement: a hit for a score above 0, a miss below, a void for none."""
    status = "void" if score is None else "hit" if score > 0 else "miss"
    return Settlement.model_validate(
        {
            "id": f"{call}/1", "call": call, "attempt": 1, "agent": agent, "operator": f"operator of {agent}",
            "coin": "BTC", "kind": "touch", "source": "hyperliquid:BTC:price", "claim": "BTC touches 1",
            "terms": {"kind": "touch", "level": 1.0}, "side": "up", "posted_at": T0 - HOUR_MS, "deadline": T0, "p": p,
            "b": 0.5, "baseline_version": "b-1", "rules": "floor-1.0", "status": status,
            "reason": "data_gap" if score is None else None, "value": None, "second_value": None, "raw_score": score,
            "weight": None if score is None else 1.0, "score": score, "settled_at": settled_at,
            "final_at": settled_at + 24 * HOUR_MS, "state": "provisional", "fetched": (),
        }
    )  # fmt: skip


def result(message: Settlement) -> ConsumerRecord:
    return record(RESULTS, message.agent, message, message.settled_at)


def run() -> Run:
    return Run(SPEC.reducer, SPEC.inputs)


def standings(done: Run) -> list[Standing]:
    return [Standing.decode(raw) for raw in done.sent(STANDINGS)]


async def test_a_settlement_waits_until_the_watermark_has_passed_it() -> None:
    done = run()
    assert await done.work([result(settlement("c", T0, 10.0))]) is None
    assert await done.work([Watermark(RESULTS, T0)]) == T0
    assert standings(done) == []
    done.restart()
    assert await done.work([Watermark(RESULTS, T0 + 1)]) == T0 + 1
    assert [one.standing for one in standings(done)] == [10.0]


async def test_voids_are_counted_apart_and_emitted_and_change_no_standing() -> None:
    done = run()
    settled = [settlement("c", T0, -40.0), settlement("d", T0 + 1, None), settlement("e", T0 + 2, 20.0, p=0.5)]
    await done.work([*map(result, settled), Watermark(RESULTS, T0 + 3)])
    assert [(one.settled, one.voids) for one in standings(done)] == [(1, 0), (1, 1), (2, 1)]
    assert [one.brier for one in standings(done)] == [pytest.approx(value) for value in (0.49, 0.49, 0.37)]
    assert standings(done)[1].standing == pytest.approx(-40.0)


async def test_an_agent_with_voids_alone_has_no_brier_and_is_provisional() -> None:
    done = run()
    await done.work([result(settlement("c", T0, None)), Watermark(RESULTS, T0 + 1)])
    assert standings(done) == [
        Standing(
            agent="a", operator="operator of a", at=T0, standing=0.0, settled=0, voids=1, brier=None, provisional=True
        )
    ]


async def test_an_agent_is_ranked_from_its_twentieth_settled_call_on() -> None:
    done = run()
    await done.work([*(result(settlement(f"c{n}", T0 + n, 1.0)) for n in range(20)), Watermark(RESULTS, T0 + 20)])
    assert [one.provisional for one in standings(done)] == [True] * 19 + [False]


async def test_a_call_counts_once_even_if_it_is_repeated_after_a_restart() -> None:
    done = run()
    await done.work([result(settlement("c", T0, 10.0)), result(settlement("c", T0, 10.0)), Watermark(RESULTS, T0 + 1)])
    done.restart()
    await done.work([result(settlement("c", T0, 10.0)), Watermark(RESULTS, T0 + 2)])
    assert [one.settled for one in standings(done)] == [1]


async def test_a_settlement_from_behind_the_watermark_still_counts() -> None:
    done = run()
    await done.work([result(settlement("c", T0, 10.0)), Watermark(RESULTS, T0 + 1)])
    late = settlement("d", T0 - 30 * 24 * HOUR_MS, 10.0)
    await done.work([result(late)])
    assert [(one.at, one.standing) for one in standings(done)] == [(T0, 10.0), (T0, 15.0)]


def season(seed: int) -> list[Settlement]:
    draw = random.Random(seed)
    return [
        settlement(
            f"call-{number:04d}",
            T0 + draw.randint(0, 90 * 24) * HOUR_MS,
            None if draw.random() < 0.1 else draw.uniform(-500.0, 100.0),
            draw.choice(["a", "b", "with/slash"]),
            round(draw.uniform(0.02, 0.98), 2),
        )
        for number in range(draw.randint(1, 120))
    ]


def plain(settled: Sequence[Settlement]) -> dict[str, list[tuple[float, int, int]]]:
    """Return (Standing, settled, voids) after each settlement of each agent, from the whole history each time."""
    found: dict[str, list[tuple[float, int, int]]] = {}
    history: dict[str, list[Settlement]] = {}
    for one in sorted(settled, key=lambda each: (each.settled_at, each.call)):
        past = history.setdefault(one.agent, [])
        past.append(one)
        scored = [(each.score, each.settled_at) for each in past if each.score is not None]
        value = plain_standing(scored, one.settled_at)
        found.setdefault(one.agent, []).append((value, len(scored), len(past) - len(scored)))
    return found


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), order=st.randoms(use_true_random=False))
async def test_any_order_batching_and_restart_gives_the_plain_sum_after_each_settlement(
    seed: int, order: random.Random
) -> None:
    settled = season(seed)
    arrived = list(settled)
    order.shuffle(arrived)
    done = run()
    while arrived:
        batch = [result(arrived.pop()) for _ in range(min(len(arrived), order.randint(1, 30)))]
        through = min((one.settled_at for one in arrived), default=T0 + 91 * 24 * HOUR_MS)
        await done.work([*batch, *([Watermark(RESULTS, through)] if order.random() < 0.5 or not arrived else [])])
        if order.random() < 0.2:
            done.restart()
    found: dict[str, list[Standing]] = {}
    for one in standings(done):
        found.setdefault(one.agent, []).append(one)
    expected = plain(settled)
    assert found.keys() == expected.keys()
    for agent, values in expected.items():
        assert [(one.settled, one.voids) for one in found[agent]] == [value[1:] for value in values]
        size = sum(abs(one.score or 0.0) for one in settled if one.agent == agent)
        sums = [one.standing for one in found[agent]]
        assert sums == [pytest.approx(value[0], rel=1e-9, abs=size * 1e-12) for value in values]
    assert not [key for key in done.remembered() if "/pending/" in key]
