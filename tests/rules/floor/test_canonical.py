"""Canonical JSON against the published implementation, and what has no canonical form."""

from __future__ import annotations

import json
import math

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from rules.canonical import CanonicalError, canonical_json, canonical_sha256, canonical_text, number_text

_SAFE = 2**53 - 1
_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_SCALARS = (
    st.none() | st.booleans() | st.integers(-_SAFE, _SAFE) | st.floats(allow_nan=False, allow_infinity=False) | _TEXT
)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4), max_leaves=12
)


@given(_VALUES)
def test_any_json_value_is_written_as_the_published_implementation_writes_it(value: object) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_the_same_double(value: float) -> None:
    assert float(number_text(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (100.0, "100"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e21, "1.5e+21"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e16, "10000000000000000"),
        (1e-6, "0.000001"),
        (1.25e-5, "0.0000125"),
        (1e-7, "1e-7"),
        (-1.5e-7, "-1.5e-7"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (2**53 + 1, "9007199254740992"),
        (10**400 // 10**379, "1e+21"),
    ],
)
def test_numbers_are_written_as_ecmascript_does(value: float, text: str) -> None:
    assert number_text(value) == text


def test_keys_sort_by_utf16_code_units_and_not_by_code_points() -> None:
    assert canonical_text({"\ufb33": 1, "\U0001f600": 2, "a": 3}) == '{"a":3,"\U0001f600":2,"\ufb33":1}'


def test_control_characters_are_escaped_in_small_hex_and_nothing_else_is() -> None:
    assert canonical_text('\x00\x1f\b\t\n\f\r"\\/\x7f\u2028é') == '"\\u0000\\u001f\\b\\t\\n\\f\\r\\"\\\\/\x7f\u2028é"'


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, 10**400, "\ud800", {"\udfff": 1}, {1: 2}, {"a": {3}}, b"x"],
)
def test_what_json_cannot_carry_is_refused(value: object) -> None:
    with pytest.raises(CanonicalError):
        canonical_json(value)


def test_nesting_beyond_the_stack_is_refused() -> None:
    value: list[object] = []
    for _ in range(5_000):
        value = [value]
    with pytest.raises(CanonicalError, match="too deeply"):
        canonical_json(value)


def test_the_hash_is_that_of_the_utf8_bytes() -> None:
    value = {"b": [1, 2.50], "a": "é"}
    reordered = json.loads('{"a": "\\u00e9", "b": [1.0, 2.5]}')
    assert canonical_sha256(value) == canonical_sha256(reordered)
    assert canonical_sha256({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
