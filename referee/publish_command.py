"""`referee publish`: signs a request from a file, sends it and shows the answer."""

import asyncio
import json
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient

from referee.command_errors import CommandError, required
from referee.publish import Published, publish, read_body, read_key
from referee.settings import Settings
from streams.clock import WallClock
from topics.ingress import KINDS


def publish_command(
    settings: Settings, kind: str, body: Path, key_file: Path, *, wait_s: float | None, as_json: bool
) -> int:
    """Sign and send the body, print its id and, if waited for, the answer; return 1 when it was rejected.

    Raises `CommandError`, `PublishError`, `OSError` and `KafkaError`.
    """
    if kind not in KINDS:
        raise CommandError(f"kind is {kind!r}; it must be one of {', '.join(KINDS)}")
    content, private_key = read_body(body), read_key(key_file)
    bootstrap = required(settings.kafka, "REFEREE_KAFKA")

    async def sent() -> Published:
        await _check_broker(bootstrap)
        now_ms = WallClock().now_ms()
        return await publish(
            bootstrap, private_key, kind, content, None, now_ms, prefix=settings.topic_prefix, wait_s=wait_s
        )

    try:
        published = asyncio.run(sent())
    except ValueError as error:
        raise CommandError(f"{body}: cannot be signed ({error})") from error
    print(json.dumps(shown(published), ensure_ascii=False) if as_json else sentence(published))
    return int(published.receipt is not None and published.receipt.status == "rejected")


async def _check_broker(bootstrap: str) -> None:
    # A producer that cannot start prints complaints of its own when it is dropped; this client does not
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    await admin.close()


def shown(published: Published) -> dict[str, object]:
    """Return what was published as a JSON-able document."""
    return {"id": published.id, "receipt": None if published.receipt is None else published.receipt.model_dump()}


def sentence(published: Published) -> str:
    """Return what was published as a line for people."""
    receipt = published.receipt
    if receipt is None:
        return f"{published.id} sent"
    answer = receipt.status if receipt.code is None else f"{receipt.status} as {receipt.code}"
    return f"{published.id} {answer}: {receipt.detail}" + (f" ({receipt.ref})" if receipt.ref else "")
