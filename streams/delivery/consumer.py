"""Faust's Kafka consumer, handing whole fetched batches to agents and committing only what they marked as done.

Faust's own loop costs two tasks a message, acks what failed and commits past messages in flight. Here one Faust message
carries all records that a fetch returned for a partition; an agent marks a partition's next offset once the effects of
everything below it are durable; the commit of a partition is the least mark of the agents that read it. Changelog
partitions go Faust's usual way, so recovery is Faust's.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from streams.ends import end_offsets

QUIET_FETCH_WAIT_MS = 100


class BatchConsumer(driver.Consumer):
    """A consumer whose messages are batches and whose commits are marks."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._marks: dict[TP, dict[str, int]] = {}
        self._held: set[TP] = set()

    def _new_consumer_thread(self) -> "BatchConsumerThread":
        thread: Any = BatchConsumerThread(self, loop=self.loop, beacon=self.beacon)
        # it asks a broker that is gone for ever, and must not keep the process for that
        thread.daemon = True
        return cast(BatchConsumerThread, thread)

    def mark(self, agent: str, tp: TP, next_offset: int) -> None:
        """Note that everything of the partition below `next_offset` is durable as far as this agent goes."""
        self._marks.setdefault(tp, {})[agent] = next_offset

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Forget the marks of partitions that go; what was not committed is replayed by whoever gets them."""
        await super().on_partitions_revoked(revoked)
        for tp in revoked:
            self._marks.pop(tp, None)
        self._held -= revoked

    def pause_partitions(self, tps: Iterable[TP]) -> None:
        """Stop fetching from partitions."""
        super().pause_partitions(tps)
        self._held.difference_update(tps)

    def resume_partitions(self, tps: Iterable[TP]) -> None:
        """Fetch from partitions, from those of agents not before the flow resumes.

        Behind recovery Faust resumes the agents' partitions, seeks, and then clears the agents' queues: what is fetched
        in between is lost, and the marks of what follows commit past it.
        """
        wanted = set(tps)
        changelogs = {tp for tp in wanted if self._is_changelog_tp(tp)}
        self._held |= wanted - changelogs
        super().resume_partitions(changelogs)

    def resume_flow(self) -> None:
        """Let records flow, from the partitions of agents too where they were resumed."""
        super().resume_flow()
        held, self._held = self._held, set()
        super().resume_partitions(held)

    def ack(self, message: Any) -> bool:
        """Let go of the message; that it left a stream says nothing about its effects."""
        message.acked = True
        self._unacked_messages.discard(message)
        return False

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterator[TP]:
        return (tp for tp in list(self._marks) if topics is None or tp in topics or tp.topic in topics)

    def _new_offset(self, tp: TP) -> int | None:
        marks = self._marks[tp]
        app: Any = self.app
        readers = app.readers.get(tp.topic, set())
        if not readers or not readers.issubset(marks):
            return None
        return min(marks[reader] for reader in readers)

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> Any:  # noqa: ASYNC109
        # Faust empties this very set while its thread is on the way to read it, and an empty one stands for all
        return await super()._getmany(set(active_partitions or ()), timeout)

    async def highwaters(self, *partitions: TP) -> Mapping[TP, int]:
        """Return where partitions really end: recovery that stops inside the last batch would tear the state."""
        app: Any = self.app
        if app.bus.exact_ends:
            return await super().highwaters(*partitions)
        return cast(Mapping[TP, int], await end_offsets(app.bus, partitions))

    async def _drain_messages(self, fetcher: Any) -> None:
        app: Any = self.app
        stopped = self._stopped.is_set
        quiet = 0
        try:
            while not (stopped() or fetcher._stopped.is_set()):
                records, _ = await self._wait_next_records(timeout=1.0)
                if self.should_stop:
                    return
                quiet = 0 if records else quiet + 1
                cast(BatchConsumerThread, self._thread).set_fetch_wait(quiet=quiet > 0)
                if not records:
                    await asyncio.sleep(0)
                elif self.flow_active:
                    await self._deliver(records)
                    if app.bus.fetch_pause_s:
                        await self.sleep(app.bus.fetch_pause_s)
                else:
                    await self.perform_seek()
        except self.consumer_stopped_errors:
            if not self.transport.app.should_stop:
                raise
        except asyncio.CancelledError:
            if not self.transport.app.should_stop:
                raise

    async def _deliver(self, records: Mapping[TP, list[Any]]) -> None:
        generation = self.app.consumer_generation_id
        for tp, batch in records.items():
            if not self.flow_active or self.app.consumer_generation_id != generation:
                return
            wanted = self._read_offset[tp]
            fresh = batch if wanted is None else [record for record in batch if record.offset >= wanted]
            if not fresh:
                continue
            if self._is_changelog_tp(tp):
                messages = [self._to_message(tp, record) for record in fresh]
            else:
                whole: Any = self._to_message(tp, fresh[-1])
                whole.value = fresh
                messages = [whole]
            for message in messages:
                await self.wait_first(self.callback(message), self.suspend_flow.wait())
                self._read_offset[tp] = message.offset


class BatchConsumerThread(driver.AIOKafkaConsumerThread):
    """The consumer's thread, with a fetch wait that does not hold a stepped clock back."""

    def _create_worker_consumer(self, transport: Any) -> Any:
        consumer = super()._create_worker_consumer(transport)
        consumer._fetch_max_wait_ms = self._busy_fetch_wait_ms
        return consumer

    @property
    def _busy_fetch_wait_ms(self) -> int:
        app: Any = self.app
        return int(app.bus.fetch_max_wait_ms)

    def set_fetch_wait(self, *, quiet: bool) -> None:
        """Let the broker hold fetches for long once a second has passed without a record, and briefly otherwise."""
        consumer: Any = self._ensure_consumer()
        busy_ms = self._busy_fetch_wait_ms
        consumer._fetcher._fetch_max_wait_ms = max(busy_ms, QUIET_FETCH_WAIT_MS) if quiet else busy_ms


class BatchTransport(driver.Transport):
    """Faust's Kafka transport with the batch consumer."""

    Consumer = cast(Any, BatchConsumer)
