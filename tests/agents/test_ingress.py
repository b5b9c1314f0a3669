"""Tests of the ingress: what is taken in, what is refused with which code, and that nothing hostile stops it."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pytest
from aiokafka.structs import ConsumerRecord
from eth_account import Account
from eth_account.messages import encode_defunct

from agents.ingress import REMEMBERED_MS, STALE_AFTER_MS, IngressReducer, partition_of, spec
from agents.ingress_envelope import MAX_DEPTH, MAX_RECORD_BYTES
from streams.delivery.outbox import Outbox, Output
from streams.delivery.state import PartitionState
from streams.signing import canonical_text, envelope_id, sign_envelope
from tests.agents.records import RecordMaker
from topics.arena import Commit, Opened, Reveal
from topics.floor import Position, Post
from topics.ingress import Envelope, Receipt
from topics.keys import book_id
from topics.registry import COMMITS, INGRESS, POSTS, RECEIPTS, REVEALS

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
        for number, reducer in enumerate(self.reducers):
            prefix = f"{number}/"
            items = {
                key.removeprefix(prefix): value for key, value in reducer.state.take_changes() if value is not None
            }
            self.reducers[number] = IngressReducer(PartitionState(number, items), PARTITIONS)


@pytest.fixture
def door() -> Door:
    """Return a door that knows nobody."""
    return Door()


@pytest.fixture
def open_door(door: Door) -> Door:
    """Return a door that knows the agent `ann`."""
    assert receipt_of(door.ask("floor.register", REGISTER)).status == "accepted"
    return door


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


def test_the_agent_reads_ingress_and_writes_receipts_posts_commits_and_reveals() -> None:
    agent = spec(PARTITIONS)
    assert (agent.name, agent.inputs, agent.keeps_state) == ("ingress", (INGRESS,), True)
    assert set(agent.outputs) == {RECEIPTS, POSTS, COMMITS, REVEALS}
    assert isinstance(agent.reducer(PartitionState(0, {})), IngressReducer)


def test_a_registration_is_answered_with_the_envelopes_id(door: Door) -> None:
    receipt = receipt_of(door.ask("floor.register", REGISTER))
    envelope = sign_envelope(ANN, "floor.register", REGISTER, T0)
    assert receipt == Receipt(
        id=str(envelope_id(envelope)),
        kind="floor.register",
        agent="ann",
        status="accepted",
        code=None,
        detail="agent is registered with the wallet of signer",
        ref="ann",
        at=T0,
    )


def test_an_agent_keeps_its_first_wallet_and_operator(open_door: Door) -> None:
    assert receipt_of(open_door.ask("floor.register", REGISTER, wallet=BOB)).code == "agent_taken"
    again = receipt_of(open_door.ask("floor.register", {**REGISTER, "operator": "op-2"}, at_ms=T0 + 1))
    assert (again.status, again.ref) == ("accepted", "ann")
    (output,) = open_door.ask("floor.call", CALL)
    assert Post.decode(output.value).operator == "op-1"


def test_a_call_becomes_a_post_keyed_by_its_coin_without_a_receipt(open_door: Door) -> None:
    body = {**CALL, "source": "hyperliquid:dex:kPEPE:price", "mood": "ignored (Rule F1)"}
    (output,) = open_door.ask("floor.call", body, at_ms=T0 + 5)
    assert (output.topic, output.key, output.timestamp_ms) == (POSTS, b"dex:kpepe", T0 + 5)
    post = Post.decode(output.value)
    assert post.id == envelope_id(sign_envelope(ANN, "floor.call", body, T0 + 5))
    assert (post.agent, post.operator, post.posted_at, post.coin) == ("ann", "op-1", T0 + 5, "dex:kPEPE")
    assert post.position == Position(partition=partition_of(b"ann", PARTITIONS), offset=1)
    assert post.fields.model_dump() == {
        name: body[name] for name in ("claim", "source", "terms", "deadline", "p", "invalidation")
    }


def test_opened_records_are_numbered_from_one_by_account(door: Door) -> None:
    opened = [
        Opened.decode(output.value)
        for wallet, at_ms in ((ANN, T0), (ANN, T0 + 1), (BOB, T0))
        for output in door.ask("arena.open", OPEN, wallet, at_ms)
    ]
    assert [one.record for one in opened] == [f"{ANN_ADDRESS}/1", f"{ANN_ADDRESS}/2", f"{BOB_ADDRESS}/1"]
    assert [one.book_id for one in opened] == [book_id(one.record) for one in opened]
    assert opened[0].coins == ("BTC", "ETH")


def test_a_refused_open_uses_no_number(door: Door) -> None:
    assert receipt_of(door.ask("arena.open", {**OPEN, "coins": "BTC"})).code == "malformed"
    (output,) = door.ask("arena.open", OPEN)
    assert Opened.decode(output.value).record == f"{ANN_ADDRESS}/1"


@pytest.mark.parametrize(
    ("changes", "record", "call_id", "nonce"),
    [
        ({}, f"{ANN_ADDRESS}/0", None, 0),
        ({"record": f"{ANN_ADDRESS.upper().replace('X', 'x')}/0", "nonce": 4}, f"{ANN_ADDRESS}/0", None, 4),
        ({"record": f"{ANN_ADDRESS}/12", "nonce": None, "call_id": 7}, f"{ANN_ADDRESS}/12", 7, None),
    ],
)
def test_a_commit_goes_to_its_record(
    door: Door, changes: Mapping[str, Any], record: str, call_id: int | None, nonce: int | None
) -> None:
    (output,) = door.ask("arena.commit", {**COMMIT, **changes})
    assert (output.topic, output.key) == (COMMITS, record.encode())
    commit = Commit.decode(output.value)
    assert (commit.record, commit.owner, commit.call_id, commit.nonce) == (record, ANN_ADDRESS, call_id, nonce)
    assert (commit.hash, commit.horizon_s, commit.at, commit.book_id) == (WORD, 3600, T0, book_id(record))


def test_anyone_may_reveal_for_the_record_that_is_named(door: Door) -> None:
    body = {
        **REVEAL,
        "record": f"{BOB_ADDRESS}/3",
        "coin": None,
        "coin_index": 1,
        "salt": WORD.upper().replace("X", "x"),
    }
    (output,) = door.ask("arena.reveal", body)
    assert (output.topic, output.key) == (REVEALS, f"{BOB_ADDRESS}/3".encode())
    reveal = Reveal.decode(output.value)
    assert (reveal.owner, reveal.coin, reveal.coin_index, reveal.side, reveal.salt) == (BOB_ADDRESS, None, 1, -1, WORD)


def test_a_commit_to_somebody_elses_record_is_refused(door: Door) -> None:
    body = {**COMMIT, "record": f"{BOB_ADDRESS}/0"}
    assert receipt_of(door.ask("arena.commit", body)).code == "not_owner"


@pytest.mark.parametrize(
    ("raw", "code", "sentence"),
    [
        (None, "malformed", "no value"),
        (b"", "malformed", "not JSON, at character 0"),
        (b"{", "malformed", "not JSON"),
        (b"[]", "malformed", "no object"),
        (b"\xff{}", "malformed", "not UTF-8, at byte 0"),
        ('{"v":1}'.encode("utf-16"), "malformed", "not UTF-8"),
        (b"\xef\xbb\xbf{}", "malformed", "not JSON"),
        (b'{"v":NaN}', "malformed", "NaN is no JSON number"),
        (b'{"v":-Infinity}', "malformed", "-Infinity is no JSON number"),
        (b'{"v":1e999}', "malformed", "beyond the range of a double"),
        (b'{"v":9007199254740992}', "malformed", "beyond 9007199254740991"),
        (b'{"v":' + b"9" * 5_000 + b"}", "malformed", "beyond 9007199254740991"),
        (b'{"v":1,"v":2}', "malformed", "1 keys more than once"),
        (b'{"a":{"b":1,"\\u0062":1}}', "malformed", "1 keys more than once"),
        (b"[" * 60_000, "malformed", "nested more than 8"),
        (b"[" * 9 + b"]" * 9, "malformed", "nested more than 8"),
        (b'{"v":1}', "malformed", "missing keys: body, issued_at, kind, signature, signer"),
        (b" " * MAX_RECORD_BYTES + b"1", "too_large", "65537 bytes, the most is 65536"),
        (b'"' + b"x" * 1_000_000 + b'"', "too_large", "1000002 bytes"),
    ],
)
def test_a_record_that_is_no_envelope_is_answered_under_the_hash_of_its_bytes(
    door: Door, raw: bytes | None, code: str, sentence: str
) -> None:
    receipt = receipt_of(door.send(raw, "ann"))
    assert (receipt.status, receipt.code, receipt.kind, receipt.agent) == ("rejected", code, "unknown", "ann")
    assert receipt.id == f"{hashlib.sha256(raw or b'').hexdigest()}:{partition_of(b'ann', PARTITIONS)}:0"
    assert sentence in receipt.detail


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (envelope_with(extra=1), "malformed"),
        (envelope_with(v=2), "malformed"),
        (envelope_with(v=True), "malformed"),
        (envelope_with(v="1"), "malformed"),
        (envelope_with(signer=...), "malformed"),
        (envelope_with(signer="ann"), "malformed"),
        (envelope_with(signer=ANN_ADDRESS + "\n"), "malformed"),
        (envelope_with(signer=7), "malformed"),
        (envelope_with(signature=None), "malformed"),
        (envelope_with(signature="0x"), "bad_signature"),
        (envelope_with(signer=BOB_ADDRESS), "bad_signature"),
        (envelope_with(issued_at=str(T0)), "malformed"),
        (envelope_with(issued_at=T0 + 0.5), "malformed"),
        (envelope_with(issued_at=True), "malformed"),
        (envelope_with(issued_at=1e300), "malformed"),
        (envelope_with(issued_at=T0 + 1), "bad_signature"),
        (envelope_with(body=[]), "malformed"),
        (envelope_with(body={"agent": "ann", "operator": "\ud800"}), "malformed"),
        (envelope_with(body={"\udfff": 1}), "malformed"),
        (envelope_with(body={"agent": 1}), "malformed"),
        (envelope_with(body={"agent": ""}), "malformed"),
        (envelope_with(body={"agent": "ann "}), "malformed"),
        (envelope_with(body={"agent": "a" * 65}), "too_large"),
        (envelope_with(body={"agent": "ann", "operator": "o" * 65}), "too_large"),
        (envelope_with(body={"agent": "ann", "operator": "o p"}), "malformed"),
        (envelope_with(body={"agent": "ann"}), "malformed"),
        (envelope_with(body={**REGISTER, "more": 1}), "malformed"),
        (envelope_with(kind=1), "malformed"),
        (envelope_with(kind="\ud800"), "malformed"),
        (envelope_with(kind=""), "unknown_kind"),
        (envelope_with(kind="floor.Call"), "unknown_kind"),
        (envelope_with(kind="floor.hide"), "not_supported"),
        (envelope_with(kind="floor.dispute"), "not_supported"),
        (envelope_with(kind="floor.heartbeat"), "not_supported"),
        (envelope_with(kind="floor.answer"), "not_supported"),
    ],
)
def test_an_envelope_that_is_not_right_gets_its_code(door: Door, raw: bytes, code: str) -> None:
    receipt = receipt_of(door.send(raw, "ann"))
    assert (receipt.status, receipt.code, receipt.ref) == ("rejected", code, None)
    assert not list(door.reducers[partition_of(b"ann", PARTITIONS)].state.items(""))


@pytest.mark.parametrize(
    ("changes", "code", "sentence"),
    [
        ({"claim": "x" * 501}, "too_large", "claim has 501 characters, the most is 500"),
        ({"invalidation": "x" * 2_001}, "too_large", "invalidation has 2001 characters, the most is 2000"),
        ({"source": "a:b:" + "c" * 125}, "too_large", "source has 129 characters, the most is 128"),
        ({"terms": {"kind": "x" * 1_000}}, "too_large", "the most is 1000"),
        ({"claim": 7}, "malformed", "claim must be a string"),
        ({"p": True}, "malformed", "p must be a number"),
        ({"p": "0.5"}, "malformed", "p must be a number"),
        ({"source": "a:b"}, "malformed", "source"),
        ({"deadline": 1e300}, "malformed", "deadline"),
        ({"deadline": T0 + 0.5}, "malformed", "deadline"),
        ({"terms": []}, "malformed", "terms"),
        ({"agent": "bob"}, "unknown_agent", "not registered"),
    ],
)
def test_a_call_of_the_wrong_shape_is_refused_in_the_rules_order(
    open_door: Door, changes: Mapping[str, Any], code: str, sentence: str
) -> None:
    receipt = receipt_of(open_door.ask("floor.call", {**CALL, **changes}))
    assert (receipt.code, receipt.kind) == (code, "floor.call")
    assert sentence in receipt.detail


def test_a_call_by_another_wallet_is_refused(open_door: Door) -> None:
    assert receipt_of(open_door.ask("floor.call", CALL, wallet=BOB)).code == "bad_signature"
    forged = sign_envelope(BOB, "floor.call", CALL, T0).model_copy(update={"signer": ANN_ADDRESS})
    assert receipt_of(open_door.send(forged, "ann")).code == "bad_signature"


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("arena.open", {"coins": [1]}),
        ("arena.open", {"min_horizon_s": -1}),
        ("arena.open", {"max_horizon_s": 2**32}),
        ("arena.open", {"typo": 1}),
        ("arena.commit", {"hash": "0x12"}),
        ("arena.commit", {"hash": WORD + "\n"}),
        ("arena.commit", {"horizon_s": True}),
        ("arena.commit", {"nonce": None}),
        ("arena.commit", {"call_id": 0}),
        ("arena.commit", {"record": "mine"}),
        ("arena.commit", {"record": f"{ANN_ADDRESS}/01"}),
        ("arena.commit", {"record": f"{ANN_ADDRESS}/1"}),
        ("arena.commit", {"record": 1}),
        ("arena.reveal", {"coin_index": 0}),
        ("arena.reveal", {"coin": None}),
        ("arena.reveal", {"coin": 1}),
        ("arena.reveal", {"coin": None, "coin_index": 256}),
        ("arena.reveal", {"side": 128}),
        ("arena.reveal", {"side": "long"}),
        ("arena.reveal", {"call_id": -1}),
        ("arena.reveal", {"salt": None}),
    ],
)
def test_a_request_to_the_arena_of_the_wrong_shape_is_malformed(
    door: Door, kind: str, changes: Mapping[str, Any]
) -> None:
    assert receipt_of(door.ask(kind, {**BODIES[kind], **changes})).code == "malformed"


@pytest.mark.parametrize("kind", ["arena.open", "arena.commit", "arena.reveal"])
def test_a_request_to_the_arena_that_its_signer_did_not_sign_is_refused(door: Door, kind: str) -> None:
    forged = sign_envelope(BOB, kind, BODIES[kind], T0).model_copy(update={"signer": ANN_ADDRESS})
    assert receipt_of(door.send(forged, ANN_ADDRESS)).code == "bad_signature"


def test_a_signer_may_be_written_with_its_checksum_but_the_key_is_lower_case(door: Door) -> None:
    envelope = sign_envelope(ANN, "arena.open", OPEN, T0)
    checksummed = envelope.model_copy(update={"signer": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"})
    assert receipt_of(door.send(checksummed, checksummed.signer)).code == "misrouted"
    (output,) = door.send(checksummed, ANN_ADDRESS)
    assert Opened.decode(output.value).owner == ANN_ADDRESS


@pytest.mark.parametrize("key", ["bob", "", None, b"\xff", "ann ", ANN_ADDRESS])
def test_a_record_under_another_key_is_misrouted(door: Door, key: str | bytes | None) -> None:
    receipt = receipt_of(door.send(sign_envelope(ANN, "floor.register", REGISTER, T0), key))
    assert receipt.code == "misrouted"
    assert receipt.agent == (key if key in ("bob", ANN_ADDRESS) else "")


def test_a_record_in_another_partition_than_its_keys_is_misrouted(door: Door) -> None:
    elsewhere = 1 - partition_of(b"ann", PARTITIONS)
    record = door.make_record(INGRESS, "ann", sign_envelope(ANN, "floor.register", REGISTER, T0), T0, elsewhere)
    receipt = receipt_of(door.feed(record))
    assert receipt.code == "misrouted"
    assert f"partition is {elsewhere}, this key belongs to partition {1 - elsewhere} of 2" in receipt.detail


@pytest.mark.parametrize("sign", [1, -1])
def test_an_envelope_is_good_for_ten_minutes_either_way_of_the_records_time(door: Door, sign: int) -> None:
    envelope = sign_envelope(ANN, "floor.register", REGISTER, T0)
    assert receipt_of(door.send(envelope, "ann", T0 + sign * (STALE_AFTER_MS + 1))).code == "stale"
    assert receipt_of(door.send(envelope, "ann", T0 + sign * STALE_AFTER_MS)).status == "accepted"


@pytest.mark.parametrize("kind", ["floor.register", "floor.call", "arena.open", "arena.commit", "arena.reveal"])
def test_the_same_envelope_again_changes_nothing_and_says_where_it_was_taken_in(open_door: Door, kind: str) -> None:
    at_ms = T0 + 1
    (first,) = open_door.ask(kind, BODIES[kind], at_ms=at_ms)
    place = json.loads(first.value).get("position")
    state = dict(open_door.reducers[0].state.items("")), dict(open_door.reducers[1].state.items(""))
    envelope = sign_envelope(ANN, kind, BODIES[kind], at_ms)
    receipt = receipt_of(open_door.send(envelope, "ann" if kind.startswith("floor.") else ANN_ADDRESS, at_ms + 60_000))
    assert (receipt.status, receipt.code) == ("rejected", "duplicate")
    assert receipt.id.rpartition(":")[0].rpartition(":")[0] == envelope_id(envelope)
    assert place is None or f"partition {place['partition']}, offset {place['offset']}" in receipt.detail
    assert state == (dict(open_door.reducers[0].state.items("")), dict(open_door.reducers[1].state.items("")))


def test_an_envelope_written_with_other_spaces_and_key_order_is_the_same_envelope(open_door: Door) -> None:
    envelope = sign_envelope(ANN, "floor.call", CALL, T0)
    assert open_door.send(envelope, "ann")[0].topic is POSTS
    respelt = json.dumps(dict(reversed(envelope.model_dump().items())), indent=3).encode()
    assert receipt_of(open_door.send(respelt, "ann")).code == "duplicate"


def test_a_duplicate_is_recognised_after_a_restart_and_forgotten_when_a_copy_would_be_stale(door: Door) -> None:
    envelope = sign_envelope(ANN, "arena.open", OPEN, T0)
    early = T0 - STALE_AFTER_MS
    assert door.send(envelope, ANN_ADDRESS, early)[0].topic is COMMITS
    door.restart()
    last = early + REMEMBERED_MS
    assert receipt_of(door.send(envelope, ANN_ADDRESS, last)).code == "duplicate"
    home = door.reducers[partition_of(ANN_ADDRESS.encode(), PARTITIONS)]
    assert [key for key, _ in home.state.items("seen/")] == [envelope_id(envelope)]
    assert receipt_of(door.send(envelope, ANN_ADDRESS, last + 1)).code == "stale"
    assert not list(home.state.items("seen/"))
    (output,) = door.ask("arena.open", OPEN, at_ms=last + 1)
    assert Opened.decode(output.value).record == f"{ANN_ADDRESS}/2"


def test_an_envelope_that_was_refused_may_be_sent_again(door: Door) -> None:
    call = sign_envelope(ANN, "floor.call", CALL, T0)
    assert receipt_of(door.send(call, "ann")).code == "unknown_agent"
    door.ask("floor.register", REGISTER)
    (output,) = door.send(call, "ann")
    assert Post.decode(output.value).id == envelope_id(call)


def test_nobody_gets_to_answer_for_an_envelope_with_a_copy_of_it(open_door: Door) -> None:
    call = sign_envelope(ANN, "floor.call", CALL, T0)
    own_id = Post.decode(open_door.send(call, "ann")[0].value).id
    stolen = Envelope(
        v=1, kind="arena.open", body=OPEN, issued_at=T0, signer=recovered(call.signature), signature=call.signature
    )
    (opened,) = open_door.send(stolen, stolen.signer)
    attempts = [
        open_door.send(call, "ann"),
        open_door.send(call, "bob"),
        open_door.send(call, "ann", T0 + STALE_AFTER_MS + 1),
        open_door.send(call.model_copy(update={"kind": "floor.hide"}), "ann"),
        open_door.send(bytes.fromhex(call.signature[2:]), "ann"),
    ]
    ids = {receipt_of(outputs).id for outputs in attempts} | {Opened.decode(opened.value).post}
    assert len(ids) == len(attempts) + 1
    assert own_id not in ids


def test_bodies_may_nest_to_the_limit_and_no_deeper(open_door: Door) -> None:
    def nested(levels: int) -> Any:
        return {"deeper": nested(levels - 1)} if levels else 1

    # the envelope is one level, its body the next
    assert open_door.ask("floor.call", {**CALL, "terms": nested(MAX_DEPTH - 2)})[0].topic is POSTS
    assert receipt_of(open_door.ask("floor.call", {**CALL, "terms": nested(MAX_DEPTH - 1)})).code == "malformed"


def test_receipts_never_repeat_what_a_stranger_wrote(open_door: Door) -> None:
    words = "<script>"
    for outputs in (
        open_door.send(words.encode(), words),
        open_door.send(envelope_with(kind=words), "ann"),
        open_door.send(envelope_with(**{words: 1}), "ann"),
        open_door.send(envelope_with(body={**REGISTER, words: 1}), "ann"),
        open_door.send(envelope_with(signature=words), "ann"),
        open_door.ask("floor.call", {**CALL, "source": words}),
    ):
        assert words not in outputs[0].value.decode()
        assert words not in outputs[0].key.decode()
