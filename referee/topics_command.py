"""`referee topics`: creates the bus's topics and says what each of them is for."""

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

from rich.console import Console
from rich.table import Table

from referee.agents import engine_agents
from referee.settings import Settings
from rules.market import DAY_MS
from streams.provision import create_topics
from topics.registry import TOPICS, Topic

FOR_EVER_MS = -1


def described(settings: Settings) -> list[dict[str, Any]]:
    """Return every topic as it is on the configured bus; retention in ms, -1 for ever."""
    return [
        {
            "name": settings.topic_prefix + topic.name,
            "key": topic.key,
            "partitions": topic.partitions(settings.partitions),
            "retention_ms": topic.retention_ms,
            "cleanup": topic.cleanup,
            "writers": list(topic.writers),
            "doc": topic.doc,
        }
        for topic in TOPICS
    ]


async def create(settings: Settings, *, stepped: bool = False) -> tuple[str, ...]:
    """Create the topics and changelogs that are missing and return their names; raises `KafkaError`.

    `stepped` is for a bus whose records carry simulated time: stamped by who sends them, kept for ever.
    """
    async with AsyncExitStack() as stack:
        specs = await engine_agents(settings, stack)
        return await create_topics(settings.bus(), specs, replication=settings.replication, stepped=stepped)


def create_command(settings: Settings, *, stepped: bool, as_json: bool) -> None:
    """Create what is missing and print its names; raises `KafkaError`."""
    created = asyncio.run(create(settings, stepped=stepped))
    if as_json:
        print(json.dumps({"created": list(created)}))
    else:
        print("\n".join(created) or "every topic is there already")


def describe_command(settings: Settings, *, as_json: bool) -> None:
    """Print every topic, as one JSON array or as a table."""
    if as_json:
        print(json.dumps(described(settings), ensure_ascii=False))
        return
    table = Table(box=None)
    for heading in ("topic", "key", "parts", "kept", "watermarks of", "carries"):
        table.add_column(heading, no_wrap=heading in ("topic", "kept"))
    for topic in TOPICS:
        table.add_row(
            settings.topic_prefix + topic.name,
            topic.key,
            str(topic.partitions(settings.partitions)),
            kept(topic),
            ", ".join(topic.writers) or "none",
            topic.doc,
        )
    Console(markup=False, highlight=False).print(table)


def kept(topic: Topic) -> str:
    """Say how long a topic's records are kept."""
    if topic.cleanup == "compact":
        return "the latest of a key"
    return "for ever" if topic.retention_ms == FOR_EVER_MS else f"{topic.retention_ms // DAY_MS} d"
