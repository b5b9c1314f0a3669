"""A finished demo run as its tests see it: every record of every topic, ClickHouse's tables, the recomputation."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aiokafka.structs import ConsumerRecord
from clickhouse_connect.driver.client import Client

from referee.demo.run import FIRST_DAY_MS
from rules.arena.commitment import Deployment
from streams.app import Bus
from tests.demo.envelopes import Sent
from tests.demo.recompute import Recomputed, recompute
from tests.demo.recorded import Recorded, read_recorded
from topics.registry import INGRESS, Topic

Json = dict[str, Any]


@dataclass
class FinishedRun:
    """A run whose servers are still up; `records` are the data records of each topic by its name, as sent."""

    days: int
    bus: Bus
    clickhouse: Client
    deployment: Deployment
    summary: Json
    records: dict[str, list[ConsumerRecord]]

    def sent(self, topic: Topic) -> list[Json]:
        """Return a topic's messages as JSON, each content once: after a rebalance an agent may say the same again."""
        return [json.loads(raw) for raw in dict.fromkeys(record.value for record in self.records[topic.name])]

    def by(self, topic: Topic, *names: str) -> dict[tuple[Any, ...], Json]:
        """Return a topic's messages by some of their fields; raises ValueError when two differ in content."""
        found: dict[tuple[Any, ...], Json] = {}
        for message in self.sent(topic):
            key = tuple(message[name] for name in names)
            if found.setdefault(key, message) != message:
                raise ValueError(f"{topic.name} has two messages with {names} = {key}")
        return found

    def table(self, name: str) -> list[Json]:
        """Return a table's rows as readers see them, by column name."""
        result = self.clickhouse.query(f"SELECT * FROM {name} FINAL")
        return [dict(zip(result.column_names, row, strict=True)) for row in result.result_rows]

    @cached_property
    def recorded(self) -> Recorded:
        """Return the recorded files."""
        return read_recorded()

    @cached_property
    def recomputed(self) -> Recomputed:
        """Return what the batch program makes of the recorded files and the envelopes that were sent."""
        sent = [
            Sent(one.partition, one.offset, one.timestamp, one.key, one.value) for one in self.records[INGRESS.name]
        ]
        return recompute(self.recorded, sent, self.deployment, FIRST_DAY_MS, self.days)


def keyed(rows: Sequence[Json], *names: str) -> dict[tuple[Any, ...], Json]:
    """Return rows by some of their fields; raises ValueError when two have the same."""
    found = {tuple(row[name] for name in names): row for row in rows}
    if len(found) != len(rows):
        raise ValueError(f"{len(rows)} rows have {len(found)} different {names}")
    return found
