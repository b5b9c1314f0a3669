"""Baselines of touch, close and range: what a driftless lognormal says, calibrated and clamped (Rule F6)."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

from rules.floor.constants import BASELINE_MAX, BASELINE_MIN, BASELINE_VERSION, CALIBRATION_EDGE
from rules.floor.rounding import r6
from rules.floor.terms import Close, Range, Touch
from rules.market import HOUR_MS

_SQRT_2 = math.sqrt(2.0)
# Below this σ√T in units of the range's width the images converge faster, above it the sine series
_IMAGES_BELOW = 0.6
_IMAGES = 6
_SINE_TERMS = 6
# Beyond this σ√T in units of the range's width every term of the sine series is 0 as a double
_NOTHING_STAYS_ABOVE = 100.0


@dataclass(frozen=True, slots=True)
class CalibrationMap:
    """A map logit b′ = α + γ·logit b for one kind."""

    alpha: float = 0.0
    gamma: float = 1.0

    def apply(self, probability: float) -> float:
        """Map a probability, first held to [1e-12, 1 − 1e-12]. Rule F6."""
        held = min(max(probability, CALIBRATION_EDGE), 1 - CALIBRATION_EDGE)
        logit = self.alpha + self.gamma * (math.log(held) - math.log1p(-held))
        if logit >= 0:
            return 1 / (1 + math.exp(-logit))
        # A logit below −745 would overflow exp(−logit); the clamp after the map makes both ends equal
        odds = math.exp(max(logit, -745.0))
        return odds / (1 + odds)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration in force for a post: its version and one map per kind. Rule F6."""

    version: str = BASELINE_VERSION
    touch: CalibrationMap = CalibrationMap()
    close: CalibrationMap = CalibrationMap()
    range: CalibrationMap = CalibrationMap()


def normal_cdf(z: float) -> float:
    """Return Φ(z), the standard normal distribution function, to full double precision in both tails."""
    return 0.5 * math.erfc(-z / _SQRT_2)


def log_ratio(numerator: float, denominator: float) -> float:
    """Return ln(numerator / denominator) of two positive doubles, finite whatever their size."""
    quotient = numerator / denominator
    if sys.float_info.min <= quotient <= sys.float_info.max:
        return math.log(quotient)
    # The quotient leaves the normal doubles, so its logarithm would be infinite or of few digits
    return math.log(numerator) - math.log(denominator)


def close_probability(level: float, price: float, deviation: float, above: bool) -> float:
    """Return the chance that a lognormal of log deviation σ√T ends above (or below) a level. Rule F6."""
    z = (log_ratio(level, price) + deviation * deviation / 2) / deviation
    return normal_cdf(-z) if above else normal_cdf(z)


def touch_probability(level: float, price: float, deviation: float) -> float:
    """Return the reflection's chance of a touch, or the close formula's where that is larger. Rule F6."""
    reflection = math.erfc(abs(log_ratio(level, price)) / deviation / _SQRT_2)
    return max(reflection, close_probability(level, price, deviation, above=level > price))


def range_probability(low: float, high: float, price: float, deviation: float) -> float:
    """Return the chance that a driftless log price touches neither edge, to 1e-12 absolute. Rule F6."""
    start = log_ratio(price, low)
    width = log_ratio(high, low)
    if deviation < _IMAGES_BELOW * width:
        return _range_by_images(start, width, deviation)
    if deviation > _NOTHING_STAYS_ABOVE * width:
        return 0.0
    return _range_by_sines(start, width, deviation)


def baseline(
    terms: Touch | Close | Range,
    price_at_posting: float,
    sigma: float,
    posted_at_ms: int,
    deadline_ms: int,
    calibration: Calibration,
) -> float:
    """Return b as it is sealed: formula, calibration, clamp to [0.02, 0.98], six decimals. Rule F6.

    `price_at_posting` is S, `sigma` is per √hour; times are ms since the epoch. Any positive doubles give a number.
    """
    deviation = min(sigma * math.sqrt((deadline_ms - posted_at_ms) / HOUR_MS), sys.float_info.max)
    if isinstance(terms, Touch):
        mapped = calibration.touch.apply(touch_probability(terms.level, price_at_posting, deviation))
    elif isinstance(terms, Close):
        above = terms.direction == "above"
        mapped = calibration.close.apply(close_probability(terms.level, price_at_posting, deviation, above))
    else:
        mapped = calibration.range.apply(range_probability(terms.low, terms.high, price_at_posting, deviation))
    return sealed_baseline(mapped)


def sealed_baseline(probability: float) -> float:
    """Clamp a baseline to [0.02, 0.98] and round it to the six decimals that are sealed. Rule F6."""
    return r6(min(max(probability, BASELINE_MIN), BASELINE_MAX))


def _range_by_images(start: float, width: float, deviation: float) -> float:
    total = 0.0
    for image in range(-_IMAGES, _IMAGES + 1):
        shift = 2 * image * width
        total += normal_cdf((width - start + shift) / deviation) - normal_cdf((shift - start) / deviation)
        total += normal_cdf((start + shift) / deviation) - normal_cdf((width + start + shift) / deviation)
    return total


def _range_by_sines(start: float, width: float, deviation: float) -> float:
    # Only odd terms are left of the series: 4/(nπ)·sin(nπx/a)·exp(−n²π²s²/2a²)
    decay = (math.pi * deviation / width) ** 2 / 2
    total = 0.0
    for term in range(1, 2 * _SINE_TERMS, 2):
        total += 4 / (term * math.pi) * math.sin(term * math.pi * start / width) * math.exp(-term * term * decay)
    return total
