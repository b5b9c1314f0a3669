"""Records that a hostile or broken sender puts on `ingress`, with the code that each is answered with."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agents.ingress import STALE_AFTER_MS, partition_of
from rules.market import HOUR_MS
from streams.delivery.outbox import Output
from streams.delivery.watermarks import header
from streams.signing import GROUP_ORDER, sign_envelope
from tests.integration.world import wallet
from topics.ingress import Envelope
from topics.registry import INGRESS

FAR_FUTURE_MS = 32_503_680_000_000
MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Hostile:
    """A record and the code of the rejection that it must get; None for one that is taken in."""

    name: str
    output: Output
    code: str | None


def call_of(agent: str, at_ms: int, **changes: Any) -> dict[str, Any]:
    """Return the body of a call that nothing is wrong with but the changes."""
    return {
        "agent": agent,
        "claim": "BTC closes above its price",
        "source": "hyperliquid:BTC:price",
        "terms": {"kind": "close", "level": 104_000, "direction": "above"},
        "deadline": (at_ms // HOUR_MS + 2) * HOUR_MS,
        "p": 0.6,
        "invalidation": "none",
    } | changes


def high_s(envelope: Envelope) -> Envelope:
    """Return the envelope under the other signature that recovers to the same wallet."""
    raw = bytes.fromhex(envelope.signature[2:])
    mirrored = GROUP_ORDER - int.from_bytes(raw[32:64], "big")
    text = (raw[:32] + mirrored.to_bytes(32, "big") + bytes([55 - raw[64]])).hex()
    return envelope.model_copy(update={"signature": "0x" + text})


def hostile_records(agent: str, taken_in: Output, at_ms: int, partitions: int) -> Iterator[Hostile]:
    """Yield one record of each kind; `agent` is registered, `taken_in` is an envelope of it that was accepted."""
    key = agent.encode()
    call = sign_envelope(wallet(agent), "floor.call", call_of(agent, at_ms), at_ms)
    good = call.model_dump()

    def record(name: str, code: str | None, value: bytes | None, **changes: Any) -> Hostile:
        fields = {"key": key, "timestamp_ms": at_ms, **changes}
        return Hostile(name, Output(INGRESS, value=value, **fields), code)  # type: ignore[arg-type]

    def signed(kind: str, body: dict[str, Any], issued_at_ms: int = at_ms) -> bytes:
        return sign_envelope(wallet(agent), kind, body, issued_at_ms).encode()

    def edited(**changes: Any) -> bytes:
        return json.dumps({**good, **changes}).encode()

    home = partition_of(key, partitions)
    yield record("unknown kind", "unknown_kind", signed("floor.guess", {"agent": agent}))
    yield record("kind of another version", "not_supported", signed("floor.heartbeat", {"agent": agent}))
    yield record("p is a text", "malformed", signed("floor.call", call_of(agent, at_ms, p="0.6")))
    yield record("issued_at is a text", "malformed", edited(issued_at="now"))
    yield record("body is a list", "malformed", edited(body=[]))
    yield record("claim beyond its limit", "too_large", signed("floor.call", call_of(agent, at_ms, claim="x" * 501)))
    yield record("stranger's signature", "bad_signature", edited(signature="0x" + "11" * 65))
    yield record("signature over another body", "bad_signature", edited(body=call_of(agent, at_ms, p=0.7)))
    yield record("high s", "bad_signature", high_s(call).encode())
    yield record("replayed", "duplicate", taken_in.value)
    yield record("stale", "stale", signed("floor.call", call_of(agent, at_ms), at_ms - STALE_AFTER_MS - 1))
    yield record("from the future", "stale", call.encode(), timestamp_ms=at_ms + STALE_AFTER_MS + 1)
    yield record("half a JSON", "malformed", call.encode()[:-9])
    yield record("not UTF-8", "malformed", call.encode().replace(b"BTC", b"\xff\xfe\xfd"))
    yield record("a key twice", "malformed", b'{"v":1,' + call.encode()[1:])
    yield record("nested", "malformed", b"[" * 30_000 + b"]" * 30_000)
    yield record("NaN", "malformed", b'{"v":NaN}')
    yield record("key of another", "misrouted", call.encode(), key=b"somebody", partition=home)
    yield record("wrong partition", "misrouted", call.encode(), partition=1 - home)
    yield record("no key", "misrouted", call.encode(), key=None)
    yield record("key is no text", "misrouted", call.encode(), key=b"\xff" * 40)
    yield record("unregistered", "unknown_agent", signed("floor.call", call_of("x", at_ms)), key=b"x")
    yield record("no value", "malformed", None)
    yield record("empty value", "malformed", b"")
    mark = header("metronome", FAR_FUTURE_MS)
    yield record("posing as a watermark", "malformed", b"{}", headers=mark)


def from_the_far_future(agent: str, at_ms: int) -> Output:
    """Return a well-formed call that is stamped with a time a thousand years away."""
    envelope = sign_envelope(wallet(agent), "floor.call", call_of(agent, at_ms), at_ms)
    return Output(INGRESS, agent.encode(), envelope.encode(), FAR_FUTURE_MS)


def unknown_coin(agent: str, at_ms: int) -> Output:
    """Return a well-formed call on a coin that no venue lists."""
    source = {"source": "hyperliquid:NOSUCHCOIN:price"}
    envelope = sign_envelope(wallet(agent), "floor.call", call_of(agent, at_ms, **source), at_ms)
    return Output(INGRESS, agent.encode(), envelope.encode(), at_ms)


def mebibyte(agent: str, at_ms: int) -> Output:
    """Return a signed call with a megabyte of text."""
    body = call_of(agent, at_ms, claim="x" * MEBIBYTE)
    return Output(INGRESS, agent.encode(), sign_envelope(wallet(agent), "floor.call", body, at_ms).encode(), at_ms)
