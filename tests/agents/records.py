"""Records as the consumer hands them over, for the tests of reducers."""

from collections import defaultdict

from aiokafka.structs import ConsumerRecord

from topics.base import Message
from topics.registry import Topic


class RecordMaker:
    """Makes records whose offsets count up, each topic and partition by itself."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._next_offsets: dict[tuple[str, int], int] = defaultdict(int)

    def __call__(
        self, topic: Topic, key: str | bytes | None, value: Message | bytes | None, at_ms: int, partition: int = 0
    ) -> ConsumerRecord:
        """Return the next record of the topic's partition, stamped `at_ms`."""
        name = self._prefix + topic.name
        offset = self._next_offsets[name, partition]
        self._next_offsets[name, partition] += 1
        raw_key = key.encode() if isinstance(key, str) else key
        raw_value = value.encode() if isinstance(value, Message) else value
        return ConsumerRecord(
            topic=name,
            partition=partition,
            offset=offset,
            timestamp=at_ms,
            timestamp_type=0,
            key=raw_key,
            value=raw_value,
            checksum=None,
            serialized_key_size=-1 if raw_key is None else len(raw_key),
            serialized_value_size=-1 if raw_value is None else len(raw_value),
            headers=(),
        )
