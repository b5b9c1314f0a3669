"""`referee publish`: signs a request from a file, sends it and shows the answer."""

import asyncio
import json
from pathlib import Path

from referee.command_errors import CommandError, required
from referee.publish import Published, publish, read_body, read_key
from referee.settings import Settings
from streams.clock import WallClock
from topics.ingress import KINDS

ANSWER_WITHIN_S = 30.0


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
    issued_at_ms = WallClock().now_ms()
    sending = publish(
        bootstrap, private_key, kind, content, None, issued_at_ms, prefix=settings.topic_prefix, wait_s=wait_s
    )
    try:
        published = asyncio.run(sending)
    except ValueError as error:
        raise CommandError(f"{body}: cannot be signed ({error})") from error
    print(json.dumps(shown(published), ensure_ascii=False) if as_json else sentence(published))
    return int(published.receipt is not None and published.receipt.status == "rejected")


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
