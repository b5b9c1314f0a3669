"""A reducer driven over records and watermarks in any batches, and restarted from its changelog."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aiokafka.structs import ConsumerRecord

from streams.delivery.outbox import Outbox, Output
from streams.delivery.reducer import Reducer
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from topics.registry import Topic


@dataclass(frozen=True)
class Watermark:
    """The watermark of a topic, behind the data that it vouches for."""

    topic: Topic
    at_ms: int


@dataclass
class Run:
    """A reducer over one partition, restarted at will from what its changelog would hold."""

    make: Callable[[PartitionState], Reducer]
    topics: Sequence[Topic]
    table: dict[str, bytes] = field(default_factory=dict)
    outputs: list[Output] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin anew from the changelog, with watermarks unknown until they are heard again."""
        self.tracker = WatermarkTracker({topic.name: ["origin"] for topic in self.topics})
        self.state = PartitionState(0, {key.removeprefix("0/"): value for key, value in self.table.items()})
        self.reducer = self.make(self.state)

    async def work(self, events: Iterable[ConsumerRecord | Watermark]) -> int | None:
        """Do one unit of work as the shell does it; returns the promise."""
        out = Outbox()
        for event in events:
            if isinstance(event, Watermark):
                self.tracker.update(event.topic.name, "origin", event.at_ms)
            else:
                self.reducer.apply(event, out)
        promise = await self.reducer.advance(self.tracker, out)
        self.outputs += out.outputs
        for key, value in self.state.take_changes():
            if value is None:
                self.table.pop(key, None)
            else:
                self.table[key] = value
        return promise

    def sent(self, topic: Topic) -> list[bytes]:
        """Return the values emitted to a topic, in order."""
        return [output.value for output in self.outputs if output.topic is topic]

    def remembered(self) -> Mapping[str, bytes]:
        """Return what the changelog holds, without the source offsets."""
        return {key: value for key, value in self.table.items() if key != "0/!offsets"}
