"""The series of a bundle: candle rows, and rows of a time and a value."""

from __future__ import annotations

from rules.floor.bundle.fields import BundleError, Fields, as_number, as_time_ms, shown
from rules.market import Candle

_CANDLE_COLUMNS = ("open_time", "open", "high", "low", "close", "volume")


def read_candles(fields: Fields, name: str, step_ms: int) -> tuple[Candle, ...]:
    """Read rows `[open_time, open, high, low, close, volume]`, ascending on whole steps; absent is empty."""
    if name not in fields.raw:
        return ()
    candles: list[Candle] = []
    for row, path in fields.items(name):
        candle = _read_candle(row, path)
        if candle.open_time_ms % step_ms:
            raise BundleError(f"{path}[0]: open_time {candle.open_time_ms} is not a multiple of {step_ms} ms")
        if candles and candle.open_time_ms <= candles[-1].open_time_ms:
            raise BundleError(f"{path}[0]: open_time {candle.open_time_ms} is not after the row before")
        candles.append(candle)
    return tuple(candles)


def read_values(fields: Fields, name: str) -> tuple[tuple[int, float], ...]:
    """Read rows `[time, value]`, ascending; absent is empty."""
    if name not in fields.raw:
        return ()
    rows: list[tuple[int, float]] = []
    for row, path in fields.items(name):
        if not isinstance(row, list) or len(row) != 2:
            raise BundleError(f"{path}: must be [time, value], is {shown(row)}")
        time_ms = as_time_ms(row[0], f"{path}[0]")
        if rows and time_ms <= rows[-1][0]:
            raise BundleError(f"{path}[0]: time {time_ms} is not after the row before")
        rows.append((time_ms, as_number(row[1], f"{path}[1]")))
    return tuple(rows)


def _read_candle(row: object, path: str) -> Candle:
    if not isinstance(row, list) or len(row) != len(_CANDLE_COLUMNS):
        raise BundleError(f"{path}: must be [{', '.join(_CANDLE_COLUMNS)}], is {shown(row)}")
    open_time_ms = as_time_ms(row[0], f"{path}[0]")
    opened, high, low, close, volume = (
        as_number(value, f"{path}[{column}]") for column, value in enumerate(row[1:], start=1)
    )
    for column, price in enumerate((opened, high, low, close), start=1):
        if price <= 0:
            raise BundleError(f"{path}[{column}]: {_CANDLE_COLUMNS[column]} is {price!r}; it must be above 0")
    if volume < 0:
        raise BundleError(f"{path}[5]: volume is {volume!r}; it must not be below 0")
    return Candle(open_time_ms, opened, high, low, close, volume)
