"""Properties of the ingress under hostile input: one answer a record, no exception, nothing that depends on luck."""

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from agents.ingress import REMEMBERED_MS
from streams.delivery.outbox import Output
from streams.signing import sign_envelope
from tests.agents.ingress_door import ANN, ANN_ADDRESS, BOB, BODIES, CALL, PARTITIONS, REGISTER, T0, Door, receipt_of
from topics.ingress import KINDS, Envelope
from topics.registry import INGRESS, RECEIPTS

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(alphabet=st.characters(codec=None, exclude_categories=()))
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
KEYS = st.none() | st.binary(max_size=80) | st.sampled_from([b"ann", ANN_ADDRESS.encode()])
TIMES = st.integers(T0 - 2 * REMEMBERED_MS, T0 + 2 * REMEMBERED_MS) | st.sampled_from([-1, 0, 2**63 - 1])
RIGHT = [sign_envelope(ANN, kind, body, T0) for kind, body in BODIES.items()]


# no deadline: the machine may be busy with something else
fuzz = settings(max_examples=60, deadline=None)


def knowing_ann() -> Door:
    """Return a door that knows the agent `ann`."""
    door = Door()
    door.ask("floor.register", REGISTER)
    return door


@fuzz
@given(st.binary(), KEYS, st.integers(0, PARTITIONS - 1), TIMES)
def test_random_bytes_get_one_rejection(raw: bytes, key: bytes | None, partition: int, at_ms: int) -> None:
    door = Door()
    receipt = receipt_of(door.feed(door.make_record(INGRESS, key, raw, at_ms, partition)))
    assert (receipt.status, receipt.at) == ("rejected", at_ms)


@fuzz
@given(JSON, KEYS)
def test_random_json_gets_one_rejection(value: Any, key: bytes | None) -> None:
    assert receipt_of(Door().send(json.dumps(value).encode(), key)).code == "malformed"


@fuzz
@given(st.sampled_from(RIGHT), st.data())
def test_an_envelope_with_random_members_gets_one_answer(envelope: Envelope, data: st.DataObject) -> None:
    members = envelope.model_dump()
    for name in data.draw(st.sets(st.sampled_from([*members, "more"]), min_size=1)):
        members[name] = data.draw(JSON | st.sampled_from([*KINDS, *BODIES.values(), T0, ANN_ADDRESS]))
    (output,) = knowing_ann().send(json.dumps(members).encode(), "ann" if "floor" in envelope.kind else ANN_ADDRESS)
    assert output.topic is not RECEIPTS or receipt_of([output]).detail


@fuzz
@given(st.sampled_from(RIGHT), st.integers(0, 2_000), st.binary(max_size=3), st.integers(0, 3))
def test_an_envelope_with_mutated_bytes_gets_one_answer(envelope: Envelope, at: int, new: bytes, gone: int) -> None:
    raw = envelope.encode()
    at %= len(raw)
    (output,) = knowing_ann().send(
        raw[:at] + new + raw[at + gone :], "ann" if "floor" in envelope.kind else ANN_ADDRESS
    )
    assert output.topic is not RECEIPTS or receipt_of([output]).detail


@fuzz
@given(st.sampled_from(sorted(BODIES)), st.data())
def test_a_signed_body_with_random_members_gets_one_answer(kind: str, data: st.DataObject) -> None:
    finite = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    values = finite | st.text() | st.lists(finite | st.text()) | st.dictionaries(st.text(), finite | st.text())
    body = dict(BODIES[kind])
    for name in data.draw(st.sets(st.sampled_from(sorted({*body, "coin_index", "call_id", "more"} - {"agent"})))):
        body[name] = data.draw(values)
    (output,) = knowing_ann().ask(kind, body)
    assert json.loads(output.value)


@fuzz
@given(
    st.lists(
        st.tuples(st.sampled_from(["ann", "bob"]), st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=12
    )
)
@example([("ann", 0, 0, True), ("bob", 0, 0, True), ("ann", 1, 0, True)])
@example([("ann", 0, 0, True), ("ann", 0, 0, True), ("ann", 0, 3, False), ("ann", 0, 3, True)])
def test_restarts_change_nothing_and_no_envelope_is_taken_in_twice(moves: list[tuple[str, int, int, bool]]) -> None:
    """A move sends one of four envelopes of one of two wallets, some minutes on, perhaps after a restart."""
    steady, restarted = Door(), Door()
    ids: list[str] = []
    at_ms = T0
    for who, which, minutes, restart in moves:
        at_ms += minutes * 240_000
        wallet = ANN if who == "ann" else BOB
        kind, body = [
            ("floor.register", {**REGISTER, "agent": who}),
            ("floor.call", {**CALL, "agent": who}),
            ("arena.open", BODIES["arena.open"]),
            ("arena.commit", BODIES["arena.commit"]),
        ][which]
        envelope = sign_envelope(wallet, kind, body, T0)
        key = who if kind.startswith("floor.") else envelope.signer
        if restart:
            restarted.restart()
        outputs = steady.send(envelope, key, at_ms)
        assert outputs == restarted.send(envelope, key, at_ms)
        ids += [accepted_id(output) for output in outputs if accepted_id(output)]
    assert len(ids) == len(set(ids))


def accepted_id(output: Output) -> str:
    """Return the id of the envelope that an output took in; empty for a rejection."""
    message = json.loads(output.value)
    return "" if message.get("status") == "rejected" else str(message.get("post") or message["id"])
