"""Tests that every hostile record is answered once, and that the engine neither grows nor stops."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.structs import RecordMetadata

from referee.embedded.server import EmbeddedServer
from rules.market import FIVE_MINUTES_MS, MINUTE_MS
from streams.delivery.outbox import Output
from streams.delivery.publisher import MAX_REQUEST_BYTES
from streams.signing import envelope_id, sign_envelope
from tests.integration.hostile import call_of, from_the_far_future, hostile_records, mebibyte, unknown_coin
from tests.integration.world import FIRST_MS, World, wallet, world
from tests.streams.delivery.reader import Reader
from topics.ingress import Envelope, Receipt
from topics.registry import DEAD_LETTERS, INGRESS, RECEIPTS

pytestmark = pytest.mark.embedded

AGENT = "agent-0"
RECORDS = 5_000
GROWTH_BYTES = 24 * 1024 * 1024


async def sent(running: World, outputs: Sequence[Output]) -> list[RecordMetadata]:
    """Send records as anybody could, and return where they stand."""
    name = running.bus.topic_name(INGRESS)
    async with AIOKafkaProducer(
        bootstrap_servers=running.bus.bootstrap, max_request_size=MAX_REQUEST_BYTES, linger_ms=2
    ) as producer:
        futures = [
            await producer.send(name, out.value, out.key, out.partition, out.timestamp_ms, list(out.headers))
            for out in outputs
        ]
        return list(await asyncio.gather(*futures))


def place(receipt: Receipt) -> tuple[int, int]:
    """Return the partition and offset that the id of a rejection ends with."""
    _, partition, offset = receipt.id.rsplit(":", 2)
    return int(partition), int(offset)


async def test_every_hostile_record_is_answered_once_and_a_good_call_is_sealed_afterwards(
    broker: EmbeddedServer, logs: Path
) -> None:
    async with world(broker.url, "hostile.", logs) as running, Reader(running.bus, RECEIPTS, DEAD_LETTERS) as answers:
        await running.open()
        await running.settled(FIRST_MS)
        known = len(await answers.until(RECEIPTS, len(running.sent)))
        registered = next(out for out in running.sent if out.key == AGENT.encode())
        at_ms = FIRST_MS + MINUTE_MS
        kinds = list(hostile_records(AGENT, registered, at_ms, running.bus.partitions))
        storm = list(itertools.islice(itertools.cycle(kinds), RECORDS))
        first, rest = storm[:1_000], storm[1_000:]

        places = await sent(running, [hostile.output for hostile in first])
        await answers.until(RECEIPTS, known + len(first))
        before = running.engine.resident_bytes()
        places += await sent(running, [hostile.output for hostile in rest])
        await answers.until(RECEIPTS, known + len(storm))
        grown = running.engine.resident_bytes() - before

        receipts = [Receipt.decode(record.value) for record in answers.of(RECEIPTS)][known:]
        codes = {place(receipt): receipt.code for receipt in receipts}
        assert len(codes) == len(receipts)
        for hostile, where in zip(storm, places, strict=True):
            assert codes[where.partition, where.offset] == hostile.code, hostile.name
        assert grown < GROWTH_BYTES

        await sent(running, [*[mebibyte(AGENT, at_ms)] * 10, from_the_far_future(AGENT, at_ms)])
        await answers.until(RECEIPTS, known + len(storm) + 11)
        late = [Receipt.decode(record.value) for record in answers.of(RECEIPTS)][known + len(storm) :]
        assert Counter(receipt.code for receipt in late) == {"too_large": 10, "stale": 1}

        now_ms = FIRST_MS + FIVE_MINUTES_MS
        good = sign_envelope(wallet(AGENT), "floor.call", call_of(AGENT, at_ms + 1), at_ms + 1)
        posts = [Output(INGRESS, AGENT.encode(), good.encode(), at_ms + 1), unknown_coin(AGENT, at_ms + 2)]
        await running.step(now_ms, posts)
        await running.step(now_ms + FIVE_MINUTES_MS)
        await answers.until(RECEIPTS, known + len(storm) + 11 + len(posts))
        answered = {receipt.id: receipt for receipt in map(Receipt.decode, (r.value for r in answers.of(RECEIPTS)))}
        sealed = answered[str(envelope_id(good))]
        refused = answered[str(envelope_id(Envelope.decode(posts[1].value)))]
        assert (sealed.status, sealed.kind) == ("accepted", "floor.call")
        assert (refused.status, refused.code) == ("rejected", "source_not_settleable")
        assert answers.of(DEAD_LETTERS) == []
        assert running.engine.process.exit_code is None
