"""Typed access to the fields of a bundle, with errors that name the field, the value and the limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from rules.floor.rounding import finite_number, whole_number

TIME_MAX_MS = 10**14  # the year 5138; calendars need an end

Choice = TypeVar("Choice", bound=str)


class BundleError(ValueError):
    """Say in one line which field of a bundle is malformed."""


class Fields:
    """An object of a bundle and the path at which it stands."""

    def __init__(self, raw: object, path: str = "") -> None:
        """Wrap a JSON value; raises BundleError when it is no object."""
        if not isinstance(raw, Mapping):
            raise BundleError(f"{path or 'bundle'}: must be an object, is {shown(raw)}")
        self.raw: Mapping[str, object] = raw
        self.path = path

    def at(self, name: str) -> str:
        """Return the path of a field."""
        return f"{self.path}.{name}" if self.path else name

    def get(self, name: str) -> object:
        """Return a field as it is; raises BundleError when it is missing."""
        if name not in self.raw:
            raise BundleError(f"{self.at(name)}: missing")
        return self.raw[name]

    def has(self, name: str) -> bool:
        """Tell whether a field is there and not null."""
        return self.raw.get(name) is not None

    def fields(self, name: str) -> Fields:
        """Return a field that is an object."""
        return Fields(self.get(name), self.at(name))

    def text(self, name: str) -> str:
        """Return a field that is a string."""
        return as_text(self.get(name), self.at(name))

    def optional_text(self, name: str) -> str | None:
        """Return a field that is a string or null."""
        return None if self.get(name) is None else self.text(name)

    def flag(self, name: str) -> bool:
        """Return a field that is true or false."""
        value = self.get(name)
        if not isinstance(value, bool):
            raise BundleError(f"{self.at(name)}: must be true or false, is {shown(value)}")
        return value

    def number(self, name: str) -> float:
        """Return a field that is a finite number."""
        return as_number(self.get(name), self.at(name))

    def count(self, name: str) -> int:
        """Return a field that is a whole number from 0."""
        return as_count(self.get(name), self.at(name))

    def time_ms(self, name: str) -> int:
        """Return a field that is a time in ms since the epoch."""
        return as_time_ms(self.get(name), self.at(name))

    def optional_time_ms(self, name: str) -> int | None:
        """Return a field that is a time in ms, or null."""
        return None if self.get(name) is None else self.time_ms(name)

    def choice(self, name: str, choices: tuple[Choice, ...]) -> Choice:
        """Return a field that is one of a few strings."""
        value = self.get(name)
        for choice in choices:
            if value == choice:
                return choice
        raise BundleError(f"{self.at(name)}: must be one of {', '.join(choices)}, is {shown(value)}")

    def items(self, name: str) -> list[tuple[object, str]]:
        """Return the items of a field that is an array, each with its path."""
        value = self.get(name)
        if not isinstance(value, list):
            raise BundleError(f"{self.at(name)}: must be an array, is {shown(value)}")
        return [(item, f"{self.at(name)}[{position}]") for position, item in enumerate(value)]

    def objects(self, name: str) -> list[Fields]:
        """Return the items of a field that is an array of objects."""
        return [Fields(item, path) for item, path in self.items(name)]

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a field that is an array of strings."""
        return tuple(as_text(item, path) for item, path in self.items(name))


def shown(value: object) -> str:
    """Show a value in an error line, shortened and on one line."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) >= 10**18:
        return "an integer beyond 10^18"
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def as_text(value: object, path: str) -> str:
    """Return a string; raises BundleError for anything else."""
    if not isinstance(value, str):
        raise BundleError(f"{path}: must be a string, is {shown(value)}")
    return value


def as_number(value: object, path: str) -> float:
    """Return a finite number as a double; raises BundleError for anything else."""
    number = finite_number(value)
    if number is None:
        raise BundleError(f"{path}: must be a finite number, is {shown(value)}")
    return number


def as_count(value: object, path: str) -> int:
    """Return a whole number from 0; raises BundleError for anything else."""
    count = whole_number(value)
    if count is None or count < 0:
        raise BundleError(f"{path}: must be a whole number from 0, is {shown(value)}")
    return count


def as_time_ms(value: object, path: str) -> int:
    """Return a time in whole ms; raises BundleError for anything else."""
    time_ms = whole_number(value)
    if time_ms is None or not 0 <= time_ms <= TIME_MAX_MS:
        raise BundleError(f"{path}: must be a time in whole ms from 0 to {TIME_MAX_MS}, is {shown(value)}")
    return time_ms
