"""What each prediction of an open record made or lost, by the venue's candles as of a moment."""

from collections.abc import Sequence
from dataclasses import dataclass

from rules.arena.loading import wants_fine
from rules.arena.lookups import PriceBook
from rules.arena.numbers import FEE_RATE, GRACE_S
from rules.arena.status import OpenCall
from rules.arena.types import Prediction, Status
from rules.arena.worst import worst_outcome


@dataclass(frozen=True, slots=True)
class Books:
    """The price books of a record as of a moment; `fine` is None when no prediction needs it."""

    hourly: PriceBook
    fine: PriceBook | None


@dataclass(frozen=True, slots=True)
class Return:
    """A position's return on one unit: before the fee, the fee, and after it."""

    gross: float
    fee: float
    net: float


def return_of(side: int, move: float) -> Return:
    """Return what a side made of a move, with a fee on entry and on what is left at exit (Rule A4)."""
    gross = side * move
    fee = FEE_RATE * (1 + max(0, 1 + gross))
    return Return(gross, fee, gross - fee)


def choose_book(call: OpenCall, coins: Sequence[str], books: Books, as_of_s: int) -> PriceBook:
    """Return the 5-minute book if the hold is short and any of the coins moves on it, else the hourly (Rule A4)."""
    fine = books.fine
    if fine is None or not wants_fine(call, as_of_s):
        return books.hourly
    entry_at_s, exit_at_s = call.commit.entry_at_s, call.exit_at_s
    return fine if any(fine.move(coin, entry_at_s, exit_at_s) is not None for coin in coins) else books.hourly


def price_call(call: OpenCall, books: Books, candidates: Sequence[str], as_of_s: int) -> Prediction:
    """Price one prediction as of a moment (Rule A4)."""
    if call.status is Status.PENDING:
        return _pending(call, call.note)
    if call.status is Status.REVEALED:
        return _revealed(call, books, candidates, as_of_s)
    return _hidden(call, books, candidates, as_of_s)


def _pending(call: OpenCall, note: str | None) -> Prediction:
    return Prediction(
        call_id=call.commit.call_id,
        status=Status.PENDING,
        horizon_s=call.commit.horizon_s,
        entry_at_s=call.commit.entry_at_s,
        exit_at_s=call.exit_at_s,
        symbol=call.symbol,
        coin=call.coin,
        side=call.side,
        withheld_after_s=call.exit_at_s + GRACE_S if call.coin is None else None,
        note=note,
    )


def _revealed(call: OpenCall, books: Books, candidates: Sequence[str], as_of_s: int) -> Prediction:
    if call.coin is None or call.side is None:
        raise ValueError(f"call {call.commit.call_id}: revealed without a coin or a side")
    book = choose_book(call, (call.coin,), books, as_of_s)
    entry = book.find(call.coin, call.commit.entry_at_s)
    exit_ = book.find(call.coin, call.exit_at_s)
    move = book.move(call.coin, call.commit.entry_at_s, call.exit_at_s)
    if entry is None or exit_ is None or move is None:
        step_s = book.interval.step_s
        exit_opens_s = -(-call.exit_at_s // step_s) * step_s
        if exit_opens_s > as_of_s:
            return _pending(call, "revealed; waiting for its exit price")
        return _hidden(call, books, candidates, as_of_s)
    result = return_of(call.side, move)
    return Prediction(
        call_id=call.commit.call_id,
        status=Status.REVEALED,
        horizon_s=call.commit.horizon_s,
        entry_at_s=call.commit.entry_at_s,
        exit_at_s=call.exit_at_s,
        symbol=call.symbol,
        coin=call.coin,
        side=call.side,
        interval=book.interval,
        entry_candle_s=entry.time_s,
        entry=entry.open,
        exit_candle_s=exit_.time_s,
        exit=exit_.open,
        move=move,
        gross=result.gross,
        fee=result.fee,
        net=result.net,
        resolved_at_s=call.exit_at_s,
    )


def _hidden(call: OpenCall, books: Books, candidates: Sequence[str], as_of_s: int) -> Prediction:
    book = choose_book(call, candidates, books, as_of_s)
    entry_at_s, exit_at_s = call.commit.entry_at_s, call.exit_at_s
    worst = worst_outcome(candidates, [book.move(coin, entry_at_s, exit_at_s) for coin in candidates])
    result = return_of(worst.side, worst.move)
    withheld = call.status is Status.WITHHELD
    return Prediction(
        call_id=call.commit.call_id,
        status=Status.WITHHELD if withheld else Status.UNSCORABLE,
        horizon_s=call.commit.horizon_s,
        entry_at_s=entry_at_s,
        exit_at_s=exit_at_s,
        symbol=call.symbol,
        coin=call.coin,
        side=call.side,
        interval=book.interval,
        gross=result.gross,
        fee=result.fee,
        net=result.net,
        worst=worst,
        resolved_at_s=exit_at_s + GRACE_S if withheld else exit_at_s,
        withheld_after_s=exit_at_s + GRACE_S if withheld else None,
        note="no Hyperliquid price for this window" if call.status is Status.REVEALED else call.note,
    )
