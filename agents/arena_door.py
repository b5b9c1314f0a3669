"""What is accepted as open records and into them, in the order of its time, each with its receipt."""

from collections.abc import Callable
from typing import Final

from agents.arena_records import RecordBook, RecordBooks, named_coin, raw_bytes
from rules.arena.commitment import Deployment, Keccak
from rules.arena.contract import (
    MAX_HORIZON_S,
    MIN_HORIZON_S,
    CommitRequest,
    Refusal,
    RevealRequest,
    accept_commit,
    accept_reveal,
    open_any_coin_record,
    open_list_record,
)
from rules.arena.types import Commit, Reveal
from topics import arena
from topics.ingress import Receipt

ANY_COIN_NUMBER: Final = "0"

Accepted = Callable[[RecordBook, Commit | Reveal, int], None]
"""Told of each accepted commit or reveal, with its event time in ms."""


class Door:
    """Checks what is asked of records against the contract's rules and keeps what passes."""

    def __init__(self, books: RecordBooks, keccak: Keccak, deployment: Deployment, accepted: Accepted) -> None:
        self._books = books
        self._keccak = keccak
        self._deployment = deployment
        self._accepted = accepted

    def answer(self, message: arena.Opened | arena.Commit | arena.Reveal) -> Receipt:
        """Take in what is asked, or say why not; the receipt is the answer to its sender."""
        if isinstance(message, arena.Opened):
            return self.open(message)
        return self.commit(message) if isinstance(message, arena.Commit) else self.reveal(message)

    def open(self, message: arena.Opened) -> Receipt:
        """Open a record over a list of coins, or say why not (Rule A15)."""
        terms = open_list_record(
            message.book_id,
            message.owner,
            message.coins or (),
            message.min_horizon_s,
            message.max_horizon_s,
            message.at // 1_000,
        )
        if isinstance(terms, Refusal):
            return _receipt(message, "arena.open", terms, None, "")
        self._books.open(message)
        return _receipt(message, "arena.open", None, message.record, f"record {message.record} is open.")

    def commit(self, message: arena.Commit) -> Receipt:
        """Accept a commit into its record, or say why not (Rule A15); the first opens an any-coin record."""
        book = self._books.get(message.record)
        any_coin = message.record.rpartition("/")[2] == ANY_COIN_NUMBER
        if book is None and not any_coin:
            return commit_receipt(message, Refusal("unknown_record", f"record {message.record} is not open."), None)
        if book is None:
            terms = open_any_coin_record(message.book_id, message.owner, message.at // 1_000)
            next_call_id = 0
        else:
            terms = book.terms
            next_call_id = len(book.commits)
        named_id = message.nonce if any_coin else message.call_id
        request = CommitRequest(raw_bytes(message.hash), message.horizon_s, -1 if named_id is None else named_id)
        verdict = accept_commit(terms, request, message.at // 1_000, next_call_id, owner_nonce=next_call_id)
        if isinstance(verdict, Refusal):
            return commit_receipt(message, verdict, None)
        if book is None:
            book = self._books.open(any_coin_opening(message))
        self._books.add_commit(book, message, verdict)
        self._accepted(book, verdict, message.at)
        return commit_receipt(message, None, verdict)

    def reveal(self, message: arena.Reveal) -> Receipt:
        """Accept a reveal of a commit, whoever sends it, or say why not (Rules A14, A15)."""
        book = self._books.get(message.record)
        if book is None:
            return reveal_receipt(message, Refusal("unknown_record", f"record {message.record} is not open."))
        if not 0 <= message.call_id < len(book.commits):
            detail = f"call_id is {message.call_id}, the record has {len(book.commits)} calls."
            return reveal_receipt(message, Refusal("unknown_call", detail))
        commit = book.commits[message.call_id]
        request = RevealRequest(message.call_id, message.side, named_coin(message, book.terms), raw_bytes(message.salt))
        verdict = accept_reveal(
            self._keccak,
            self._deployment,
            book.terms,
            commit,
            request,
            message.at // 1_000,
            already_revealed=message.call_id in book.reveals,
        )
        if isinstance(verdict, Reveal) and message.horizon_s != commit.horizon_s:
            detail = f"horizon_s is {message.horizon_s}, call {commit.call_id} was sealed with {commit.horizon_s}."
            verdict = Refusal("hash_mismatch", detail)
        if isinstance(verdict, Refusal):
            return reveal_receipt(message, verdict)
        self._books.add_reveal(book, message, verdict)
        self._accepted(book, verdict, message.at)
        return reveal_receipt(message, None)


def any_coin_opening(message: arena.Commit) -> arena.Opened:
    """Return the opening of the any-coin record that an account's first commit makes (Rule A15)."""
    return arena.Opened(
        post=message.post,
        record=message.record,
        book_id=message.book_id,
        owner=message.owner,
        coins=None,
        min_horizon_s=MIN_HORIZON_S,
        max_horizon_s=MAX_HORIZON_S,
        at=message.at,
        position=message.position,
    )


def commit_receipt(message: arena.Commit, refusal: Refusal | None, commit: Commit | None) -> Receipt:
    """Return the answer to a commit; an accepted one is told its entry and exit."""
    if commit is None:
        return _receipt(message, "arena.commit", refusal, None, "")
    exit_at_s = commit.entry_at_s + commit.horizon_s
    detail = f"call {commit.call_id} enters at {commit.entry_at_s} and exits at {exit_at_s}, when reveals open."
    return _receipt(message, "arena.commit", None, f"{message.record}/{commit.call_id}", detail)


def reveal_receipt(message: arena.Reveal, refusal: Refusal | None) -> Receipt:
    """Return the answer to a reveal."""
    ref = None if refusal is not None else f"{message.record}/{message.call_id}"
    return _receipt(message, "arena.reveal", refusal, ref, f"call {message.call_id} is revealed.")


def _receipt(
    message: arena.Opened | arena.Commit | arena.Reveal,
    kind: str,
    refusal: Refusal | None,
    ref: str | None,
    detail: str,
) -> Receipt:
    return Receipt(
        id=message.post,
        kind=kind,
        agent=message.owner,
        status="accepted" if refusal is None else "rejected",
        code=None if refusal is None else refusal.code,
        detail=detail if refusal is None else refusal.detail,
        ref=ref,
        at=message.at,
    )
