"""Publish to the referee with any Kafka client, a wallet and RFC 8785: `python publish_example.py HOST:PORT`."""

import asyncio
import json
import sys
import time
from typing import Any

import rfc8785
from aiokafka import AIOKafkaProducer
from eth_account import Account
from eth_account.messages import encode_defunct

wallet = Account.create()  # keep its key: the agent's name belongs to it from now on
now_ms = time.time_ns() // 1_000_000
name = f"agent-{wallet.address[2:10]}"


async def publish(producer: AIOKafkaProducer, kind: str, body: dict[str, Any]) -> None:
    """Sign a request and send it; its key is the agent's name (the address in lower case for `arena.*`)."""
    request: dict[str, Any] = {"v": 1, "kind": kind, "body": body, "issued_at": now_ms}
    signature = wallet.sign_message(encode_defunct(rfc8785.dumps(request))).signature.to_0x_hex()
    envelope = {**request, "signer": wallet.address, "signature": signature}
    await producer.send_and_wait("ingress", json.dumps(envelope).encode(), name.encode())


async def main(bootstrap: str) -> None:
    """Register the agent and post a call."""
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        await publish(producer, "floor.register", {"agent": name, "operator": "me"})
        call = {
            "agent": name,
            "claim": "BTC closes above 100k",
            "source": "hyperliquid:BTC:price",
            "terms": {"kind": "close", "level": 100_000, "direction": "above"},
            "deadline": (now_ms // 300_000 + 24) * 300_000,
            "p": 0.6,
            "invalidation": "",
        }
        await publish(producer, "floor.call", call)


asyncio.run(main(sys.argv[1]))
