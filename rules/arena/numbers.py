"""Constants and the arithmetic that every Arena rule shares, exact to the last bit."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

HOUR_S: Final = 3600
DAY_S: Final = 86_400
GRACE_S: Final = 7 * DAY_S
SEAL_LEAD_S: Final = 60
EXITS_SINCE_S: Final = 1_791_417_600
FINE_HISTORY_S: Final = 17 * DAY_S
FEE_RATE: Final = 0.0003


def nearest_integer(value: float) -> int:
    """Return the integer nearest to a finite value, ties toward plus infinity (Rule A0, R)."""
    below = math.floor(value)
    # value - below is exact or rounds to 1, so no half is invented as floor(value + 0.5) does
    return below + 1 if value - below >= 0.5 else below


def round_to(value: float, decimals: int) -> float:
    """Round a finite value to a number of decimals with R in doubles (Rule A0, round)."""
    scale = 10.0**decimals
    return nearest_integer(value * scale) / scale


def clamp(value: float, low: float, high: float) -> float:
    """Hold a value within [low, high] (Rule A0, clamp)."""
    return min(high, max(low, value))


def total(values: Iterable[float]) -> float:
    """Sum from 0, left to right (Rule A0); the built-in sum compensates from Python 3.12 on."""
    running = 0.0
    for value in values:
        running += value
    return running


def mean(values: Sequence[float]) -> float:
    """Return the left-to-right sum divided by the count, 0 for nothing (Rule A0)."""
    return total(values) / len(values) if values else 0.0
