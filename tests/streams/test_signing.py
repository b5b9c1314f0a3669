"""Tests of signing: one text, one form, one id."""

import time
from typing import Any

import pytest
import rfc8785
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_keys.backends import get_backend_class
from eth_keys.backends.coincurve import CoinCurveECCBackend
from hypothesis import given
from hypothesis import strategies as st

from rules.canonical import CanonicalError
from streams.signing import (
    GROUP_ORDER,
    canonical_text,
    envelope_id,
    recover_signer,
    sign_envelope,
    signature_bytes,
)
from topics.ingress import Envelope

KEY = "0x" + "11" * 32
ADDRESS = "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a"
T0 = 1_750_000_000_000
BODY: dict[str, Any] = {"agent": "ann", "p": 0.3, "terms": {"level": 1e21, "kind": "touch"}, "claim": "ümlaut € 𝒳"}

SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
BODIES = st.dictionaries(
    st.text(),
    st.recursive(SCALARS | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8),
    max_size=5,
)


def signed(**changes: Any) -> Envelope:
    """Return the example envelope with some fields changed after it was signed."""
    return sign_envelope(KEY, "floor.call", BODY, T0).model_copy(update=changes)


def altered(signature: str, s: int | None = None, v: int | None = None) -> str:
    """Return a signature with another s or last byte."""
    raw = bytes.fromhex(signature[2:])
    changed_s = raw[32:64] if s is None else s.to_bytes(32, "big")
    return "0x" + (raw[:32] + changed_s + bytes([raw[64] if v is None else v])).hex()


def s_of(signature: str) -> int:
    """Return the s of a signature."""
    return int(signature[66:130], 16)


def test_the_wallet_that_signed_is_recovered_in_lower_case() -> None:
    envelope = signed()
    assert envelope.signer == recover_signer(envelope) == ADDRESS


def test_the_text_is_what_another_rfc_8785_writer_makes_of_it() -> None:
    expected = rfc8785.dumps({"v": 1, "kind": "floor.call", "body": BODY, "issued_at": T0})
    assert canonical_text("floor.call", BODY, T0).encode() == expected


@given(BODIES)
def test_a_signature_survives_the_way_over_the_bus(body: dict[str, Any]) -> None:
    envelope = sign_envelope(KEY, "arena.open", body, T0)
    arrived = Envelope.decode(envelope.encode())
    assert recover_signer(arrived) == ADDRESS
    assert envelope_id(arrived) == envelope_id(envelope)


def test_a_signature_made_without_our_code_is_accepted() -> None:
    text = rfc8785.dumps({"v": 1, "kind": "floor.call", "body": BODY, "issued_at": T0}).decode()
    made = Account.sign_message(encode_defunct(text=text), KEY)
    assert signed().signature == made.signature.to_0x_hex()


@pytest.mark.parametrize("changes", [{"kind": "floor.hide"}, {"body": {**BODY, "p": 0.31}}, {"issued_at": T0 + 1}])
def test_a_changed_envelope_is_signed_by_somebody_else(changes: dict[str, Any]) -> None:
    assert recover_signer(signed(**changes)) != ADDRESS


def test_the_mirrored_signature_recovers_the_wallet_elsewhere_but_not_here() -> None:
    envelope = signed()
    mirrored = altered(
        envelope.signature, GROUP_ORDER - s_of(envelope.signature), 55 - int(envelope.signature[130:], 16)
    )
    message = encode_defunct(text=canonical_text(envelope.kind, envelope.body, envelope.issued_at))
    assert Account.recover_message(message, signature=mirrored).lower() == ADDRESS
    assert recover_signer(signed(signature=mirrored)) is None


@pytest.mark.parametrize("v", [0, 1, 26, 29, 37, 255])
def test_only_27_and_28_end_a_signature(v: int) -> None:
    assert signature_bytes(altered(signed().signature, v=v)) is None


@pytest.mark.parametrize(
    "change",
    [
        str.upper,
        lambda text: text[2:],
        lambda text: "0X" + text[2:],
        lambda text: text[:-2],
        lambda text: text + "00",
        lambda text: text + "\n",
        lambda text: " " + text,
        lambda _: "",
        lambda _: "0x" + "٣" * 130,
    ],
)
def test_another_spelling_of_the_signature_is_refused(change: Any) -> None:
    assert signature_bytes(change(signed().signature)) is None
    assert recover_signer(signed(signature=change(signed().signature))) is None


@pytest.mark.parametrize("s", [0, GROUP_ORDER // 2 + 1, GROUP_ORDER, 2**256 - 1])
def test_an_s_outside_the_lower_half_is_refused(s: int) -> None:
    assert signature_bytes(altered(signed().signature, s=s)) is None


@given(st.binary(min_size=64, max_size=64), st.sampled_from([27, 28]))
def test_random_bytes_in_the_accepted_form_recover_an_address_or_nobody(raw: bytes, v: int) -> None:
    signer = recover_signer(signed(signature=f"0x{raw.hex()}{v:02x}"))
    assert signer is None or (len(signer) == 42 and signer != ADDRESS)


def test_a_point_that_is_not_on_the_curve_recovers_nobody() -> None:
    # r = 5 is no x coordinate of secp256k1
    assert recover_signer(signed(signature="0x" + f"{5:064x}" + f"{1:064x}" + "1b")) is None


def test_the_id_is_of_signature_and_text() -> None:
    envelope = signed()
    other_text = signed(body={**BODY, "p": 0.5})
    assert envelope_id(envelope) != envelope_id(other_text)
    assert envelope_id(envelope) == envelope_id(signed(signer="0x" + "00" * 20))
    assert envelope_id(signed(signature="0x")) is None


def test_what_has_no_canonical_json_cannot_be_signed() -> None:
    with pytest.raises(CanonicalError):
        sign_envelope(KEY, "floor.call", {"p": float("nan")}, T0)
    assert recover_signer(signed(body={"claim": "\ud800"})) is None


def test_recovery_runs_on_coincurve_and_stays_under_a_millisecond() -> None:
    assert get_backend_class() is CoinCurveECCBackend
    envelope = signed()
    durations = []
    for _ in range(50):
        start = time.perf_counter()
        recover_signer(envelope)
        durations.append(time.perf_counter() - start)
    # the fastest: what the code costs, not what else the machine does
    assert min(durations) < 0.001
