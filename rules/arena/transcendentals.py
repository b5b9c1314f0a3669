"""exp, expm1 and log1p by fdlibm's method, so that a score has the same last bit on every machine (Rule A0).

The method, its polynomials and their coefficients are fdlibm's:

    Copyright (C) 2004 by Sun Microsystems, Inc. All rights reserved.
    Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice
    is preserved.
"""

import math
from typing import Final

_INVERSE_LN2: Final = 1.44269504088896338700e00
_LN2_HIGH: Final = 6.93147180369123816490e-01
_LN2_LOW: Final = 1.90821492927058770002e-10
_LARGEST_EXPONENT: Final = 7.09782712893383973096e02
_SMALLEST_EXPONENT: Final = -7.45133219101941108420e02

# the bounds compare the upper 32 bits of a double only, so they are not quite 0.5 ln 2, 1.5 ln 2 and so on
_REDUCED_FROM: Final = float.fromhex("0x1.62e43p-2")
_ONE_STEP_BELOW: Final = float.fromhex("0x1.0a2b2p0")
_MINUS_ONE_FROM: Final = float.fromhex("0x1.3687ap5")
_SQRT2_LESS_ONE: Final = float.fromhex("0x1.a827ap-2")
_ONE_LESS_SQRT_HALF: Final = float.fromhex("0x1.2bec5p-2")
_SQRT2: Final = float.fromhex("0x1.6a09ep0")


def exp(value: float) -> float:
    """Return e to a power, infinity above 709.78 and 0 below -745.13."""
    if math.isnan(value) or value > _LARGEST_EXPONENT:
        return value if math.isnan(value) else math.inf
    if value < _SMALLEST_EXPONENT:
        return 0.0
    if abs(value) < 2**-28:
        return 1.0 + value
    if value == 1.0:
        return math.e
    steps, high, low = _reduce(value)
    x = high - low
    t = x * x
    c = x - t * (
        1.66666666666666019037e-01
        + t
        * (
            -2.77777777770155933842e-03
            + t * (6.61375632143793436117e-05 + t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))
        )
    )
    if steps == 0:
        return 1.0 - ((x * c) / (c - 2.0) - x)
    return math.ldexp(1.0 - ((low - (x * c) / (2.0 - c)) - high), steps)


def expm1(value: float) -> float:
    """Return e to a power less 1, precise near 0."""
    if math.isnan(value) or value > _LARGEST_EXPONENT:
        return value if math.isnan(value) else math.inf
    if value <= -_MINUS_ONE_FROM:
        return -1.0
    if abs(value) < 2**-54:
        return value
    steps, high, low = _reduce(value)
    x = high - low
    correction = (high - x) - low
    half = 0.5 * x
    half_square = x * half
    r = 1.0 + half_square * (
        -3.33333333333331316428e-02
        + half_square
        * (
            1.58730158725481460165e-03
            + half_square
            * (
                -7.93650757867487942473e-05
                + half_square * (4.00821782732936239552e-06 + half_square * -2.01099218183624371326e-07)
            )
        )
    )
    t = 3.0 - r * half
    e = half_square * ((r - t) / (6.0 - x * t))
    if steps == 0:
        return x - (x * e - half_square)
    e = x * (e - correction) - correction
    e -= half_square
    if steps == -1:
        return 0.5 * (x - e) - 0.5
    if steps == 1:
        return -2.0 * (e - (x + 0.5)) if x < -0.25 else 1.0 + 2.0 * (x - e)
    if steps <= -2 or steps > 56:
        return math.ldexp(1.0 - (e - x), steps) - 1.0
    unit = math.ldexp(1.0, -steps)
    if steps < 20:
        return math.ldexp((1.0 - unit) - (e - x), steps)
    return math.ldexp((x - (e + unit)) + 1.0, steps)


def log1p(value: float) -> float:
    """Return the natural logarithm of 1 plus a value above -1, precise near 0."""
    if value <= -1.0:
        raise ValueError(f"log1p: the value is {value}, it lies above -1")
    if math.isnan(value) or math.isinf(value):
        return value
    if abs(value) < 2**-29:
        return value if abs(value) < 2**-54 else value - value * value * 0.5
    if -_ONE_LESS_SQRT_HALF < value < _SQRT2_LESS_ONE:
        s = value / (2.0 + value)
        half_square = 0.5 * value * value
        return value - (half_square - s * (half_square + _log_series(s)))
    steps, f, correction, tiny = _split_log(value)
    half_square = 0.5 * f * f
    if tiny:
        if f == 0.0:
            return steps * _LN2_HIGH + (correction + steps * _LN2_LOW)
        rest = half_square * (1.0 - 0.66666666666666666 * f)
        return steps * _LN2_HIGH - ((rest - (steps * _LN2_LOW + correction)) - f)
    s = f / (2.0 + f)
    series = s * (half_square + _log_series(s))
    return steps * _LN2_HIGH - ((half_square - (series + (steps * _LN2_LOW + correction))) - f)


def _reduce(value: float) -> tuple[int, float, float]:
    """Return steps, high and low with value = steps ln 2 + (high - low)."""
    if abs(value) < _REDUCED_FROM:
        return 0, value, 0.0
    if abs(value) < _ONE_STEP_BELOW:
        steps = 1 if value > 0 else -1
    else:
        steps = int(_INVERSE_LN2 * value + math.copysign(0.5, value))
    return steps, value - steps * _LN2_HIGH, steps * _LN2_LOW


def _split_log(value: float) -> tuple[int, float, float, bool]:
    """Return steps, f, the rounding of 1 + value, and whether f is tiny; 1 + value = 2**steps (1 + f)."""
    if value < 2.0**53:
        whole = 1.0 + value
        steps = math.frexp(whole)[1] - 1
        correction = (1.0 - (whole - value) if steps > 0 else value - (whole - 1.0)) / whole
    else:
        whole, correction = value, 0.0
        steps = math.frexp(whole)[1] - 1
    normal = math.ldexp(whole, -steps)
    if normal < _SQRT2:
        return steps, normal - 1.0, correction, normal < 1.0 + 2.0**-20
    return steps + 1, 0.5 * normal - 1.0, correction, normal >= 2.0 - 3.0 * 2.0**-20


def _log_series(s: float) -> float:
    z = s * s
    return z * (
        6.666666666666735130e-01
        + z
        * (
            3.999999999940941908e-01
            + z
            * (
                2.857142874366239149e-01
                + z
                * (
                    2.222219843214978396e-01
                    + z * (1.818357216161805012e-01 + z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01))
                )
            )
        )
    )
