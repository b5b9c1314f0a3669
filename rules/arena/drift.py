"""What a coin's own drift would have given, so that a bet on a trend earns no edge."""

from collections.abc import Iterable

from rules.arena.lookups import PriceBook
from rules.arena.numbers import HOUR_S
from rules.arena.transcendentals import expm1, log1p


def drift_rates(hourly: PriceBook | None, coins: Iterable[str], first_s: int | None, as_of_s: int) -> dict[str, float]:
    """Return each coin's log drift a second from the first entry to the last whole hour (Rule A7).

    A coin without a move over that span, or with one of -1 or less, has no rate.
    """
    end_s = as_of_s // HOUR_S * HOUR_S
    if hourly is None or first_s is None or end_s <= first_s:
        return {}
    rates: dict[str, float] = {}
    for coin in coins:
        move = hourly.move(coin, first_s, end_s)
        if move is not None and move > -1:
            # the nominal span divides, not the candles' times
            rates[coin] = log1p(move) / (end_s - first_s)
    return rates


def expected_move(rate: float | None, seconds: int) -> float:
    """Return the move that a drift rate a second gives over a hold, 0 without a rate (Rule A7)."""
    return 0.0 if rate is None else expm1(rate * seconds)
