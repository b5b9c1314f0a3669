"""Tests of what the ingress takes in, once, and what becomes of it."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from agents.ingress import REMEMBERED_MS, STALE_AFTER_MS, IngressReducer, partition_of, spec
from streams.delivery.state import PartitionState
from streams.signing import envelope_id, sign_envelope
from tests.agents.ingress_door import (
    ANN,
    ANN_ADDRESS,
    BOB,
    BOB_ADDRESS,
    BODIES,
    CALL,
    COMMIT,
    OPEN,
    PARTITIONS,
    REGISTER,
    REVEAL,
    T0,
    WORD,
    Door,
    receipt_of,
    recovered,
)
from topics.arena import Commit, Opened, Reveal
from topics.floor import Position, Post
from topics.ingress import Envelope, Receipt
from topics.keys import book_id
from topics.registry import COMMITS, INGRESS, POSTS, RECEIPTS, REVEALS


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


def test_a_signer_may_be_written_with_its_checksum_but_the_key_is_lower_case(door: Door) -> None:
    envelope = sign_envelope(ANN, "arena.open", OPEN, T0)
    checksummed = envelope.model_copy(update={"signer": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"})
    assert receipt_of(door.send(checksummed, checksummed.signer)).code == "misrouted"
    (output,) = door.send(checksummed, ANN_ADDRESS)
    assert Opened.decode(output.value).owner == ANN_ADDRESS


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
