"""The worst outcome over some coins: what a hidden prediction is charged."""

from collections.abc import Sequence

from rules.arena.types import Worst


def worst_outcome(coins: Sequence[str | None], moves: Sequence[float | None]) -> Worst:
    """Return the largest move against the caller, the first of equal ones (Rule A6).

    `moves` runs beside `coins`, None where a coin has no price. With none priced: the first coin, side 1, move 0.
    """
    index, move = 0, 0.0
    for place, candidate in enumerate(moves):
        if candidate is not None and abs(candidate) > abs(move):
            index, move = place, candidate
    return Worst(index, coins[index] if coins else None, -1 if move > 0 else 1, move)
