"""How a request is signed: EIP-191 over one canonical text, in one accepted form, known by one id."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

from eth_account import Account
from eth_account.messages import encode_defunct
from eth_keys.exceptions import BadSignature

from rules import canonical
from topics.ingress import Envelope

VERSION: Final = 1
SIGNATURE_FORM: Final = re.compile(r"0x[0-9a-f]{130}", re.ASCII)
GROUP_ORDER: Final = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
RECOVERY_BYTES: Final = (27, 28)


def canonical_text(kind: str, body: Mapping[str, Any], issued_at_ms: int) -> str:
    """Return the text that is signed: RFC 8785 of `{"body","issued_at","kind","v"}`.

    Raises `rules.canonical.CanonicalError` for what has no canonical JSON.
    """
    return canonical.canonical_text({"body": body, "issued_at": issued_at_ms, "kind": kind, "v": VERSION})


def sign_envelope(private_key: str | bytes, kind: str, body: Mapping[str, Any], issued_at_ms: int) -> Envelope:
    """Sign a request with a wallet's 32-byte key; raises `ValueError` for a bad key or no canonical JSON."""
    account = Account.from_key(private_key)
    signed = account.sign_message(encode_defunct(text=canonical_text(kind, body, issued_at_ms)))
    return Envelope(
        v=1,
        kind=kind,
        body=dict(body),
        issued_at=issued_at_ms,
        signer=account.address.lower(),
        signature=f"0x{bytes(signed.signature).hex()}",
    )


def signature_bytes(signature: str) -> bytes | None:
    """Return the 65 bytes of a signature in the one accepted form, else None.

    That form is lower-case 0x hex, 0 < r < n, 0 < s ≤ n / 2, and a last byte of 27 or 28: any other that a wallet
    library recovers the same signer from would let anyone send a signed request again under another id.
    """
    if SIGNATURE_FORM.fullmatch(signature) is None:
        return None
    raw = bytes.fromhex(signature[2:])
    r, s = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:64], "big")
    if raw[64] not in RECOVERY_BYTES or not 0 < r < GROUP_ORDER or not 0 < s <= GROUP_ORDER // 2:
        return None
    return raw


def recover_signer(envelope: Envelope) -> str | None:
    """Return the lower-case address whose wallet signed the envelope, whoever `signer` names; None if there is none."""
    raw = signature_bytes(envelope.signature)
    if raw is None:
        return None
    try:
        text = canonical_text(envelope.kind, envelope.body, envelope.issued_at)
        return str(Account.recover_message(encode_defunct(text=text), signature=raw)).lower()
    except (canonical.CanonicalError, BadSignature):
        return None


def envelope_id(envelope: Envelope) -> str | None:
    """Return the id of an envelope: sha256, lower-case hex, of its 65 signature bytes and the UTF-8 text they sign.

    The text is part of it because some address can be recovered from a stolen signature under any other text: by the
    signature alone that envelope would have the id, and so the receipt, of the one it was stolen from. None for a
    signature that is not in the accepted form; raises `rules.canonical.CanonicalError` as `canonical_text`.
    """
    raw = signature_bytes(envelope.signature)
    if raw is None:
        return None
    text = canonical_text(envelope.kind, envelope.body, envelope.issued_at)
    return hashlib.sha256(raw + text.encode()).hexdigest()
