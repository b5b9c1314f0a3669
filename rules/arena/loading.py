"""What an open record reads from the venue, to the second: the last bits of a score depend on it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rules.arena.numbers import DAY_S, FINE_HISTORY_S, HOUR_S
from rules.arena.reference_set import REFERENCE_SET
from rules.arena.status import OpenCall, open_calls
from rules.arena.symbols import resolve, spellings
from rules.arena.types import Commit, Interval, OpenRecord, Reveal, Status

_HIDDEN = (Status.WITHHELD, Status.UNSCORABLE)


@dataclass(frozen=True, slots=True)
class Load:
    """One coin's candles from_s <= t <= to_s and, with `funding`, its payments funding_from_s <= t <= to_s."""

    coin: str
    from_s: int
    to_s: int
    interval: Interval
    funding: bool

    @property
    def funding_from_s(self) -> int:
        """Return the earliest funding time that is read, an hour before the candles."""
        return self.from_s - HOUR_S


@dataclass(frozen=True, slots=True)
class Window:
    """The coins and the span of one price book, both ends inclusive."""

    interval: Interval
    coins: tuple[str, ...]
    from_s: int
    to_s: int


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """The windows of an open record's two price books; None where a book is not loaded."""

    hourly: Window | None
    fine: Window | None


def required_loads(
    record: OpenRecord,
    commits: Iterable[Commit],
    reveals: Iterable[Reveal],
    listed: Sequence[str],
    as_of_s: int,
) -> list[Load]:
    """Return what scoring a record as of a moment reads from the venue (Rule A2)."""
    known = spellings(listed)
    calls = open_calls(record, commits, reveals, known, as_of_s)
    plan = plan_loads(record, calls, known, as_of_s)
    return [
        Load(coin, window.from_s, window.to_s, window.interval, funding=True)
        for window in (plan.hourly, plan.fine)
        if window is not None
        for coin in window.coins
    ]


def plan_loads(record: OpenRecord, calls: Sequence[OpenCall], known: Mapping[str, str], as_of_s: int) -> LoadPlan:
    """Return the windows of both price books for calls before pricing (Rule A2, open record)."""
    return LoadPlan(_hourly(record, calls, known, as_of_s), _fine(record, calls, known, as_of_s))


def first_entry_s(calls: Iterable[OpenCall]) -> int | None:
    """Return the smallest entry time of the kept commits, pending ones too (Rules A2, A8)."""
    return min((call.commit.entry_at_s for call in calls), default=None)


def own_coins(record: OpenRecord, calls: Iterable[OpenCall], known: Mapping[str, str]) -> tuple[str, ...]:
    """Return the coins a record names: those of readable reveals, then its list's (Rule A2, own)."""
    coins = dict.fromkeys(call.coin for call in calls if call.coin is not None)
    if record.coins is not None:
        coins.update(dict.fromkeys(candidates(record, known)))
    return tuple(coins)


def candidates(record: OpenRecord, known: Mapping[str, str]) -> tuple[str, ...]:
    """Return the coins that a hidden prediction is judged over, in order (Rule A4).

    The reference set is not filtered by what is listed; a coin that is twice in a list stays twice.
    """
    if record.coins is None:
        return REFERENCE_SET
    return tuple(coin for text in record.coins if (coin := resolve(text, known)) is not None)


def wants_fine(call: OpenCall, as_of_s: int) -> bool:
    """Say whether a prediction is short and recent enough for 5-minute candles (Rules A2, A4)."""
    return call.is_short and call.exit_at_s > as_of_s - FINE_HISTORY_S


def _hourly(record: OpenRecord, calls: Sequence[OpenCall], known: Mapping[str, str], as_of_s: int) -> Window | None:
    first_s = first_entry_s(calls)
    coins = own_coins(record, calls, known)
    if record.coins is None and any(call.status in _HIDDEN for call in calls):
        coins = tuple(dict.fromkeys((*coins, *REFERENCE_SET)))
    if first_s is None or not coins:
        return None
    return Window(Interval.HOURLY, coins, first_s - DAY_S, as_of_s + HOUR_S)


def _fine(record: OpenRecord, calls: Sequence[OpenCall], known: Mapping[str, str], as_of_s: int) -> Window | None:
    short = [call for call in calls if call.status is not Status.PENDING and wants_fine(call, as_of_s)]
    if not short:
        return None
    coins = dict.fromkeys(call.coin for call in short if call.coin is not None)
    if any(call.status in _HIDDEN for call in short):
        coins.update(dict.fromkeys(candidates(record, known)))
    first_s = min(call.commit.entry_at_s for call in short)
    last_s = max(call.exit_at_s for call in short)
    return Window(
        Interval.FINE,
        tuple(coins),
        max(first_s - HOUR_S, as_of_s - FINE_HISTORY_S - DAY_S),
        min(last_s + HOUR_S, as_of_s + HOUR_S),
    )
