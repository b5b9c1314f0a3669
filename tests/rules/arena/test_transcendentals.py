"""The last bit is the published scorer's, and no branch strays from the platform's own functions."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rules.arena.transcendentals import exp, expm1, log1p

# arguments and results in hexadecimal, recorded from V8 11.3, about a third where the C library differs
RECORDED: dict[str, list[tuple[str, str]]] = json.loads((Path(__file__).parent / "v8_transcendentals.json").read_text())


@pytest.mark.parametrize(("function", "count"), [(exp, 129), (expm1, 120), (log1p, 92)])
def test_every_recorded_bit_comes_out(function: Callable[[float], float], count: int) -> None:
    pairs = RECORDED[function.__name__]
    assert [function(float.fromhex(argument)).hex() for argument, _ in pairs] == [result for _, result in pairs]
    assert len(pairs) == count


@given(st.floats(-745.0, 709.7))
@example(1.0)
@example(-0.34657)
@example(1.0397207)
def test_exp_is_within_two_units_in_the_last_place(value: float) -> None:
    # a subnormal result has fewer bits, and a unit of its own
    assert math.isclose(exp(value), math.exp(value), rel_tol=4.5e-16, abs_tol=5e-324)


@given(st.floats(-60.0, 709.7))
@example(-38.8162)
@example(39.1)
def test_expm1_is_within_two_units_in_the_last_place(value: float) -> None:
    assert math.isclose(expm1(value), math.expm1(value), rel_tol=4.5e-16)


@given(st.floats(-1.0, 1e300, exclude_min=True))
@example(2.0**53)
@example(2.0**-20)
@example(1.0 - 2.0**-20)
@example(1.0)
def test_log1p_is_within_two_units_in_the_last_place(value: float) -> None:
    assert math.isclose(log1p(value), math.log1p(value), rel_tol=4.5e-16)


def test_the_ends_of_the_range_are_the_limits() -> None:
    assert (exp(710.0), exp(-746.0), exp(math.inf), exp(-math.inf)) == (math.inf, 0.0, math.inf, 0.0)
    assert (expm1(710.0), expm1(-math.inf), log1p(math.inf)) == (math.inf, -1.0, math.inf)
    assert all(math.isnan(function(math.nan)) for function in (exp, expm1, log1p))
    with pytest.raises(ValueError, match="lies above -1"):
        log1p(-1.0)
