"""Which commits of an open record count as of a moment, and what is known of each before pricing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rules.arena.numbers import EXITS_SINCE_S, GRACE_S, HOUR_S
from rules.arena.salts import carries_exits
from rules.arena.symbols import resolve
from rules.arena.types import Commit, OpenRecord, Reveal, SaltState, Status

KEPT_COMMITS: Final = 5000


@dataclass(frozen=True, slots=True)
class Exits:
    """A sealed stop and target as prices; at least one is set."""

    stop: float | None
    target: float | None


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A kept commit with what is known of it before any price is read (Rule A3).

    `exits_unread` marks a revealed salt that carries a stop or a target: it stays pending until they can be walked.
    """

    commit: Commit
    status: Status
    symbol: str | None = None
    coin: str | None = None
    side: int | None = None
    exits: Exits | None = None
    exits_unread: bool = False
    note: str | None = None

    @property
    def exit_at_s(self) -> int:
        """Return the nominal exit time."""
        return self.commit.entry_at_s + self.commit.horizon_s

    @property
    def is_short(self) -> bool:
        """Say whether the hold wants 5-minute candles: under an hour, or with exits (Rule A2)."""
        return self.commit.horizon_s < HOUR_S or self.exits is not None


def kept_commits(commits: Iterable[Commit], as_of_s: int) -> list[Commit]:
    """Return the last 5,000 commits locked by a moment, in ascending call id (Rule A3, step 1)."""
    known = sorted((commit for commit in commits if commit.locked_at_s <= as_of_s), key=_call_id)
    return known[-KEPT_COMMITS:]


def is_truncated(commits: Iterable[Commit]) -> bool:
    """Say whether a record holds more commits than are kept, later ones included (Rule A3, step 1)."""
    return sum(1 for _ in commits) > KEPT_COMMITS


def open_calls(
    record: OpenRecord,
    commits: Iterable[Commit],
    reveals: Iterable[Reveal],
    known: Mapping[str, str],
    as_of_s: int,
) -> list[OpenCall]:
    """Return each kept commit with its status before pricing, in ascending call id (Rule A3).

    `known` is `symbols.spellings(listed)`. At most one reveal a commit is expected (Rule A15).
    """
    visible = {reveal.call_id: reveal for reveal in reveals if reveal.at_s <= as_of_s}
    return [
        _open_call(record, commit, visible.get(commit.call_id), known, as_of_s)
        for commit in kept_commits(commits, as_of_s)
    ]


def _open_call(
    record: OpenRecord, commit: Commit, reveal: Reveal | None, known: Mapping[str, str], as_of_s: int
) -> OpenCall:
    if reveal is None:
        deadline_s = commit.entry_at_s + commit.horizon_s + GRACE_S
        return OpenCall(commit, Status.WITHHELD if as_of_s > deadline_s else Status.PENDING)
    # before exits existed a salt was only a salt, whatever its bytes
    salt = reveal.salt if commit.locked_at_s >= EXITS_SINCE_S else b""
    with_exits = isinstance(salt, bytes) and carries_exits(salt)
    if salt is SaltState.NOT_READ or with_exits:
        return OpenCall(
            commit, Status.PENDING, exits_unread=with_exits, note="revealed; its stop and target are not read yet"
        )
    symbol = coin_text(record, reveal)
    coin = resolve(symbol, known)
    note: str | None = None
    if salt is SaltState.NONE_MATCHED:
        note = "no salt in its reveal matches the call, so its exits can't be read"
    elif coin is None:
        note = f'Hyperliquid lists no perp "{symbol}"'
    status = Status.REVEALED if note is None else Status.UNSCORABLE
    return OpenCall(commit, status, symbol, coin, reveal.side, note=note)


def coin_text(record: OpenRecord, reveal: Reveal) -> str:
    """Return the text of a reveal's coin: its own, or the list's at its index (Rule A3)."""
    if isinstance(reveal.coin, str):
        return reveal.coin
    if record.coins is None:
        raise ValueError(f"reveal {reveal.call_id}: coin is index {reveal.coin}, the record has no list")
    return record.coins[reveal.coin]


def _call_id(commit: Commit) -> int:
    return commit.call_id
