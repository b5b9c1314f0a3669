"""Baselines of price calls: the formulas against one another and against sampled paths."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import ndtr

from rules.floor import baseline as module
from rules.floor.baseline import (
    Calibration,
    CalibrationMap,
    baseline,
    close_probability,
    log_ratio,
    normal_cdf,
    range_probability,
    touch_probability,
)
from rules.floor.rounding import r6
from rules.floor.terms import Close, Range, Touch
from rules.market import HOUR_MS

_LEVELS = st.floats(0.3, 3.0).filter(lambda level: level != 1.0)
_DEVIATIONS = st.floats(1e-3, 2.0)
_LEAST, _MOST = 5e-324, sys.float_info.max
_POSITIVE = st.floats(_LEAST, _MOST) | st.sampled_from([_LEAST, sys.float_info.min, 1e-5, 1.0, 1e5, _MOST])


@given(st.floats(-40, 40))
def test_the_normal_distribution_is_that_of_scipy(z: float) -> None:
    assert normal_cdf(z) == pytest.approx(float(ndtr(z)), rel=1e-12, abs=1e-300)


@given(_LEVELS, _DEVIATIONS)
def test_above_and_below_add_up_to_one(level: float, deviation: float) -> None:
    total = close_probability(level, 1.0, deviation, True) + close_probability(level, 1.0, deviation, False)
    assert total == pytest.approx(1.0, abs=1e-15)


@given(_LEVELS, _DEVIATIONS)
def test_a_touch_is_never_less_likely_than_a_close_beyond(level: float, deviation: float) -> None:
    assert touch_probability(level, 1.0, deviation) >= close_probability(level, 1.0, deviation, above=level > 1.0)


@given(st.floats(0.01, 0.99), st.floats(0.25, 1.6))
def test_images_and_sines_agree_to_1e_12_where_they_meet(start: float, deviation: float) -> None:
    by_images = module._range_by_images(start, 1.0, deviation)
    by_sines = module._range_by_sines(start, 1.0, deviation)
    if 0.4 <= deviation <= 0.9:
        assert by_images == pytest.approx(by_sines, abs=1e-13)


@given(st.floats(0.5, 0.999), st.floats(1.001, 2.0), st.floats(1e-4, 3.0))
def test_a_range_is_what_no_touch_of_either_edge_leaves(low: float, high: float, deviation: float) -> None:
    inside = range_probability(low, high, 1.0, deviation)
    down = math.erfc(abs(math.log(low)) / deviation / math.sqrt(2))
    up = math.erfc(abs(math.log(high)) / deviation / math.sqrt(2))
    assert 1 - down - up - 1e-12 <= inside <= 1 - max(down, up) + 1e-12


def test_a_range_agrees_with_the_long_image_sum() -> None:
    start, width = math.log(1 / 0.97), math.log(1.04 / 0.97)
    for deviation in (0.003, 0.02, 0.03, 0.042, 0.0421, 0.06, 0.1, 0.3):
        terms = []
        for k in range(-60, 61):
            shift = 2 * k * width
            terms += [
                float(ndtr((width - start + shift) / deviation)) - float(ndtr((shift - start) / deviation)),
                float(ndtr((start + shift) / deviation)) - float(ndtr((width + start + shift) / deviation)),
            ]
        assert range_probability(0.97, 1.04, 1.0, deviation) == pytest.approx(math.fsum(terms), abs=1e-12)


def test_the_sealed_baseline_is_clamped_and_has_six_decimals() -> None:
    four_hours = 4 * HOUR_MS
    assert baseline(Close(2.0, "above"), 1.0, 0.01, 0, four_hours, Calibration()) == 0.02
    assert baseline(Close(2.0, "below"), 1.0, 0.01, 0, four_hours, Calibration()) == 0.98
    b = baseline(Touch(1.013), 1.0, 0.01, 0, four_hours, Calibration())
    assert b == r6(2 * (1 - float(ndtr(math.log(1.013) / 0.02))))


@given(st.floats(0, 1))
def test_the_shipped_calibration_changes_nothing(probability: float) -> None:
    assert CalibrationMap().apply(probability) == pytest.approx(probability, abs=2e-12)


def test_a_calibration_moves_its_own_kind_only() -> None:
    mapped = Calibration("b-1.3", touch=CalibrationMap(0.5, 0.8))
    for terms in (Close(1.01, "above"), Range(0.98, 1.02)):
        assert baseline(terms, 1.0, 0.01, 0, HOUR_MS, mapped) == baseline(terms, 1.0, 0.01, 0, HOUR_MS, Calibration())
    plain = touch_probability(1.01, 1.0, 0.01)
    logit = 0.5 + 0.8 * math.log(plain / (1 - plain))
    assert baseline(Touch(1.01), 1.0, 0.01, 0, HOUR_MS, mapped) == r6(1 / (1 + math.exp(-logit)))


@pytest.mark.parametrize("gamma", [-1e9, 1e9, 1e300])
def test_an_extreme_calibration_ends_in_the_clamp(gamma: float) -> None:
    mapped = Calibration("b-1.9", close=CalibrationMap(0.0, gamma))
    assert baseline(Close(1.01, "above"), 1.0, 0.01, 0, HOUR_MS, mapped) in (0.02, 0.98)


@pytest.mark.parametrize(
    ("value", "rounded"), [(0.1234565, 0.123457), (-0.1234565, -0.123456), (0.4529249999, 0.452925), (0.0, 0.0)]
)
def test_r6_takes_ties_up_whatever_the_rounding_noise(value: float, rounded: float) -> None:
    assert r6(value) == rounded


@given(_POSITIVE, _POSITIVE, _POSITIVE, st.integers(HOUR_MS, 720 * HOUR_MS))
@example(_LEAST, 1e5, 0.01, HOUR_MS)
@example(_MOST, 1e-5, 0.01, HOUR_MS)
@example(1.0, 1.0, _MOST, 720 * HOUR_MS)
def test_a_touch_and_a_close_have_a_baseline_at_any_level(
    level: float, price: float, sigma: float, horizon_ms: int
) -> None:
    for terms in (Touch(level), Close(level, "above"), Close(level, "below")):
        assert 0.02 <= baseline(terms, price, sigma, 0, horizon_ms, Calibration()) <= 0.98


@given(st.lists(_POSITIVE, min_size=3, max_size=3, unique=True), _POSITIVE, st.integers(HOUR_MS, 720 * HOUR_MS))
@example([1e-5, 1e5, 1.7e308], 0.01, HOUR_MS)
@example([_LEAST, 1e5, 1.7e308], 0.01, HOUR_MS)
@example([1.0, 1.0 + 2**-52, 1.0 + 2**-51], _MOST, HOUR_MS)
def test_a_range_has_a_baseline_whatever_its_edges(edges: list[float], sigma: float, horizon_ms: int) -> None:
    low, price, high = sorted(edges)
    assert 0.02 <= baseline(Range(low, high), price, sigma, 0, horizon_ms, Calibration()) <= 0.98


def test_levels_out_of_all_reach_end_in_the_clamp() -> None:
    for level, price in ((_LEAST, 1e5), (_MOST, 1e-5)):
        over = Close(level, "above"), Close(level, "below")
        sure = over if level < price else over[::-1]
        found = [baseline(terms, price, 0.01, 0, HOUR_MS, Calibration()) for terms in (Touch(level), *sure)]
        assert found == [0.02, 0.98, 0.02]
    for low in (_LEAST, 1e-5):
        assert baseline(Range(low, 1.7e308), 1e5, 0.01, 0, HOUR_MS, Calibration()) == 0.98


@given(st.floats(1e-9, 1e9), st.floats(1e-9, 1e9))
def test_the_logarithm_of_an_ordinary_ratio_is_that_of_the_quotient_to_the_last_bit(above: float, below: float) -> None:
    assert log_ratio(above, below) == math.log(above / below)


@given(_POSITIVE, _POSITIVE)
def test_the_logarithm_of_any_ratio_is_the_difference_of_logarithms(above: float, below: float) -> None:
    assert log_ratio(above, below) == pytest.approx(math.log(above) - math.log(below), abs=1e-12)
