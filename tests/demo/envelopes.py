"""Signed envelopes as they stand on the bus, read and checked with the wallet library and RFC 8785 alone."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import rfc8785
from eth_account import Account
from eth_account.messages import encode_defunct


@dataclass(frozen=True)
class Sent:
    """A record of `ingress`: where it stands, the broker's time in ms, and what it holds."""

    partition: int
    offset: int
    at_ms: int
    key: bytes
    value: bytes


@dataclass(frozen=True)
class Request:
    """A readable envelope: its id, the broker's time, who signed it and what it asks for."""

    id: str
    at_ms: int
    kind: str
    key: str
    signer: str
    body: dict[str, Any]


def in_order(sent: Iterable[Sent]) -> list[Request]:
    """Return the requests in the order of the broker's time, of one millisecond in the order of their positions.

    Raises ValueError for a record that no sample agent would send: a bad signature, or the same envelope twice.
    """
    requests = [read(one) for one in sorted(sent, key=lambda one: (one.at_ms, one.partition, one.offset))]
    if len({request.id for request in requests}) != len(requests):
        raise ValueError("the sample agents sent an envelope twice")
    return requests


def read(sent: Sent) -> Request:
    """Read and check one record; raises ValueError for one that its signer did not sign."""
    envelope = json.loads(sent.value)
    signed = {name: envelope[name] for name in ("body", "issued_at", "kind", "v")}
    text = rfc8785.dumps(signed)
    signature = bytes.fromhex(envelope["signature"].removeprefix("0x"))
    signer = str(Account.recover_message(encode_defunct(primitive=text), signature=signature)).lower()
    if signer != envelope["signer"]:
        raise ValueError(f"envelope at {sent.partition}:{sent.offset} names {envelope['signer']}, signed by {signer}")
    identity = hashlib.sha256(signature + text).hexdigest()
    return Request(identity, sent.at_ms, envelope["kind"], sent.key.decode(), signer, envelope["body"])
