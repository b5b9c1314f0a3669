"""What operators read: the ledger and its heads, alerts, dead letters, progress."""

from typing import Any, Literal

from topics.base import Message

Severity = Literal["info", "warning", "critical"]


class Entry(Message):
    """What is to be appended to the ledger; ordered by (`at`, `kind`, `id`) once the watermark has passed `at`."""

    id: str
    kind: Literal["seal", "settle"]
    unit: str
    at: int
    body: dict[str, Any]


class LedgerEntry(Message):
    """An appended entry (Rule F12); `hash` is over the RFC 8785 text of the others except `id`."""

    id: str
    seq: int
    kind: Literal["seal", "settle"]
    unit: str
    at: int
    body: dict[str, Any]
    prev: str
    hash: str


class Head(Message):
    """The ledger's head on the hour (Rule F12)."""

    at: int
    size: int
    head: str
    root: str


class Alert(Message):
    """Something that a person should see; `id` is a function of its cause, so that it fires once; key: subject."""

    id: str
    kind: Literal["void", "dispute", "overturn", "stale_feed", "dead_letter"]
    severity: Severity
    subject: str
    coin: str | None
    agent: str | None
    reason: str | None
    text: str
    at: int


class DeadLetter(Message):
    """A record that could not be processed, with its cause and original bytes (base64); key: source topic."""

    id: str
    agent: str
    topic: str
    partition: int
    offset: int
    cause: str
    detail: str
    key: str | None
    value: str | None
    at: int


class Progress(Message):
    """How far one partition of an agent has come: its watermark, or, for a sink, the next offset per partition."""

    origin: str
    watermark: int | None
    delivered: dict[str, int] | None
