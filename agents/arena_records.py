"""The open records of one partition: one small key a record, commit, reveal and published outcome."""

import hashlib
from dataclasses import dataclass, field
from typing import Final

from rules.arena.contract import entry_at
from rules.arena.numbers import GRACE_S
from rules.arena.types import Commit, OpenRecord, Reveal
from streams.delivery.state import PartitionState
from topics import arena

RECORDS: Final = "record/"
COMMITS: Final = "commit/"
REVEALS: Final = "reveal/"
OUTCOMES: Final = "outcome/"


@dataclass(slots=True)
class RecordBook:
    """What is known of one record; `commits` in call id order, so that a call's id is its place."""

    key: str
    terms: OpenRecord
    commits: list[Commit] = field(default_factory=list)
    reveals: dict[int, Reveal] = field(default_factory=dict)
    revealed_at_ms: dict[int, int] = field(default_factory=dict)
    published: dict[int, arena.Outcome] = field(default_factory=dict)

    def outcome_id(self, call_id: int) -> str:
        """Return the fingerprint of a call: sha256 (hex) of `record/call_id/hash`, the hash as 0x and hex."""
        text = f"{self.key}/{call_id}/0x{self.commits[call_id].call_hash.hex()}"
        return hashlib.sha256(text.encode()).hexdigest()


class RecordBooks:
    """The books of a partition, in memory and in its state."""

    def __init__(self, state: PartitionState) -> None:
        """Rebuild the books from the state."""
        self._state = state
        self._books: dict[str, RecordBook] = {}
        for _, raw in state.items(RECORDS):
            self._remember(arena.Opened.decode(raw))
        for key, raw in state.items(COMMITS):
            book, call_id = self._place(key)
            book.commits.append(commit_of(arena.Commit.decode(raw), call_id, any_coin=book.terms.coins is None))
        for key, raw in state.items(REVEALS):
            message, (book, _) = arena.Reveal.decode(raw), self._place(key)
            self._remember_reveal(book, message, reveal_of(message, book.terms))
        for key, raw in state.items(OUTCOMES):
            book, call_id = self._place(key)
            book.published[call_id] = arena.Outcome.decode(raw)

    def get(self, record: str) -> RecordBook | None:
        """Return the book of a record, None when it is not open."""
        return self._books.get(record)

    def all(self) -> list[RecordBook]:
        """Return the books of all records."""
        return list(self._books.values())

    def open(self, opened: arena.Opened) -> RecordBook:
        """Open a record; one that is open already stays as it is."""
        known = self._books.get(opened.record)
        if known is not None:
            return known
        self._state.put(RECORDS + opened.record, opened.encode())
        return self._remember(opened)

    def add_commit(self, book: RecordBook, message: arena.Commit, commit: Commit) -> None:
        """Keep the next accepted commit of a record."""
        book.commits.append(commit)
        self._state.put(member_key(COMMITS, book.key, commit.call_id), message.encode())

    def add_reveal(self, book: RecordBook, message: arena.Reveal, reveal: Reveal) -> None:
        """Keep the accepted reveal of a commit."""
        self._remember_reveal(book, message, reveal)
        self._state.put(member_key(REVEALS, book.key, reveal.call_id), message.encode())

    def publish(self, book: RecordBook, outcome: arena.Outcome) -> None:
        """Keep what was last published of a call."""
        book.published[outcome.call_id] = outcome
        self._state.put(member_key(OUTCOMES, book.key, outcome.call_id), outcome.encode())

    def _remember(self, opened: arena.Opened) -> RecordBook:
        book = self._books[opened.record] = RecordBook(opened.record, terms_of(opened))
        return book

    def _remember_reveal(self, book: RecordBook, message: arena.Reveal, reveal: Reveal) -> None:
        book.reveals[reveal.call_id] = reveal
        book.revealed_at_ms[reveal.call_id] = message.at

    def _place(self, key: str) -> tuple[RecordBook, int]:
        record, _, call_id = key.rpartition("/")
        return self._books[record], int(call_id)


def member_key(prefix: str, record: str, call_id: int) -> str:
    """Return the state key of one call's part of a record; keys of a record ascend by call id."""
    return f"{prefix}{record}/{call_id:010d}"


def terms_of(opened: arena.Opened) -> OpenRecord:
    """Return an opened record as the rules take it."""
    return OpenRecord(
        record_id=opened.book_id,
        owner=opened.owner,
        coins=opened.coins,
        min_horizon_s=opened.min_horizon_s,
        max_horizon_s=opened.max_horizon_s,
        opened_at_s=opened.at // 1_000,
    )


def commit_of(message: arena.Commit, call_id: int, *, any_coin: bool) -> Commit:
    """Return an accepted commit as the rules take it; an any-coin record is its owner's only one, so nonce = id."""
    locked_at_s = message.at // 1_000
    return Commit(
        call_id=call_id,
        call_hash=raw_bytes(message.hash),
        locked_at_s=locked_at_s,
        entry_at_s=entry_at(locked_at_s),
        horizon_s=message.horizon_s,
        nonce=call_id if any_coin else None,
    )


def reveal_of(message: arena.Reveal, terms: OpenRecord) -> Reveal:
    """Return a reveal as the rules take it."""
    return Reveal(
        call_id=message.call_id,
        at_s=message.at // 1_000,
        side=message.side,
        coin=named_coin(message, terms),
        salt=raw_bytes(message.salt),
    )


def named_coin(message: arena.Reveal, terms: OpenRecord) -> str | int:
    """Return the coin that a reveal names, whichever way it names it."""
    wanted, other = message.coin, message.coin_index
    if wanted is not None and other is not None:
        return wanted if terms.coins is None else other
    return wanted if wanted is not None else -1 if other is None else other


def raw_bytes(text: str) -> bytes:
    """Return the bytes of a hexadecimal text, none when it is not hexadecimal: the rules refuse the length."""
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        return b""


def grace_ends_s(commit: Commit) -> int:
    """Return the last second in which a commit can be revealed (Rule A3, deadline)."""
    return commit.entry_at_s + commit.horizon_s + GRACE_S
