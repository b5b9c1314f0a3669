"""The door of an open record: each refusal at its exact boundary, each acceptance as recorded."""

from dataclasses import replace

import pytest
from eth_hash.auto import keccak
from hypothesis import given
from hypothesis import strategies as st

from rules.arena.commitment import Deployment, locked_hash, symbol_hash
from rules.arena.contract import (
    CommitRequest,
    Refusal,
    RevealRequest,
    accept_commit,
    accept_reveal,
    entry_at,
    open_any_coin_record,
    open_list_record,
)
from rules.arena.types import Commit, OpenRecord, Reveal

NOW_S = 1_791_504_000
OWNER = "0x1111111111111111111111111111111111111111"
DEPLOYMENT = Deployment(5_042_002, "0x000000000000000000000000000000000000c0de")
LIST_RECORD = OpenRecord(9, OWNER, ("BTC", "ETH"), 600, 7200, NOW_S - 10)
ANY_RECORD = open_any_coin_record(10, OWNER, NOW_S - 10)
SALT = bytes(range(32))


def sealed(record: OpenRecord) -> tuple[Commit, RevealRequest]:
    if record.coins is None:
        call_hash = symbol_hash(keccak, DEPLOYMENT, OWNER, 4, "kPEPE", -1, 3600, SALT)
        request = RevealRequest(0, -1, "kPEPE", SALT)
    else:
        call_hash = locked_hash(keccak, DEPLOYMENT, record.record_id, 0, 1, -1, 3600, SALT)
        request = RevealRequest(0, -1, 1, SALT)
    named_id = 4 if record.coins is None else 0
    commit = accept_commit(record, CommitRequest(call_hash, 3600, named_id), NOW_S, 0, 4)
    assert isinstance(commit, Commit)
    return commit, request


def code(result: object) -> str:
    assert isinstance(result, Refusal), result
    assert result.detail.endswith(".")
    return result.code


def reveal(
    record: OpenRecord, commit: Commit, request: RevealRequest, now_s: int, again: bool = False
) -> Reveal | Refusal:
    return accept_reveal(keccak, DEPLOYMENT, record, commit, request, now_s, again)


@pytest.mark.parametrize("record", [LIST_RECORD, ANY_RECORD], ids=["coin list", "any coin"])
def test_a_sealed_prediction_reveals_from_its_exit_to_seven_days_later(record: OpenRecord) -> None:
    commit, request = sealed(record)
    exit_at_s = commit.entry_at_s + 3600
    assert commit.entry_at_s == NOW_S + 60
    assert commit.nonce == (4 if record is ANY_RECORD else None)
    assert code(reveal(record, commit, request, exit_at_s - 1)) == "reveal_too_early"
    for now_s in (exit_at_s, exit_at_s + 604_800):
        assert reveal(record, commit, request, now_s) == Reveal(0, now_s, -1, request.coin, SALT)
    assert code(reveal(record, commit, request, exit_at_s + 604_801)) == "reveal_expired"
    assert code(reveal(record, commit, request, exit_at_s, again=True)) == "already_revealed"


def test_closing_stops_commits_and_not_reveals() -> None:
    commit, request = sealed(LIST_RECORD)
    closed = replace(LIST_RECORD, closed_at_s=NOW_S + 5)
    good = CommitRequest(commit.call_hash, 3600, 1)
    assert isinstance(accept_commit(closed, good, NOW_S + 4, 1, 0), Commit)
    assert code(accept_commit(closed, good, NOW_S + 5, 1, 0)) == "record_closed"
    assert isinstance(reveal(closed, commit, request, commit.entry_at_s + 3600), Reveal)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (CommitRequest(SALT, 600, 0), None),
        (CommitRequest(SALT, 7200, 0), None),
        (CommitRequest(SALT, 540, 0), "horizon_out_of_range"),
        (CommitRequest(SALT, 7260, 0), "horizon_out_of_range"),
        (CommitRequest(SALT, 601, 0), "horizon_not_minutes"),
        (CommitRequest(SALT, 600, 1), "stale_id"),
        (CommitRequest(bytes(32), 600, 0), "zero_hash"),
        (CommitRequest(SALT[:31], 600, 0), "bad_hash"),
    ],
)
def test_a_commit_is_held_to_its_record(request_: CommitRequest, expected: str | None) -> None:
    result = accept_commit(LIST_RECORD, request_, NOW_S, 0, 7)
    if expected is None:
        assert result == Commit(0, SALT, NOW_S, NOW_S + 60, request_.horizon_s)
    else:
        assert code(result) == expected


def test_an_any_coin_commit_names_the_owners_nonce_and_not_the_call_id() -> None:
    assert code(accept_commit(ANY_RECORD, CommitRequest(SALT, 300, 2), NOW_S, 2, 7)) == "stale_id"
    commit = accept_commit(ANY_RECORD, CommitRequest(SALT, 300, 7), NOW_S, 2, 7)
    assert commit == Commit(2, SALT, NOW_S, NOW_S + 60, 300, 7)


@pytest.mark.parametrize("record", [LIST_RECORD, ANY_RECORD], ids=["coin list", "any coin"])
def test_a_reveal_must_be_what_was_sealed(record: OpenRecord) -> None:
    commit, request = sealed(record)
    now_s = commit.entry_at_s + 3600
    other_coin: str | int = "KPEPE" if record is ANY_RECORD else 0
    changed = [
        (replace(request, side=1), "hash_mismatch"),
        (replace(request, coin=other_coin), "hash_mismatch"),
        (replace(request, salt=bytes(32)), "hash_mismatch"),
        (replace(request, salt=SALT[:31]), "bad_salt"),
        (replace(request, side=0), "bad_side"),
    ]
    assert [code(reveal(record, commit, wrong, now_s)) for wrong, _ in changed] == [want for _, want in changed]


@pytest.mark.parametrize(
    ("record", "coin"),
    [
        (LIST_RECORD, 2),
        (LIST_RECORD, -1),
        (LIST_RECORD, "BTC"),
        (ANY_RECORD, 0),
        (ANY_RECORD, ""),
        (ANY_RECORD, "x" * 17),
        (ANY_RECORD, "₿" * 6),
        (ANY_RECORD, "\ud800"),
    ],
)
def test_a_coin_that_the_record_cannot_name_is_refused(record: OpenRecord, coin: str | int) -> None:
    commit, request = sealed(record)
    assert code(reveal(record, commit, replace(request, coin=coin), commit.entry_at_s + 3600)) == "bad_coin"


@pytest.mark.parametrize(
    ("coins", "low_s", "high_s", "expected"),
    [
        (["BTC"] * 32, 300, 2_592_000, None),
        (["x" * 16], 300, 300, None),
        ([], 300, 600, "coin_count"),
        (["BTC"] * 33, 300, 600, "coin_count"),
        (["x" * 17], 300, 600, "bad_coin"),
        ([""], 300, 600, "bad_coin"),
        (["BTC"], 240, 600, "horizon_range"),
        (["BTC"], 600, 540, "horizon_range"),
        (["BTC"], 300, 2_592_060, "horizon_range"),
        (["BTC"], 310, 600, "horizon_range"),
        (["BTC"], 300, 610, "horizon_range"),
    ],
)
def test_a_coin_list_record_opens_within_its_limits(
    coins: list[str], low_s: int, high_s: int, expected: str | None
) -> None:
    result = open_list_record(1, OWNER, coins, low_s, high_s, NOW_S)
    if expected is None:
        assert result == OpenRecord(1, OWNER, tuple(coins), low_s, high_s, NOW_S)
    else:
        assert code(result) == expected


@given(st.integers(0, 1 << 40))
def test_an_entry_is_the_first_whole_minute_at_least_a_minute_ahead(now_s: int) -> None:
    entry_at_s = entry_at(now_s)
    assert entry_at_s % 60 == 0
    assert 60 <= entry_at_s - now_s < 120


def test_addresses_and_words_of_a_wrong_size_are_named() -> None:
    with pytest.raises(ValueError, match="19 bytes, an address has 20"):
        locked_hash(keccak, Deployment(1, "0x" + "11" * 19), 1, 0, 0, 1, 600, SALT)
    with pytest.raises(ValueError, match="salt: 31 bytes"):
        symbol_hash(keccak, DEPLOYMENT, OWNER, 0, "BTC", 1, 600, SALT[:31])
