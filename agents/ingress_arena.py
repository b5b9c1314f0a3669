"""Reads the bodies of `arena.*` requests, shapes only, and makes their messages; the contract's rules are another's."""

import re
from collections.abc import Mapping
from typing import Any, Final

from agents.ingress_envelope import MAX_SAFE_INTEGER, Place, RejectedError, check_keys, malformed, read_whole
from topics.arena import Commit, Opened, Reveal
from topics.ingress import Envelope
from topics.keys import book_id, record_key

ANY_COIN_NUMBER: Final = 0
WORD_FORM: Final = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
RECORD_FORM: Final = re.compile(r"(0x[0-9a-fA-F]{40})/(0|[1-9][0-9]{0,8})", re.ASCII)

# widths of the contract's own fields (Rule A14)
MAX_HORIZON: Final = 2**32 - 1
MAX_COIN_INDEX: Final = 2**8 - 1
LEAST_SIDE: Final = -(2**7)
MOST_SIDE: Final = 2**7 - 1


def read_open(envelope: Envelope, place: Place, number: int) -> Opened:
    """Read an `arena.open` as the signer's record of this number; raises `RejectedError`."""
    body = envelope.body
    check_keys(body, "coins", "min_horizon_s", "max_horizon_s")
    coins = body.get("coins")
    if not isinstance(coins, list) or not all(isinstance(coin, str) for coin in coins):
        raise malformed("coins must be a list of strings")
    record = record_key(envelope.signer, number)
    return Opened(
        post=place.id,
        record=record,
        book_id=book_id(record),
        owner=envelope.signer,
        coins=tuple(coins),
        min_horizon_s=_horizon("min_horizon_s", body),
        max_horizon_s=_horizon("max_horizon_s", body),
        at=place.at_ms,
        position=place.position,
    )


def read_commit(envelope: Envelope, place: Place) -> Commit:
    """Read an `arena.commit` of the signer's own record; raises `RejectedError`.

    A commit names the id that its hash was made for: the owner's nonce in the any-coin record, else the call id.
    """
    body = envelope.body
    check_keys(body, "record", "hash", "horizon_s", "call_id", "nonce")
    owner, number = _record(body, envelope.signer)
    if owner != envelope.signer:
        raise RejectedError("not_owner", "record belongs to another account than signer, commits are by its owner")
    wanted, other = ("nonce", "call_id") if number == ANY_COIN_NUMBER else ("call_id", "nonce")
    if body.get(other) is not None:
        raise malformed(f"{other} must not be given: record number {number} takes a {wanted}")
    named_id = read_whole(wanted, body.get(wanted), 0, MAX_SAFE_INTEGER)
    record = record_key(owner, number)
    return Commit(
        post=place.id,
        record=record,
        book_id=book_id(record),
        owner=owner,
        call_id=named_id if wanted == "call_id" else None,
        nonce=named_id if wanted == "nonce" else None,
        hash=_word("hash", body),
        horizon_s=_horizon("horizon_s", body),
        at=place.at_ms,
        position=place.position,
    )


def read_reveal(envelope: Envelope, place: Place) -> Reveal:
    """Read an `arena.reveal`, by anyone, of the record that it names (Rule A15); raises `RejectedError`."""
    body = envelope.body
    check_keys(body, "record", "call_id", "coin", "coin_index", "side", "horizon_s", "salt")
    owner, number = _record(body, envelope.signer)
    coin, coin_index = body.get("coin"), body.get("coin_index")
    if (coin is None) == (coin_index is None):
        raise malformed("either coin or coin_index must be given, and not both")
    if coin is not None and not isinstance(coin, str):
        raise malformed("coin must be a string")
    return Reveal(
        post=place.id,
        record=record_key(owner, number),
        owner=owner,
        call_id=read_whole("call_id", body.get("call_id"), 0, MAX_SAFE_INTEGER),
        coin=coin,
        coin_index=None if coin_index is None else read_whole("coin_index", coin_index, 0, MAX_COIN_INDEX),
        side=read_whole("side", body.get("side"), LEAST_SIDE, MOST_SIDE),
        horizon_s=_horizon("horizon_s", body),
        salt=_word("salt", body),
        at=place.at_ms,
        position=place.position,
    )


def _horizon(name: str, body: Mapping[str, Any]) -> int:
    return read_whole(name, body.get(name), 0, MAX_HORIZON)


def _word(name: str, body: Mapping[str, Any]) -> str:
    text = body.get(name)
    if not isinstance(text, str) or WORD_FORM.fullmatch(text) is None:
        raise malformed(f"{name} must be 32 bytes: 0x and 64 hexadecimal digits")
    return text.lower()


def _record(body: Mapping[str, Any], account: str) -> tuple[str, int]:
    text = body.get("record")
    if text is None:
        return account, ANY_COIN_NUMBER
    match = RECORD_FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise malformed("record must be null or an account, a slash and a number of at most 9 digits")
    return match[1].lower(), int(match[2])
