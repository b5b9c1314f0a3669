"""Reads the bytes of a record as a signed envelope, so strictly that no two readers can understand them differently."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rules.canonical import CanonicalError
from rules.floor.rounding import whole_number
from rules.nesting import nesting_depth
from streams.signing import VERSION, canonical_text
from topics.floor import Position
from topics.ingress import Envelope

MAX_RECORD_BYTES: Final = 64 * 1024
MAX_DEPTH: Final = 8
MAX_SAFE_INTEGER: Final = 2**53 - 1
MAX_INTEGER_CHARACTERS: Final = len(str(-MAX_SAFE_INTEGER))
ADDRESS_FORM: Final = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
ENVELOPE_KEYS: Final = frozenset({"v", "kind", "body", "issued_at", "signer", "signature"})


class RejectedError(Exception):
    """An envelope is answered with a rejection: a code, and a sentence that names field, value and limit."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Place:
    """Under which id, when (the record's time in ms) and where an envelope is taken in."""

    id: str
    at_ms: int
    position: Position


def malformed(detail: str) -> RejectedError:
    """Return the rejection of something that has not the shape it must have."""
    return RejectedError("malformed", detail)


def read_envelope(raw: bytes | None) -> Envelope:
    """Read a record's value as an envelope, its signer in lower case; the signature is not looked at.

    Raises `RejectedError` with `too_large` or `malformed`.
    """
    if raw is None:
        raise malformed("the record has no value, it carries one envelope")
    if len(raw) > MAX_RECORD_BYTES:
        raise RejectedError("too_large", f"the record has {len(raw)} bytes, the most is {MAX_RECORD_BYTES}")
    document = read_json(raw)
    if not isinstance(document, dict):
        raise malformed("the record is JSON but no object, it carries one envelope")
    keys = document.keys()
    if keys != ENVELOPE_KEYS:
        missing = ", ".join(sorted(ENVELOPE_KEYS - keys)) or "none"
        raise malformed(f"the envelope has {len(keys - ENVELOPE_KEYS)} unknown keys; missing keys: {missing}")
    if whole_number(document["v"]) != VERSION:
        raise malformed(f"v must be the number {VERSION}")
    kind, body, signer, signature = (document[name] for name in ("kind", "body", "signer", "signature"))
    issued_at_ms = read_whole("issued_at", document["issued_at"], -MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
    if not isinstance(kind, str):
        raise malformed("kind must be a string")
    if not isinstance(body, dict):
        raise malformed("body must be an object")
    if not isinstance(signer, str) or ADDRESS_FORM.fullmatch(signer) is None:
        raise malformed("signer must be an address: 0x and 40 hexadecimal digits")
    if not isinstance(signature, str):
        raise malformed("signature must be a string")
    try:
        canonical_text(kind, body, issued_at_ms)
    except CanonicalError as error:
        raise malformed(f"the envelope has no canonical JSON: {error}") from None
    return Envelope(v=1, kind=kind, body=body, issued_at=issued_at_ms, signer=signer.lower(), signature=signature)


def check_keys(body: Mapping[str, Any], *known: str) -> None:
    """Refuse keys that a body does not have: a misspelt optional one would change the meaning without a word."""
    unknown = len(body.keys() - set(known))
    if unknown:
        raise malformed(f"body has {unknown} unknown keys, it takes {', '.join(known)}")


def read_whole(name: str, value: object, least: int, most: int) -> int:
    """Read a field that is a whole number between two bounds, both inclusive; raises `RejectedError`."""
    number = whole_number(value)
    if number is None or not least <= number <= most:
        raise malformed(f"{name} must be a whole number from {least} to {most}")
    return number


def read_json(raw: bytes) -> object:
    """Read strict JSON: UTF-8, no key twice, numbers that a double holds, at most 8 levels deep.

    Raises `RejectedError` with `malformed`.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise malformed(f"the record is not UTF-8, at byte {error.start}") from None
    # ahead of the parser, which descends as deep as the text tells it to
    if nesting_depth(text) > MAX_DEPTH:
        raise malformed(f"the record is nested more than {MAX_DEPTH} levels deep")
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_float=_real, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        raise malformed(f"the record is not JSON, at character {error.pos}") from None


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise malformed(f"an object has {len(pairs) - len(members)} keys more than once")
    return members


def _integer(text: str) -> int:
    # the length first: Python's limit on the digits of an int is a ValueError of its own
    value = int(text) if len(text) <= MAX_INTEGER_CHARACTERS else None
    if value is None or abs(value) > MAX_SAFE_INTEGER:
        raise malformed(f"a whole number is beyond {MAX_SAFE_INTEGER}, from where on doubles skip some")
    return value


def _real(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise malformed("a number is beyond the range of a double")
    return value


def _constant(text: str) -> float:
    raise malformed(f"{text} is no JSON number")
