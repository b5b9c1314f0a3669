"""Runs a reducer over topics in a random interleaving, in random batches, through restarts and lost deliveries."""

import random
from collections.abc import Callable, Sequence
from typing import TypeAlias

from aiokafka.structs import ConsumerRecord

from streams.delivery.reducer import AgentSpec
from tests.agents.runs import Run, Watermark

Event: TypeAlias = ConsumerRecord | Watermark
Sent: TypeAlias = tuple[str, bytes, bytes, int]


async def in_any_order(
    spec: AgentSpec,
    topics: Sequence[Sequence[Event]],
    order: random.Random,
    check: Callable[[Run, int | None], None] = lambda _run, _promise: None,
) -> Run:
    """Feed all events, the order within each topic kept; the last watermark of each topic is heard again at the end.

    A batch may be lost between the delivery of its outputs and that of its state: it is then reduced again. `check`
    looks at the run and its promise after each unit of work.
    """
    run = Run(spec.reducer, spec.inputs)
    left = [list(topic) for topic in topics]
    last = [next(event for event in reversed(topic) if isinstance(event, Watermark)) for topic in topics]
    weights = [order.random() + 0.05 for _ in topics]
    while any(left):
        batch: list[Event] = []
        for _ in range(order.choice([1, 3, 10, 60])):
            numbers = [number for number, events in enumerate(left) if events]
            if numbers:
                number = order.choices(numbers, [weights[number] for number in numbers])[0]
                batch.append(left[number].pop(0))
        kept = dict(run.table)
        check(run, await run.work(batch))
        if order.random() < 0.1:
            run.table.clear()
            run.table.update(kept)
            run.restart()
            await run.work(batch)
        elif order.random() < 0.15:
            run.restart()
    check(run, await run.work(last))
    return run


async def in_one_go(spec: AgentSpec, topics: Sequence[Sequence[Event]]) -> Run:
    """Feed all events, one topic after the other, as one unit of work."""
    run = Run(spec.reducer, spec.inputs)
    await run.work([event for topic in topics for event in topic])
    return run


def sent_once(run: Run) -> list[Sent]:
    """Return what was sent, in order, exact repeats left out."""
    sent = [(output.topic.name, output.key, output.value, output.timestamp_ms) for output in run.outputs]
    return list(dict.fromkeys(sent))
