"""Signs a request, sends it to the ingress topic and, if asked, waits for the answer."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from eth_account import Account

from agents.ingress_envelope import RejectedError, read_json
from streams.signing import envelope_id, sign_envelope
from topics.ingress import Envelope, Receipt
from topics.registry import INGRESS, RECEIPTS

FETCH_WAIT_MS = 100
KEY_FORM = re.compile(r"(?:0x)?[0-9a-fA-F]{64}", re.ASCII)


class PublishError(Exception):
    """A request cannot be sent as it is, or was not answered in time."""


@dataclass(frozen=True, slots=True)
class Published:
    """A request that the broker has: its id, and the answer if it was waited for."""

    id: str
    receipt: Receipt | None


async def publish(
    bootstrap: str,
    private_key: str | bytes,
    kind: str,
    body: Mapping[str, Any],
    key: str | None,
    issued_at_ms: int,
    *,
    prefix: str = "",
    timestamp_ms: int | None = None,
    wait_s: float | None = None,
) -> Published:
    """Sign a request, send it and return its id, with the answer to it when `wait_s` says how long to wait for one.

    `key` None takes the one that the ingress wants. `timestamp_ms` is for a bus under a stepped clock; others stamp
    records themselves. Raises `PublishError`, `ValueError` for what cannot be signed, `aiokafka.errors.KafkaError`.
    """
    envelope = sign_envelope(private_key, kind, body, issued_at_ms)
    record_key = (record_key_of(envelope) if key is None else key).encode()
    identity = str(envelope_id(envelope))
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all")
    async with producer:
        if wait_s is None:
            await producer.send_and_wait(prefix + INGRESS.name, envelope.encode(), record_key, None, timestamp_ms)
            return Published(identity, None)
        consumer = AIOKafkaConsumer(
            prefix + RECEIPTS.name,
            bootstrap_servers=bootstrap,
            auto_offset_reset="latest",
            fetch_max_wait_ms=FETCH_WAIT_MS,
        )
        async with consumer:
            # where the topic ends is settled before the request is sent, so that no answer is missed
            for partition in consumer.assignment():
                await consumer.position(partition)
            await producer.send_and_wait(prefix + INGRESS.name, envelope.encode(), record_key, None, timestamp_ms)
            try:
                async with asyncio.timeout(wait_s):
                    return Published(identity, await _answer(consumer, identity))
            except TimeoutError:
                raise PublishError(f"{kind} {identity} was sent, but not answered within {wait_s} s") from None


async def _answer(consumer: AIOKafkaConsumer, identity: str) -> Receipt:
    while True:
        receipt = Receipt.decode((await consumer.getone()).value)
        if is_answer(receipt, identity):
            return receipt


def is_answer(receipt: Receipt, identity: str) -> bool:
    """Tell whether a receipt answers the envelope of this id, or a record that carried a copy of it."""
    return receipt.id.partition(":")[0] == identity


def record_key_of(envelope: Envelope) -> str:
    """Return the record key that the ingress wants: the agent on the Floor, else the signer."""
    agent = envelope.body.get("agent")
    return agent if envelope.kind.startswith("floor.") and isinstance(agent, str) else envelope.signer


def read_body(path: Path) -> dict[str, Any]:
    """Read a body from a JSON file as strictly as the ingress will; raises `PublishError` and `OSError`."""
    try:
        body = read_json(path.read_bytes())
    except RejectedError as error:
        raise PublishError(f"{path}: {error.detail}") from None
    if not isinstance(body, dict):
        raise PublishError(f"{path}: the body of a request is a JSON object")
    return body


def read_key(path: Path) -> str:
    """Read a wallet's key, 32 bytes in hex, from a file; raises `PublishError`, which never shows it, and `OSError`."""
    key = path.read_text(errors="replace").strip()
    refusal = PublishError(f"{path}: it has {len(key)} characters, a private key is 0x and 64 hexadecimal digits")
    if KEY_FORM.fullmatch(key) is None:
        raise refusal
    try:
        Account.from_key(key)
    except ValueError:
        raise refusal from None
    return key
