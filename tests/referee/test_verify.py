"""`referee verify`: vectors, exit codes, and bundles that cannot be evaluated."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.verify import differences, verify_command, verify_text
from rules.floor.bundle.fields import BundleError

_VECTORS = Path(__file__).parents[1] / "vectors" / "floor"
_HIT = _VECTORS / "close-above-hit.json"
_TABLE = _VECTORS / "table-ties-in-board-order.json"
_LEDGER = _VECTORS / "ledger-9-leaf-2-of-6-from-3-to-7.json"

Document = dict[str, Any]


def _load(path: Path = _HIT) -> Document:
    document: Document = json.loads(path.read_text(encoding="utf-8"))
    return document


@pytest.mark.parametrize("path", sorted(_VECTORS.glob("*.json")), ids=lambda path: path.stem)
def test_the_published_vector_is_recomputed(path: Path) -> None:
    verification = verify_text(path.read_text(encoding="utf-8"))
    assert verification.differences == ()
    expected = _load(path)["expected"]
    assert verification.result.keys() == expected.keys()


def test_there_are_all_130_vectors() -> None:
    assert len(list(_VECTORS.glob("*.json"))) == 130


def test_one_file_prints_its_result_and_exits_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_command([str(_HIT)]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["settlement"]["status"] == "hit"
    assert captured.err == ""


def test_a_result_that_differs_exits_1_with_its_paths_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = _load()
    document["expected"]["settlement"]["score"] += 1e-6
    document["expected"]["labels"]["copy_of"] = "c1"
    document["expected"]["more"] = 1
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(document))
    assert verify_command([str(path)]) == 1
    captured = capsys.readouterr()
    assert [line.split(":")[0] for line in captured.err.splitlines()] == [
        "labels.copy_of",
        "settlement.score",
        "more",
    ]
    assert json.loads(captured.out)["receipt"]["status"] == "accepted"


def test_a_bundle_without_expected_exits_0_and_a_forged_input_does_not(tmp_path: Path) -> None:
    document = _load()
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps({key: value for key, value in document.items() if key != "expected"}))
    assert verify_command([str(path)]) == 0
    document["call"]["p"] += 0.01
    path.write_text(json.dumps(document))
    assert verify_command([str(path)]) == 1


def test_several_files_or_a_directory_give_a_line_each_and_a_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.json").write_text(_HIT.read_text(encoding="utf-8"))
    assert verify_command([str(tmp_path)]) == 0
    (tmp_path / "b.json").write_text(json.dumps({**_load(_TABLE), "expected": {"season": {"frozen": True}}}))
    assert verify_command([str(tmp_path)]) == 1
    capsys.readouterr()
    assert verify_command([str(tmp_path), str(tmp_path / "none.json")]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "differs", "malformed", "1"]
    assert "season.frozen" in lines[1]
    assert lines[-1] == "1 passed, 2 failed"


def test_the_module_runs_as_a_command() -> None:
    command = [sys.executable, "-m", "referee.verify", str(_LEDGER)]
    finished = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert json.loads(finished.stdout)["hashes"]


def _set(*keys_and_value: Any) -> Callable[[Document], None]:
    *keys, last, value = keys_and_value

    def change(document: Document) -> None:
        place: Any = document
        for key in keys:
            place = place[key]
        place[last] = value

    return change


def _drop(*keys: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        place: Any = document
        for key in keys[:-1]:
            place = place[key]
        del place[keys[-1]]

    return change


_ROW = ("market", "hyperliquid", "ETH", "5m", 3)


@pytest.mark.parametrize(
    ("path", "change", "field"),
    [
        (_HIT, _set("type", "floor-moon"), "type"),
        (_HIT, _drop("type"), "type"),
        (_HIT, _set("rules", "floor-2.0"), "rules"),
        (_HIT, _drop("now"), "now"),
        (_HIT, _set("now", "later"), "now"),
        (_HIT, _set("now", 1.5), "now"),
        (_HIT, _set("posted_at", -1), "posted_at"),
        (_HIT, _set("posted_at", 10**15), "posted_at"),
        (_HIT, _drop("call"), "call"),
        (_HIT, _drop("agent", "paused"), "agent.paused"),
        (_HIT, _set("agent", "paused", 0), "agent.paused"),
        (_HIT, _set("agent", "open", -1), "agent.open"),
        (_HIT, _set("agent", "id", "someone"), "agent.id"),
        (_HIT, _set("settleable", {}), "settleable"),
        (_HIT, _set("settleable", ["BTC"]), "settleable"),
        (_HIT, _set("settleable", 0, 5), "settleable[0]"),
        (_HIT, _set("calibration", "touch", [0]), "calibration.touch"),
        (_HIT, _set("calibration", "close", [0, float("nan")]), "calibration.close[1]"),
        (_HIT, _set("call", "p", float("nan")), "call.p"),
        (_HIT, _drop("calibration", "version"), "calibration.version"),
        (_HIT, _set("market", []), "market"),
        (_HIT, _set(*_ROW, [1, 2]), "market.hyperliquid.ETH.5m[3]"),
        (_HIT, _set(*_ROW, 4, "2"), "market.hyperliquid.ETH.5m[3][4]"),
        (_HIT, _set(*_ROW, 4, 0), "market.hyperliquid.ETH.5m[3][4]"),
        (_HIT, _set(*_ROW, 4, float("inf")), "market.hyperliquid.ETH.5m[3][4]"),
        (_HIT, _set(*_ROW, 5, -1), "market.hyperliquid.ETH.5m[3][5]"),
        (_HIT, _set(*_ROW, 0, 300_000), "market.hyperliquid.ETH.5m[3][0]"),
        (_HIT, _set(*_ROW, 0, 300_001), "market.hyperliquid.ETH.5m[3][0]"),
        (_HIT, _set("market", "hyperliquid", "ETH", "delisted_at", "no"), "market.hyperliquid.ETH.delisted_at"),
        (_HIT, _set("market", "hyperliquid", "ETH", "funding", [[1, 2, 3]]), "market.hyperliquid.ETH.funding[0]"),
        (_HIT, _set("second_venue", 3), "second_venue"),
        (_HIT, _set("metrics", {"m": {"period": 0, "values": []}}), "metrics.m.period"),
        (_HIT, _set("recorded", {"status": "won", "score": 1}), "recorded.status"),
        (_HIT, _set("recorded", {"status": "hit", "score": None}), "recorded.score"),
        (_HIT, _set("disputes", [{"at": 1, "by": "a", "ranked": True}]), "disputes[0].evidence"),
        (_HIT, _set("earlier_calls", [7]), "earlier_calls[0]"),
        (_HIT, _set("earlier_calls", [{"terms": {"kind": "x"}}]), "earlier_calls[0].terms"),
        (_HIT, _set("expected", []), "expected"),
        (_TABLE, _drop("season", "end"), "season.end"),
        (_TABLE, _set("season", "end", 5), "season.end"),
        (_TABLE, _set("settlements", 0, "agent", "nobody"), "settlements[0].agent"),
        (_TABLE, _set("settlements", 0, "score", None), "settlements[0].score"),
        (_TABLE, _set("settlements", 0, "status", "won"), "settlements[0].status"),
        (_TABLE, _set("agents", 0, "pass_rate", "high"), "agents[0].pass_rate"),
        (_LEDGER, _drop("entries"), "entries"),
        (_LEDGER, _set("entries", 1, "kind", "trade"), "entries[1].kind"),
        (_LEDGER, _set("entries", 1, "body", []), "entries[1].body"),
        (_LEDGER, _set("entries", 1, "body", {"\ud800": 1}), "entries[1]"),
        (_LEDGER, _set("prove", {"leaf": 9, "size": 9}), "prove"),
        (_LEDGER, _set("prove", "leaf", "2"), "prove.leaf"),
        (_LEDGER, _set("consistency", {"from": 0, "to": 3}), "consistency"),
    ],
)
def test_a_malformed_bundle_exits_2_with_one_line_that_names_the_field(
    path: Path,
    change: Callable[[Document], None],
    field: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = _load(path)
    change(document)
    bundle = tmp_path / "bundle.json"
    bundle.write_text(json.dumps(document))
    assert verify_command([str(bundle)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith(f"{bundle}: {field}: ")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"[]", "bundle: must be an object"),
        (b"NaN", "NaN is no JSON number"),
        (b"[" * 100_000, "is nested more than 64 levels deep"),
        (b'{"type": ' + b"9" * 5_000 + b"}", "is not JSON that can be read"),
        (b'{"type": "floor-ledger", "type": "floor-call"}', "'type': stands twice"),
        (b'{"type": "floor-ledger", "entries": [], "entries\\n": 1, "entries\\n": 2}', "stands twice"),
    ],
)
def test_a_file_that_is_no_bundle_exits_2_with_one_line(
    content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bundle.json"
    path.write_bytes(content)
    assert verify_command([str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert said in captured.err


def test_no_path_and_an_unreadable_one_exit_2(tmp_path: Path) -> None:
    assert verify_command([]) == 2
    assert verify_command([str(tmp_path / "none.json")]) == 2


def test_prices_beyond_a_double_end_in_a_refusal_and_not_in_a_result() -> None:
    document = _load()
    rows = document["market"]["hyperliquid"]["ETH"]["1h"]
    rows[-3][4], rows[-2][4] = 1e308, 1e-308
    with pytest.raises(BundleError, match="cannot be evaluated"):
        verify_text(json.dumps(document))


def test_numbers_match_to_the_tolerance_and_all_else_exactly() -> None:
    assert list(differences({"a": 1.0}, {"a": 1.0 + 9e-10, "b": 2})) == []
    assert list(differences({"a": 0.0}, {"a": 9e-13})) == []
    assert list(differences({"a": [1.0]}, {"a": [1.0 + 3e-9]})) == ["a[0]: expected 1.0, got 1.000000003"]
    assert list(differences(1_750_000_000_000, 1_750_000_000_001)) == [
        "result: expected 1750000000000, got 1750000000001"
    ]
    for expected, actual in ((True, 1), (None, 0), ("1", 1), ([], {}), ([1], [1, 2])):
        assert list(differences({"a": expected}, {"a": actual})), (expected, actual)


_PLACES = [("call",), ("agent",), ("calibration",), ("market", "hyperliquid", "ETH"), ()]
_JUNK: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({})
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(_PLACES), st.data())
def test_junk_in_any_field_ends_in_a_result_or_in_one_line(place: tuple[str, ...], data: st.DataObject) -> None:
    document = _load()
    inside: Any = document
    for key in place:
        inside = inside[key]
    inside[data.draw(st.sampled_from(sorted(inside)))] = data.draw(_JUNK)
    assert "\n" not in _outcome(json.dumps(document))


def _outcome(text: str) -> str:
    try:
        status: str = verify_text(text).result["receipt"]["status"]  # type: ignore[index]
    except BundleError as error:
        return str(error)
    return status
