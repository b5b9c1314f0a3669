"""What a batch wants to send, collected while it is reduced and delivered before its state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from topics.base import Message
from topics.registry import Topic


@dataclass(frozen=True, slots=True)
class Output:
    """One record to send; `partition` None means by key."""

    topic: Topic
    key: bytes
    value: bytes
    timestamp_ms: int
    partition: int | None = None
    headers: Sequence[tuple[str, bytes]] = ()


@dataclass(frozen=True, slots=True)
class SinkRecord:
    """One message for a sink outside the bus: the unprefixed name of its topic, and what the sink made of it."""

    topic: str
    content: Any


class Outbox:
    """Collects outputs in the order in which the reducer emits them."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self.sink_records: list[SinkRecord] = []

    def emit(self, topic: Topic, key: str, message: Message, at_ms: int) -> None:
        """Add a message stamped with its event time in ms."""
        self.outputs.append(Output(topic, key.encode(), message.encode(), at_ms))
