"""Every topic: its name, key, partitions, cleanup, writers; the one list that creation, docs and watermarks read."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

DAY_MS = 86_400_000

Cleanup = Literal["delete", "compact"]

FEED = "feed"
METRONOME = "metronome"


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of the bus.

    `writers` are the origins whose watermarks the topic carries: agents by name (one origin a partition of theirs), the
    feed and the metronome (one origin each). A topic without writers carries no watermarks. Where strangers write, the
    broker unpacks what they compressed, so that its limit on a batch holds for what consumers unpack.
    """

    name: str
    key: str
    writers: tuple[str, ...] = ()
    single_partition: bool = False
    retention_ms: int = 30 * DAY_MS
    cleanup: Cleanup = "delete"
    doc: str = ""
    max_message_bytes: int | None = None
    compression: Literal["producer", "uncompressed"] = "producer"

    def partitions(self, default: int) -> int:
        """Return the partition count, given the bus's count for topics that are spread."""
        return 1 if self.single_partition else default


INGRESS = Topic(
    "ingress",
    "agent or account",
    (METRONOME,),
    retention_ms=90 * DAY_MS,
    doc="signed envelopes",
    max_message_bytes=2 * 1024 * 1024,
    compression="uncompressed",
)
CLOCK = Topic("clock", "none", (METRONOME,), retention_ms=DAY_MS, doc="ticks that drive timers")
RECEIPTS = Topic("receipts", "agent or account", doc="one answer an envelope")
CANDLES = Topic("market.candles", "coin", (FEED,), doc="closed and forming candles, completeness per coin")
FUNDING = Topic("market.funding", "coin", doc="settled funding rates")
LISTINGS = Topic("market.listings", "venue, to every partition", (FEED,), doc="the universe and its volumes")
VOLATILITY = Topic("market.volatility", "coin", doc="rolling EWMA volatility after each hour")
POSTS = Topic("floor.posts", "coin", ("ingress",), doc="well-formed signed posts")
QUOTES = Topic("floor.quotes", "agent", ("volatility",), doc="posts with S, σ and b, or their refusal")
CALLS = Topic("floor.calls", "call", ("sealing",), doc="sealed calls")
LEVELS = Topic("floor.levels", "coin", ("sealing",), doc="open touch levels, repartitioned by coin")
TOUCHES = Topic("floor.touches", "coin", doc="levels that were reached")
SETTLEMENTS = Topic("floor.settlements", "call", ("settlement",), doc="hit, miss or void, with scores")
RESULTS = Topic("floor.results", "agent", ("settlement",), doc="settlements, repartitioned by agent")
EVIDENCE = Topic("floor.evidence", "sha256", doc="raw venue answers")
STANDINGS = Topic("floor.standings", "agent", doc="an agent's Standing after each settlement")
COMMITS = Topic("arena.commits", "record", ("ingress",), doc="opened records and sealed predictions")
REVEALS = Topic("arena.reveals", "record", ("ingress",), doc="what commits hid")
OUTCOMES = Topic("arena.settlements", "record", doc="predictions as their state changes")
SCORES = Topic("arena.scores", "record", doc="track record scores")
ENTRIES = Topic("ledger.entries", "id", ("sealing", "settlement"), single_partition=True, doc="what is to be appended")
LEDGER = Topic("ledger", "seq", single_partition=True, retention_ms=-1, doc="the hash chain")
HEADS = Topic("heads", "hour", single_partition=True, retention_ms=-1, doc="the ledger's head each hour")
ALERTS = Topic("alerts", "subject", doc="voids and what else a person should see")
DEAD_LETTERS = Topic("dead-letters", "source topic", doc="records that could not be processed")
PROGRESS = Topic("progress", "origin", single_partition=True, retention_ms=DAY_MS, doc="how far each agent has come")

TOPICS: tuple[Topic, ...] = (
    INGRESS, CLOCK, RECEIPTS, CANDLES, FUNDING, LISTINGS, VOLATILITY, POSTS, QUOTES, CALLS, LEVELS, TOUCHES,
    SETTLEMENTS, RESULTS, EVIDENCE, STANDINGS, COMMITS, REVEALS, OUTCOMES, SCORES, ENTRIES, LEDGER, HEADS, ALERTS,
    DEAD_LETTERS, PROGRESS,
)  # fmt: skip


def by_name(names: Iterable[str]) -> tuple[Topic, ...]:
    """Return the topics of these names; raises `KeyError` for an unknown one."""
    index = {topic.name: topic for topic in TOPICS}
    return tuple(index[name] for name in names)
