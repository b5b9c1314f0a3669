"""An ingress to knock at: its partitions, two wallets, and a right body of each kind."""

import json
from collections.abc import Mapping
from typing import Any

from aiokafka.structs import ConsumerRecord
from eth_account import Account
from eth_account.messages import encode_defunct

from agents.ingress import IngressReducer, partition_of
from streams.delivery.outbox import Outbox, Output
from streams.delivery.state import PartitionState
from streams.signing import canonical_text, sign_envelope
from tests.agents.records import RecordMaker
from topics.ingress import Envelope, Receipt
from topics.registry import INGRESS, RECEIPTS

T0 = 1_750_000_000_000
ANN, BOB = "0x" + "11" * 32, "0x" + "22" * 32
ANN_ADDRESS = "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a"
BOB_ADDRESS = "0x1563915e194d8cfba1943570603f7606a3115508"
PARTITIONS = 2

REGISTER = {"agent": "ann", "operator": "op-1"}
CALL: dict[str, Any] = {
    "agent": "ann",
    "claim": "BTC above 110k",
    "source": "hyperliquid:BTC:price",
    "terms": {"kind": "close", "level": 110_000, "direction": "above"},
    "deadline": T0 + 7_200_000,
    "p": 0.6,
    "invalidation": "none",
}
WORD = "0x" + "ab" * 32
OPEN = {"coins": ["BTC", "ETH"], "min_horizon_s": 300, "max_horizon_s": 3600}
COMMIT = {"record": None, "hash": WORD, "horizon_s": 3600, "nonce": 0}
REVEAL = {"record": None, "call_id": 0, "coin": "BTC", "side": -1, "horizon_s": 3600, "salt": WORD}
BODIES: Mapping[str, Mapping[str, Any]] = {
    "floor.register": REGISTER,
    "floor.call": CALL,
    "arena.open": OPEN,
    "arena.commit": COMMIT,
    "arena.reveal": REVEAL,
}


class Door:
    """The reducers of both partitions, fed as the bus would feed them."""

    def __init__(self) -> None:
        self.make_record = RecordMaker()
        self.reducers = [IngressReducer(PartitionState(number, {}), PARTITIONS) for number in range(PARTITIONS)]
        self.tables: list[dict[str, bytes]] = [{} for _ in range(PARTITIONS)]

    def send(self, value: Envelope | bytes | None, key: str | bytes | None, at_ms: int = T0) -> list[Output]:
        """Send a record to the partition of its key and return what comes out."""
        raw = key.encode() if isinstance(key, str) else key
        return self.feed(self.make_record(INGRESS, key, value, at_ms, partition_of(raw or b"", PARTITIONS)))

    def feed(self, record: ConsumerRecord) -> list[Output]:
        """Reduce one record and return what comes out."""
        out = Outbox()
        self.reducers[record.partition].apply(record, out)
        return out.outputs

    def ask(self, kind: str, body: Mapping[str, Any], wallet: str = ANN, at_ms: int = T0) -> list[Output]:
        """Sign a request, send it under the key that it should have and return what comes out."""
        envelope = sign_envelope(wallet, kind, body, at_ms)
        return self.send(envelope, body["agent"] if kind.startswith("floor.") else envelope.signer, at_ms)

    def restart(self) -> None:
        """Rebuild the reducers from what their states delivered."""
        for number, (reducer, table) in enumerate(zip(self.reducers, self.tables, strict=True)):
            for key, value in reducer.state.take_changes():
                if value is None:
                    del table[key.removeprefix(f"{number}/")]
                else:
                    table[key.removeprefix(f"{number}/")] = value
            self.reducers[number] = IngressReducer(PartitionState(number, table), PARTITIONS)


def receipt_of(outputs: list[Output]) -> Receipt:
    """Return the one receipt that came out, alone."""
    (output,) = outputs
    assert output.topic is RECEIPTS
    receipt = Receipt.decode(output.value)
    assert output.key.decode() == (receipt.agent or receipt.id)
    assert output.timestamp_ms == receipt.at
    return receipt


def envelope_with(**changes: Any) -> bytes:
    """Return the JSON of a signed registration with some members replaced, or left out where the change is `...`."""
    members = {**sign_envelope(ANN, "floor.register", REGISTER, T0).model_dump(), **changes}
    return json.dumps({name: value for name, value in members.items() if value is not ...}).encode()


def recovered(signature: str) -> str:
    """Return the address, of nobody, that a stolen signature recovers to over an `arena.open`."""
    message = encode_defunct(text=canonical_text("arena.open", OPEN, T0))
    return str(Account.recover_message(message, signature=signature)).lower()
