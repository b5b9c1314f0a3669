"""Tests of what the ingress refuses, with which code and which words."""

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest

from agents.ingress import STALE_AFTER_MS, partition_of
from agents.ingress_envelope import MAX_DEPTH, MAX_RECORD_BYTES
from streams.signing import sign_envelope
from tests.agents.ingress_door import (
    ANN,
    ANN_ADDRESS,
    BOB,
    BOB_ADDRESS,
    BODIES,
    CALL,
    COMMIT,
    PARTITIONS,
    REGISTER,
    T0,
    WORD,
    Door,
    envelope_with,
    receipt_of,
)
from topics.registry import INGRESS, POSTS


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
