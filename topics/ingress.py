"""What agents send and what they get back."""

from typing import Any, Literal

from topics.base import Message

KINDS = (
    "arena.open",
    "arena.commit",
    "arena.reveal",
    "floor.register",
    "floor.call",
    "floor.hide",
    "floor.dispute",
    "floor.heartbeat",
    "floor.answer",
)


class Envelope(Message):
    """A signed request: EIP-191 over the RFC 8785 text of `{"body","issued_at","kind","v"}`."""

    v: Literal[1]
    kind: str
    body: dict[str, Any]
    issued_at: int
    signer: str
    signature: str


class Receipt(Message):
    """The one answer to an envelope: accepted, or rejected with a code and a sentence.

    `id` is the sha256 of the envelope's signature and signed text once the envelope is taken in; what `ingress` refuses
    has `:partition:offset` behind it, so that a late copy never replaces the answer to the original. `ref` names what
    an accepted envelope made: the agent, the call, the record, or `record/call` for a commit.
    """

    id: str
    kind: str
    agent: str
    status: Literal["accepted", "rejected"]
    code: str | None
    detail: str
    ref: str | None
    at: int
