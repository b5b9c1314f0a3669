"""Topics as the command describes and creates them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient

from referee.embedded.kafka import kafka
from referee.embedded.server import EmbeddedServer
from referee.settings import Settings
from referee.topics_command import create, create_command, describe_command, described, kept
from topics.registry import HEADS, LEDGER, LEVELS, TOPICS, Topic


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an embedded broker."""
    server = EmbeddedServer(kafka(), tmp_path_factory.mktemp("kafka"))
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


def settings(**changes: object) -> Settings:
    """Return settings of the test's own."""
    return Settings().model_copy(update={"partitions": 3, "topic_prefix": "t.", **changes})


def test_every_topic_is_described_as_it_is_on_the_bus() -> None:
    topics = {topic["name"]: topic for topic in described(settings())}
    assert topics.keys() == {f"t.{topic.name}" for topic in TOPICS}
    assert topics["t.floor.levels"] == {
        "name": "t.floor.levels",
        "key": "coin",
        "partitions": 3,
        "retention_ms": LEVELS.retention_ms,
        "cleanup": "delete",
        "writers": ["sealing"],
        "doc": LEVELS.doc,
    }
    assert topics["t.ledger"]["partitions"] == 1
    assert all(topic["doc"] for topic in topics.values())


def test_how_long_a_topic_is_kept_is_said_in_words() -> None:
    assert (kept(LEDGER), kept(HEADS), kept(LEVELS)) == ("for ever", "for ever", "30 d")
    assert kept(Topic("t", "k", cleanup="compact")) == "the latest of a key"


def test_the_table_names_every_topic_whole(capsys: pytest.CaptureFixture[str]) -> None:
    describe_command(settings(), as_json=False)
    printed = capsys.readouterr().out
    assert all(f" t.{topic.name} " in printed for topic in TOPICS)


@pytest.mark.embedded
async def test_topics_and_changelogs_are_created_once(bootstrap: str) -> None:
    mine = settings(kafka=bootstrap)
    created = set(await create(mine, stepped=True))
    assert created >= {f"t.{topic.name}" for topic in TOPICS}
    assert {"t.referee-settlement-changelog", "t.referee-sealing-changelog"} <= created
    assert await create(mine, stepped=True) == ()
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        found = {topic["topic"]: len(topic["partitions"]) for topic in await admin.describe_topics(sorted(created))}
    finally:
        await admin.close()
    assert (found["t.floor.levels"], found["t.ledger"]) == (3, 1)


@pytest.mark.embedded
def test_the_command_prints_what_it_created(bootstrap: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mine = settings(kafka=bootstrap, topic_prefix="said.")
    create_command(mine, stepped=False, as_json=True)
    assert '"said.ingress"' in capsys.readouterr().out
    create_command(mine, stepped=False, as_json=False)
    assert capsys.readouterr().out == "every topic is there already\n"
