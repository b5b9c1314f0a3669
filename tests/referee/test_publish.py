"""Tests of publishing, ours and anybody's, over a real broker."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer

from agents.ingress import spec
from referee.embedded.kafka import kafka
from referee.embedded.server import EmbeddedServer
from referee.publish import PublishError, is_answer, publish, read_body, read_key
from streams.app import Bus
from streams.delivery.outbox import Outbox, Output
from streams.delivery.publisher import Publisher
from streams.delivery.reducer import Reducer
from streams.delivery.state import PartitionState
from streams.provision import create_topics
from topics.floor import Post
from topics.ingress import Receipt
from topics.registry import INGRESS, POSTS, RECEIPTS

KEY = "0x" + "11" * 32
T0 = 1_750_000_000_000
REGISTER = {"agent": "ann", "operator": "op-1"}
EXAMPLE = Path(__file__).parents[2] / "docs" / "publish_example.py"

pytestmark = pytest.mark.embedded


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an embedded broker."""
    server = EmbeddedServer(kafka(), tmp_path_factory.mktemp("kafka"))
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


async def provisioned(bootstrap: str, prefix: str) -> Bus:
    """Create a bus of the test's own, stamped by the producers."""
    bus = Bus(bootstrap, prefix=prefix, idempotent=False)
    await create_topics(bus, [spec(bus.partitions)], stepped=True)
    return bus


@asynccontextmanager
async def door(bus: Bus) -> AsyncIterator["asyncio.Queue[Output]"]:
    """Run the ingress over what is on the bus, in order, sending what it says; yield a queue of the same."""
    agent = spec(bus.partitions)
    reducers = [agent.reducer(PartitionState(number, {})) for number in range(bus.partitions)]
    outputs: asyncio.Queue[Output] = asyncio.Queue()
    consumer = AIOKafkaConsumer(
        bus.topic_name(INGRESS), bootstrap_servers=bus.bootstrap, auto_offset_reset="earliest", fetch_max_wait_ms=10
    )
    async with consumer, Publisher(bus.bootstrap, prefix=bus.prefix, idempotent=False) as publisher:
        task = asyncio.create_task(serve(consumer, reducers, publisher, outputs))
        try:
            yield outputs
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def serve(
    consumer: AIOKafkaConsumer, reducers: list[Reducer], publisher: Publisher, outputs: "asyncio.Queue[Output]"
) -> None:
    """Reduce records until cancelled."""
    async for record in consumer:
        out = Outbox()
        reducers[record.partition].apply(record, out)
        await publisher.send(out.outputs)
        for output in out.outputs:
            outputs.put_nowait(output)


async def test_the_answer_to_a_request_comes_back(bootstrap: str) -> None:
    bus = await provisioned(bootstrap, "answer.")
    async with door(bus), asyncio.timeout(20):
        first = await publish(
            bootstrap, KEY, "floor.register", REGISTER, None, T0, prefix=bus.prefix, timestamp_ms=T0, wait_s=15
        )
        again = await publish(
            bootstrap, KEY, "floor.register", REGISTER, None, T0, prefix=bus.prefix, timestamp_ms=T0, wait_s=15
        )
    assert first.receipt is not None
    assert (first.receipt.id, first.receipt.status, first.receipt.at) == (first.id, "accepted", T0)
    assert again.receipt is not None
    assert (again.id, again.receipt.code) == (first.id, "duplicate")


async def test_a_request_that_nobody_answers_says_so(bootstrap: str) -> None:
    bus = await provisioned(bootstrap, "silent.")
    with pytest.raises(PublishError, match=r"was sent, but not answered within 0\.1 s"):
        await publish(bootstrap, KEY, "floor.register", REGISTER, None, T0, prefix=bus.prefix, wait_s=0.1)
    published = await publish(bootstrap, KEY, "arena.open", {}, None, T0, prefix=bus.prefix)
    assert published.receipt is None


async def test_the_example_needs_nothing_of_ours_and_its_call_is_taken_in(bootstrap: str, tmp_path: Path) -> None:
    bus = await provisioned(bootstrap, "")
    # -I and an empty folder keep the project out of the script's path
    script = await asyncio.create_subprocess_exec(sys.executable, "-I", str(EXAMPLE), bootstrap, cwd=tmp_path)
    assert await script.wait() == 0
    async with door(bus) as outputs, asyncio.timeout(20):
        registered, posted = await outputs.get(), await outputs.get()
    assert (registered.topic, posted.topic) == (RECEIPTS, POSTS)
    receipt, post = Receipt.decode(registered.value), Post.decode(posted.value)
    assert (receipt.status, receipt.ref) == ("accepted", post.agent)
    assert (post.coin, post.fields.p) == ("BTC", 0.6)


def test_the_example_imports_nothing_of_ours() -> None:
    imported = {
        line.split()[1].partition(".")[0] for line in EXAMPLE.read_text().splitlines() if line[:4] in ("from", "impo")
    }
    assert not imported & {"agents", "referee", "rules", "sinks", "streams", "topics"}


def test_a_receipt_answers_the_envelope_and_its_copies_only() -> None:
    def receipt(identity: str) -> Receipt:
        return Receipt(
            id=identity, kind="unknown", agent="", status="rejected", code="stale", detail="", ref=None, at=T0
        )

    assert is_answer(receipt("ab"), "ab")
    assert is_answer(receipt("ab:0:7"), "ab")
    assert not is_answer(receipt("abc"), "ab")


def test_a_key_file_holds_a_key_and_errors_do_not_show_it(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(KEY + "\n")
    assert read_key(path) == KEY
    path.write_text(KEY[:-2])
    with pytest.raises(PublishError, match="64 characters") as caught:
        read_key(path)
    assert "1111" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"), [("[]", "JSON object"), ('{"a":1,"a":2}', "more than once"), ("{", "not JSON")]
)
def test_a_body_file_is_read_as_strictly_as_the_ingress_reads(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "body.json"
    path.write_text('{"agent": "ann"}')
    assert read_body(path) == {"agent": "ann"}
    path.write_text(text)
    with pytest.raises(PublishError, match=sentence):
        read_body(path)
