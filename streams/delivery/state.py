"""The state of one partition of an agent: small keys over a Faust table, with what changed since the last delivery."""

from collections.abc import Iterator, Mapping

import orjson

OFFSETS_KEY = "!offsets"


class PartitionState:
    """A dictionary of bytes whose changes become one atomic changelog batch.

    Keys in the table are prefixed by the partition, since a Faust table is one dictionary for all partitions of a
    worker. The state carries the source offsets it includes, so that a replayed record is recognised.
    """

    def __init__(self, partition: int, table_items: Mapping[str, bytes]) -> None:
        """Take over what the table holds for the partition (keys already without their prefix)."""
        self.partition = partition
        self._data: dict[str, bytes] = dict(table_items)
        self._delivered: set[str] = set(self._data)
        self._dirty: set[str] = set()
        self.offsets: dict[str, int] = orjson.loads(self._data.get(OFFSETS_KEY, b"{}"))

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, or None."""
        return self._data.get(key)

    def put(self, key: str, value: bytes) -> None:
        """Set a key."""
        self._data[key] = value
        self._dirty.add(key)

    def delete(self, key: str) -> None:
        """Remove a key; it need not exist."""
        if self._data.pop(key, None) is not None:
            self._dirty.add(key)

    def items(self, prefix: str) -> Iterator[tuple[str, bytes]]:
        """Yield the keys (without the prefix) and values below a prefix, in key order."""
        for key in sorted(key for key in self._data if key.startswith(prefix)):
            yield key[len(prefix) :], self._data[key]

    def includes(self, topic: str, offset: int) -> bool:
        """Tell whether the record at this offset is already part of the state."""
        return offset < self.offsets.get(topic, 0)

    def include(self, topic: str, next_offset: int) -> None:
        """Note that the state covers the topic up to (not including) `next_offset`; a replay never takes it back."""
        self.offsets[topic] = max(next_offset, self.offsets.get(topic, 0))

    def take_changes(self) -> list[tuple[str, bytes | None]]:
        """Return what changed since the last call as (table key, value or None), the source offsets last.

        Empty when nothing but the offsets moved: then a replay changes nothing either. A key that came and went within
        the batch never reaches the changelog.
        """
        changed = sorted(key for key in self._dirty if key in self._data or key in self._delivered)
        self._dirty.clear()
        if not changed:
            return []
        self._data[OFFSETS_KEY] = orjson.dumps(self.offsets)
        changes = [(self.table_key(key), self._data.get(key)) for key in changed]
        self._delivered.difference_update(key for key in changed if key not in self._data)
        self._delivered.update(key for key in changed if key in self._data)
        changes.append((self.table_key(OFFSETS_KEY), self._data[OFFSETS_KEY]))
        return changes

    def table_key(self, key: str) -> str:
        """Return the key as the table and the changelog hold it."""
        return f"{self.partition}/{key}"
