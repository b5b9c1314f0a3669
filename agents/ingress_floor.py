"""Reads the bodies of `floor.*` requests, shapes and sizes only, and makes their messages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agents.ingress_envelope import MAX_SAFE_INTEGER, Place, RejectedError, check_keys, malformed, read_whole
from rules.canonical import canonical_text
from rules.floor.call import Call, check_shape
from rules.floor.refusal import Refusal
from topics.floor import Fields, Post

MAX_NAME_CHARACTERS: Final = 64
MAX_CHARACTERS: Final[Mapping[str, int]] = {"claim": 500, "source": 128, "invalidation": 2_000}
MAX_TERMS_CHARACTERS: Final = 1_000
NAME_FORM: Final = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Registration:
    """An agent's wish to be known, under an operator's name."""

    agent: str
    operator: str


def is_name(text: str) -> bool:
    """Tell whether a text can be the id of an agent: 1 to 64 of the characters A-Z a-z 0-9 . _ -"""
    return len(text) <= MAX_NAME_CHARACTERS and NAME_FORM.fullmatch(text) is not None


def read_name(name: str, body: Mapping[str, Any]) -> str:
    """Read a field that is the id of an agent or an operator; raises `RejectedError`."""
    text = body.get(name)
    if not isinstance(text, str):
        raise malformed(f"{name} must be a string")
    if len(text) > MAX_NAME_CHARACTERS:
        raise RejectedError("too_large", f"{name} has {len(text)} characters, the most is {MAX_NAME_CHARACTERS}")
    if not is_name(text):
        raise malformed(f"{name} must be made of the characters A-Z a-z 0-9 . _ - and not be empty")
    return text


def read_register(body: Mapping[str, Any]) -> Registration:
    """Read the body of `floor.register`; raises `RejectedError`."""
    check_keys(body, "agent", "operator")
    return Registration(read_name("agent", body), read_name("operator", body))


def read_call(body: Mapping[str, Any]) -> Call:
    """Read the body of `floor.call`; keys that a call does not have are ignored (Rule F1); raises `RejectedError`."""
    for name, most in MAX_CHARACTERS.items():
        text = body.get(name)
        if isinstance(text, str) and len(text) > most:
            raise RejectedError("too_large", f"{name} has {len(text)} characters, the most is {most}")
    call = check_shape(body)
    if isinstance(call, Refusal):
        raise RejectedError(call.code, call.detail)
    size = len(canonical_text(call.terms))
    if size > MAX_TERMS_CHARACTERS:
        raise RejectedError("too_large", f"terms have {size} characters of JSON, the most is {MAX_TERMS_CHARACTERS}")
    # a whole number may be written as 1e300, which no consumer's column holds
    read_whole("deadline", call.deadline_ms, -MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
    return call


def post_of(call: Call, operator: str, place: Place) -> Post:
    """Return the post of a call, its fields as sent; the coin is all between the source's first and last colon."""
    return Post(
        id=place.id,
        agent=call.agent,
        operator=operator,
        posted_at=place.at_ms,
        position=place.position,
        coin=call.source.partition(":")[2].rpartition(":")[0],
        fields=Fields(
            claim=call.claim,
            source=call.source,
            terms=dict(call.terms),
            deadline=call.deadline_ms,
            p=call.p,
            invalidation=call.invalidation,
        ),
    )
