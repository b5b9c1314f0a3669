"""Canonical JSON (RFC 8785) and its SHA-256: the one text that every hash in the rulebooks is taken of."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring

_SAFE_INTEGER = 2**53 - 1
_PLAIN_BELOW = 1e16  # Python's repr changes to an exponent here, ECMAScript's only at 1e21
_MAX_DEPTH = 200
_PLAIN_FROM = 1e-4  # and here, ECMAScript's only below 1e-6


class CanonicalError(ValueError):
    """Say that a value has no canonical JSON."""


def canonical_text(value: object) -> str:
    """Write a value of dicts, lists, strings, numbers, booleans and None as RFC 8785 text.

    Integers beyond 2^53 − 1 are written as the double that they round to. Raises CanonicalError for a
    non-finite number, a key that is no string, a lone surrogate or any other type. Rules F7, F12.
    """
    try:
        text = "".join(_write(value, 0))
        if not text.isascii():
            text.encode("utf-8")
    except UnicodeEncodeError:
        raise CanonicalError("a string holds a lone surrogate, which UTF-8 cannot carry") from None
    return text


def canonical_json(value: object) -> bytes:
    """Write a value as the UTF-8 bytes of its RFC 8785 text; raises as `canonical_text`. Rules F7, F12."""
    return canonical_text(value).encode("utf-8")


def canonical_sha256(value: object) -> str:
    """Hash the canonical JSON of a value: SHA-256, lower-case hex; raises as `canonical_text`. Rules F7, F12."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def number_text(value: float) -> str:
    """Write a finite number as ECMAScript's Number.prototype.toString does; raises CanonicalError otherwise."""
    if isinstance(value, int):
        if -_SAFE_INTEGER <= value <= _SAFE_INTEGER:
            return str(value)
        try:
            value = float(value)
        except OverflowError:
            raise CanonicalError("an integer is beyond the range of a double") from None
    if not math.isfinite(value):
        raise CanonicalError(f"{value!r} is no JSON number")
    if value == 0:
        return "0"
    text = repr(value)
    if _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return text.removesuffix(".0")
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or "0")
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    return sign + _place_point(digits.rstrip("0"), point)


def _place_point(digits: str, point: int) -> str:
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{tail}e{point - 1:+d}"


def _utf16_key(key: str) -> bytes:
    return key.encode("utf-16-be")


def _write(value: object, depth: int) -> Iterator[str]:
    # Python's own limit on recursion is a setting that libraries change
    if depth > _MAX_DEPTH:
        raise CanonicalError(f"value is nested too deeply for canonical JSON, beyond {_MAX_DEPTH} levels")
    if value is None:
        yield "null"
    elif isinstance(value, str):
        yield encode_basestring(value)
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, int | float):
        yield number_text(value)
    elif isinstance(value, Mapping):
        yield from _write_object(value, depth)
    elif isinstance(value, list | tuple):
        yield "["
        for position, item in enumerate(value):
            if position:
                yield ","
            yield from _write(item, depth + 1)
        yield "]"
    else:
        raise CanonicalError(f"{type(value).__name__} has no JSON form")


def _write_object(value: Mapping[object, object], depth: int) -> Iterator[str]:
    keys = []
    for key in value:
        if not isinstance(key, str):
            raise CanonicalError(f"an object key is {type(key).__name__}, not a string")
        keys.append(key)
    keys.sort(key=None if all(map(str.isascii, keys)) else _utf16_key)
    yield "{"
    for position, key in enumerate(keys):
        yield f"{',' if position else ''}{encode_basestring(key)}:"
        yield from _write(value[key], depth + 1)
    yield "}"
