"""The two roundings of the Floor: six decimals, and inclusive bounds that take in decimal ties."""

from __future__ import annotations

import math

from rules.floor.constants import BOUND_SLACK


def r6(value: float) -> float:
    """Round to six decimals, ties up whatever the rounding noise. Preamble of the Floor rules."""
    return math.floor(1e6 * value + 0.5001) / 1e6


def within(difference: float, bound: float) -> bool:
    """Tell whether a computed difference meets an inclusive bound, decimal ties inside. Preamble of the rules."""
    return difference <= bound * (1 + BOUND_SLACK)


def finite_number(value: object) -> float | None:
    """Return a JSON number as a double, or None for a boolean, a non-finite number or anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def whole_number(value: object) -> int | None:
    """Return a whole JSON number as an int (`5.0` is whole), or None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None
