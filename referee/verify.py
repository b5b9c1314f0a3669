"""`referee verify`: rebuild what an evidence bundle rests on and compare it with what it expects."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.bundle_extras import evaluate_published
from rules.floor.bundle import EVALUATORS as FLOOR_EVALUATORS
from rules.floor.bundle.fields import BundleError, shown
from rules.nesting import nesting_depth

RELATIVE_TOLERANCE = 1e-9
ABSOLUTE_TOLERANCE = 1e-12

MAX_DEPTH = 64

EXIT_MATCH = 0
EXIT_DIFFERS = 1
EXIT_MALFORMED = 2

Evaluator = Callable[[Mapping[str, object]], dict[str, object]]
EVALUATORS: dict[str, Evaluator] = {**FLOOR_EVALUATORS, "floor-call": evaluate_published}


@dataclass(frozen=True, slots=True)
class Verification:
    """A bundle's recomputed result and the lines that say where it differs from `expected`."""

    result: dict[str, object]
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _NotJson:
    """Stands for NaN and the infinities, which Python's reader takes and JSON does not have."""

    text: str


def verify_text(text: str) -> Verification:
    """Recompute the bundle in a JSON text and compare it with its `expected`.

    Raises BundleError, in one line that names the field, for a bundle that is malformed or cannot be evaluated.
    """
    document = _parse(text)
    kind = document.get("type")
    evaluator = EVALUATORS.get(kind) if isinstance(kind, str) else None
    if evaluator is None:
        raise BundleError(f"type: must be one of {', '.join(sorted(EVALUATORS))}, is {shown(kind)}")
    try:
        result = evaluator(document)
        json.dumps(result, allow_nan=False)
    except BundleError:
        raise
    except (ArithmeticError, ValueError) as error:
        # Numbers no market shows (a price ratio beyond a double, say) end in an answer, never in a wrong one
        raise BundleError(f"bundle: its numbers cannot be evaluated ({error})") from error
    expected = document.get("expected")
    if expected is not None and not isinstance(expected, Mapping):
        raise BundleError(f"expected: must be an object, is {shown(expected)}")
    return Verification(result, () if expected is None else tuple(differences(expected, result)))


def differences(expected: object, actual: object, path: str = "") -> Iterator[str]:
    """Yield a line a difference: numbers to 1e-9 relative or 1e-12 absolute, all else exact, extra keys ignored."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for key, value in expected.items():
            inner = f"{path}.{key}" if path else key
            if key in actual:
                yield from differences(value, actual[key], inner)
            else:
                yield f"{inner}: expected {shown(value)}, got nothing"
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{path}: expected {len(expected)} items, got {len(actual)}"
        for position, (left, right) in enumerate(zip(expected, actual, strict=False)):
            yield from differences(left, right, f"{path}[{position}]")
    elif not _is_equal(expected, actual):
        yield f"{path or 'result'}: expected {shown(expected)}, got {shown(actual)}"


def verify_command(paths: list[str]) -> int:
    """Verify bundles by their paths (files or directories), print what came out and return the exit code.

    One file: the result as JSON on stdout; several or a directory: a line a file and a count. 0 when all match,
    1 when one differs, 2 when one is malformed or cannot be read.
    """
    if not paths:
        print("verify: name at least one bundle", file=sys.stderr)
        return EXIT_MALFORMED
    if len(paths) == 1 and not Path(paths[0]).is_dir():
        return _verify_one(Path(paths[0]))
    return _verify_many(paths)


def _verify_one(path: Path) -> int:
    try:
        verification = verify_text(_read(path))
    except BundleError as error:
        print(_one_line(f"{path}: {error}"), file=sys.stderr)
        return EXIT_MALFORMED
    print(json.dumps(verification.result, indent=2))
    for line in verification.differences:
        print(_one_line(line), file=sys.stderr)
    return EXIT_DIFFERS if verification.differences else EXIT_MATCH


def _verify_many(paths: Sequence[str]) -> int:
    passed = failed = 0
    worst = EXIT_MATCH
    for path in _bundle_files(paths):
        try:
            found = verify_text(_read(path)).differences
            outcome, code = ("; ".join(found), EXIT_DIFFERS) if found else ("", EXIT_MATCH)
        except BundleError as error:
            outcome, code = str(error), EXIT_MALFORMED
        worst = max(worst, code)
        if code == EXIT_MATCH:
            passed += 1
            print(_one_line(f"ok {path}"))
        else:
            failed += 1
            print(_one_line(f"{'differs' if code == EXIT_DIFFERS else 'malformed'} {path}: {outcome}"))
    print(f"{passed} passed, {failed} failed")
    return worst


def _one_line(text: str) -> str:
    # Keys of a bundle are anyone's text: no line break or terminal code of theirs reaches the screen
    return "".join(c if c.isprintable() and c.isascii() else ascii(c)[1:-1] for c in text)


def _bundle_files(paths: Sequence[str]) -> Iterator[Path]:
    for text in paths:
        path = Path(text)
        if path.is_dir():
            yield from sorted(path.rglob("*.json"))
        else:
            yield path


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BundleError(f"file: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise BundleError(f"file: is not UTF-8 at byte {error.start}") from error


def _parse(text: str) -> Mapping[str, object]:
    if nesting_depth(text) > MAX_DEPTH:
        raise BundleError(f"file: is nested more than {MAX_DEPTH} levels deep")
    try:
        document = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_NotJson)
        bad = next(_not_json(document), None) if "NaN" in text or "Infinity" in text else None
    except BundleError:
        raise
    except json.JSONDecodeError as error:
        raise BundleError(f"file: is not JSON ({error.msg}, line {error.lineno} column {error.colno})") from error
    except (ValueError, RecursionError) as error:
        raise BundleError("file: is not JSON that can be read (too deep, or a number with too many digits)") from error
    if bad is not None:
        raise BundleError(bad)
    if not isinstance(document, dict):
        raise BundleError(f"bundle: must be an object, is {shown(document)}")
    return document


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BundleError(f"{shown(twice)}: stands twice in one object")
    return document


def _not_json(value: object, path: str = "") -> Iterator[str]:
    if isinstance(value, _NotJson):
        yield f"{path or 'bundle'}: {value.text} is no JSON number"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _not_json(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _not_json(inner, f"{path}[{position}]")


def _is_equal(expected: object, actual: object) -> bool:
    if _is_number(expected) and _is_number(actual):
        return _is_close(expected, actual)
    return type(expected) is type(actual) and expected == actual


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_close(expected: object, actual: object) -> bool:
    if isinstance(expected, int) and isinstance(actual, int):
        return expected == actual
    assert isinstance(expected, int | float)
    assert isinstance(actual, int | float)
    return math.isclose(expected, actual, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE)


if __name__ == "__main__":
    sys.exit(verify_command(sys.argv[1:]))
