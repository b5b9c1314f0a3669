"""What the contract accepts into an open record: its terms, commits and reveals, by its clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rules.arena.commitment import Deployment, Keccak, locked_hash, symbol_hash
from rules.arena.numbers import GRACE_S, SEAL_LEAD_S
from rules.arena.types import Commit, OpenRecord, Reveal

MIN_HORIZON_S: Final = 300
MAX_HORIZON_S: Final = 2_592_000
MAX_COINS: Final = 32
MAX_COIN_BYTES: Final = 16
_MINUTE_S: Final = 60
_HASH_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something is not accepted: a stable code and one sentence."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """A commit as sent: the hash, the hold, and the id that the hash was made for.

    `named_id` is the call id in a coin-list record and the owner's nonce in an any-coin record.
    """

    call_hash: bytes
    horizon_s: int
    named_id: int


@dataclass(frozen=True, slots=True)
class RevealRequest:
    """A reveal as sent; `coin` is text in an any-coin record and an index in a coin-list record."""

    call_id: int
    side: int
    coin: str | int
    salt: bytes


def open_list_record(
    record_id: int, owner: str, coins: Sequence[str], min_horizon_s: int, max_horizon_s: int, now_s: int
) -> OpenRecord | Refusal:
    """Open a record over a list of coins, or say why not (Rule A15)."""
    refusal = check_coin_list(coins) or check_horizon_range(min_horizon_s, max_horizon_s)
    return refusal or OpenRecord(record_id, owner, tuple(coins), min_horizon_s, max_horizon_s, now_s)


def open_any_coin_record(record_id: int, owner: str, now_s: int) -> OpenRecord:
    """Open the record that an account's first signed any-coin commit makes (Rule A15)."""
    return OpenRecord(record_id, owner, None, MIN_HORIZON_S, MAX_HORIZON_S, now_s)


def entry_at(now_s: int) -> int:
    """Return the entry of a commit locked now: the first whole minute a minute or more ahead (Rule A15)."""
    return -(-(now_s + SEAL_LEAD_S) // _MINUTE_S) * _MINUTE_S


def accept_commit(
    record: OpenRecord, request: CommitRequest, now_s: int, next_call_id: int, owner_nonce: int
) -> Commit | Refusal:
    """Accept a commit locked now, or say why not (Rule A15).

    `next_call_id` counts the record's commits and `owner_nonce` the any-coin commits of its owner so far; an
    accepted commit of an any-coin record uses that nonce up.
    """
    if record.closed_at_s is not None and now_s >= record.closed_at_s:
        return Refusal("record_closed", f"record {record.record_id} takes no commits since {record.closed_at_s}.")
    expected_id = next_call_id if record.coins is not None else owner_nonce
    if request.named_id != expected_id:
        return Refusal("stale_id", f"named_id is {request.named_id}, the next one is {expected_id}.")
    refusal = check_call_hash(request.call_hash) or check_horizon(record, request.horizon_s)
    if refusal is not None:
        return refusal
    nonce = owner_nonce if record.coins is None else None
    return Commit(next_call_id, request.call_hash, now_s, entry_at(now_s), request.horizon_s, nonce)


def accept_reveal(
    keccak: Keccak,
    deployment: Deployment,
    record: OpenRecord,
    commit: Commit,
    request: RevealRequest,
    now_s: int,
    already_revealed: bool,
) -> Reveal | Refusal:
    """Accept a reveal made now of a commit of the record, or say why not (Rules A14, A15).

    Anyone may reveal, once, and after the record's close as well.
    """
    if request.call_id != commit.call_id:
        raise ValueError(f"call_id: the reveal is of {request.call_id}, the commit is {commit.call_id}")
    if already_revealed:
        return Refusal("already_revealed", f"call {commit.call_id} is revealed already.")
    refusal = (
        check_reveal_time(now_s, commit.entry_at_s + commit.horizon_s)
        or check_position(record, request)
        or check_hash(keccak, deployment, record, commit, request)
    )
    return refusal or Reveal(request.call_id, now_s, request.side, request.coin, request.salt)


def check_coin_list(coins: Sequence[str]) -> Refusal | None:
    """Refuse a list that has not 1 to 32 coins of 1 to 16 bytes each (Rule A15)."""
    if not 1 <= len(coins) <= MAX_COINS:
        return Refusal("coin_count", f"coins has {len(coins)} names, it takes 1 to {MAX_COINS}.")
    for coin in coins:
        refusal = _check_coin_text(coin)
        if refusal is not None:
            return refusal
    return None


def check_horizon_range(min_horizon_s: int, max_horizon_s: int) -> Refusal | None:
    """Refuse a range that is not 300 <= min <= max <= 2,592,000 in whole minutes (Rule A15)."""
    if not MIN_HORIZON_S <= min_horizon_s <= max_horizon_s <= MAX_HORIZON_S:
        return Refusal(
            "horizon_range",
            f"horizons are {min_horizon_s} to {max_horizon_s} s, they lie within {MIN_HORIZON_S} to {MAX_HORIZON_S} s.",
        )
    for name, value_s in (("min_horizon", min_horizon_s), ("max_horizon", max_horizon_s)):
        if value_s % _MINUTE_S:
            return Refusal("horizon_range", f"{name} is {value_s} s, it is a multiple of {_MINUTE_S} s.")
    return None


def check_call_hash(call_hash: bytes) -> Refusal | None:
    """Refuse a hash that is zero or not 32 bytes (Rule A15)."""
    if len(call_hash) != _HASH_BYTES:
        return Refusal("bad_hash", f"call_hash has {len(call_hash)} bytes, it has {_HASH_BYTES}.")
    if not any(call_hash):
        return Refusal("zero_hash", "call_hash is zero, it seals nothing.")
    return None


def check_horizon(record: OpenRecord, horizon_s: int) -> Refusal | None:
    """Refuse a hold outside the record's range or not of whole minutes (Rule A15)."""
    if not record.min_horizon_s <= horizon_s <= record.max_horizon_s:
        return Refusal(
            "horizon_out_of_range",
            f"horizon is {horizon_s} s, the record takes {record.min_horizon_s} to {record.max_horizon_s} s.",
        )
    if horizon_s % _MINUTE_S:
        return Refusal("horizon_not_minutes", f"horizon is {horizon_s} s, it is a multiple of {_MINUTE_S} s.")
    return None


def check_reveal_time(now_s: int, exit_at_s: int) -> Refusal | None:
    """Refuse a reveal before the exit or more than 7 days after it, both ends allowed (Rule A15)."""
    if now_s < exit_at_s:
        return Refusal("reveal_too_early", f"now is {now_s}, reveals open at the exit, {exit_at_s}.")
    if now_s > exit_at_s + GRACE_S:
        return Refusal("reveal_expired", f"now is {now_s}, reveals closed after {exit_at_s + GRACE_S}.")
    return None


def check_position(record: OpenRecord, request: RevealRequest) -> Refusal | None:
    """Refuse a side other than 1 and -1, and a coin that the record cannot name (Rule A15)."""
    if request.side not in (1, -1):
        return Refusal("bad_side", f"side is {request.side}, it is 1 or -1.")
    coin = request.coin
    if record.coins is None:
        if isinstance(coin, str):
            return _check_coin_text(coin)
        return Refusal("bad_coin", f"coin is the index {coin}, an any-coin record takes a name.")
    if isinstance(coin, str):
        return Refusal("bad_coin", "coin is a name, a coin-list record takes an index.")
    if not 0 <= coin < len(record.coins):
        return Refusal("bad_coin", f"coin is the index {coin}, the list has {len(record.coins)} coins.")
    return None


def check_hash(
    keccak: Keccak, deployment: Deployment, record: OpenRecord, commit: Commit, request: RevealRequest
) -> Refusal | None:
    """Refuse a reveal that is not what the commit sealed (Rule A14); run after `check_position`."""
    if len(request.salt) != _HASH_BYTES:
        return Refusal("bad_salt", f"salt has {len(request.salt)} bytes, it has {_HASH_BYTES}.")
    if revealed_hash(keccak, deployment, record, commit, request) != commit.call_hash:
        return Refusal("hash_mismatch", f"call {commit.call_id} was not sealed with this coin, side and salt.")
    return None


def revealed_hash(
    keccak: Keccak, deployment: Deployment, record: OpenRecord, commit: Commit, request: RevealRequest
) -> bytes:
    """Return the hash that a reveal would have been sealed with (Rule A14)."""
    side, horizon_s, salt = request.side, commit.horizon_s, request.salt
    if isinstance(request.coin, int):
        return locked_hash(keccak, deployment, record.record_id, commit.call_id, request.coin, side, horizon_s, salt)
    if commit.nonce is None:
        raise ValueError(f"call {commit.call_id}: a commit of an any-coin record has its owner's nonce")
    return symbol_hash(keccak, deployment, record.owner, commit.nonce, request.coin, side, horizon_s, salt)


def _check_coin_text(coin: str) -> Refusal | None:
    try:
        size = len(coin.encode())
    except UnicodeEncodeError:
        return Refusal("bad_coin", "coin is not text that UTF-8 can hold.")
    if not 1 <= size <= MAX_COIN_BYTES:
        return Refusal("bad_coin", f"coin has {size} bytes, it takes 1 to {MAX_COIN_BYTES}.")
    return None
