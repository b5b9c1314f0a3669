"""Every settlement of a run, the halt's day included, is rebuilt from its bundle, and no part of one can be changed."""

import base64
import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from referee import verify
from referee.bundle_extras import evaluate_published
from referee.evidence import counts_before, is_retried
from referee.verify import verify_text
from rules.floor.bundle.fields import BundleError
from rules.floor.constants import DAILY_CAP, GRACE_MS, RETRY_LIMIT_MS, RETRY_MS
from rules.market import DAY_MS, HOUR_MS
from tests.referee.evidence_day import NOBODY, Bundle, Collected, evidence_of_the_halts_day


@pytest.fixture(scope="module")
def day() -> Collected:
    """Return the evidence of the halt's day."""
    return evidence_of_the_halts_day()


@pytest.fixture(autouse=True)
def verifier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verify as the command does."""
    monkeypatch.setitem(verify.EVALUATORS, "floor-call", evaluate_published)


def fails(bundle: Bundle) -> bool:
    """Tell whether a bundle is found to differ or to be malformed."""
    try:
        return bool(verify_text(json.dumps(bundle)).differences)
    except BundleError:
        return True


@pytest.mark.demo
def test_every_settlement_has_a_bundle_that_verifies(day: Collected) -> None:
    outcomes = Counter((row["status"], row["reason"]) for row in day.settled)
    assert {("hit", None), ("miss", None), ("void", "venue_halt"), ("void", "source_unavailable")} <= outcomes.keys()
    assert len(day.bundles) == len(day.settled) > 100
    for seal, bundle in day.bundles.items():
        assert verify_text(json.dumps(bundle)).differences == (), seal


@pytest.mark.demo
def test_a_bundle_expects_what_was_published_with_its_time(day: Collected) -> None:
    for row in day.settled:
        expected = day.bundles[row["call"]]["expected"]
        assert (expected["seal"], expected["settlement"]["status"]) == (row["call"], row["status"])
        assert "settled_at" in expected["settlement"]


@pytest.mark.demo
def test_a_bundle_holds_the_raw_answers_and_both_ledger_entries(day: Collected) -> None:
    for bundle in day.bundles.values():
        hashes = {hashlib.sha256(base64.b64decode(answer["body"])).hexdigest() for answer in bundle["answers"]}
        assert hashes == {answer["sha256"] for answer in bundle["answers"]}
        assert [entry["kind"] for entry in bundle["ledger"]] == ["seal", "settle"]
        assert bundle["ledger"][1]["body"]["evidence"] == sorted(hashes)


@pytest.mark.demo
def test_the_agents_counts_are_those_that_let_it_post(day: Collected) -> None:
    agents = [bundle["agent"] for bundle in day.bundles.values()]
    assert all(agent["known"] and agent["signature_ok"] for agent in agents)
    assert {agent["sealed_today"] for agent in agents} == set(range(DAILY_CAP))
    assert max(agent["open"] for agent in agents) > 0


@pytest.mark.demo
@pytest.mark.parametrize("kind", ["touch", "close", "range"])
def test_a_changed_byte_of_a_raw_answer_fails(day: Collected, kind: str) -> None:
    for status in ("hit", "miss", "void"):
        for number in range(len(day.one(kind, status)["answers"])):
            bundle = day.one(kind, status)
            raw = bytearray(base64.b64decode(bundle["answers"][number]["body"]))
            raw[len(raw) // 2] ^= 1
            bundle["answers"][number]["body"] = base64.b64encode(raw).decode()
            with pytest.raises(BundleError, match=rf"answers\[{number}\]\.body: its bytes have sha256"):
                verify_text(json.dumps(bundle))


@pytest.mark.demo
@pytest.mark.parametrize("kind", ["touch", "close", "range"])
@pytest.mark.parametrize("column", range(1, 6))
def test_a_changed_candle_after_the_post_fails_even_where_it_decides_nothing(
    day: Collected, kind: str, column: int
) -> None:
    pristine = day.one(kind, "hit")
    for venue in ("hyperliquid", "bybit"):
        coin = next(iter(pristine["market"][venue]))
        rows = pristine["market"][venue][coin]["5m"]
        after = [number for number, row in enumerate(rows) if venue == "bybit" or row[0] >= pristine["posted_at"]]
        for number in (after[0], after[len(after) // 2], after[-1]):
            bundle = day.one(kind, "hit")
            bundle["market"][venue][coin]["5m"][number][column] += 1e-6
            with pytest.raises(BundleError, match="is not what the raw answers show"):
                verify_text(json.dumps(bundle))


@pytest.mark.demo
def test_candles_cannot_be_left_out_or_moved_with_a_forged_answer(day: Collected) -> None:
    bundle = day.one("touch", "miss")
    coin = next(iter(bundle["market"]["bybit"]))
    del bundle["market"]["hyperliquid"][coin]["5m"][-1]
    with pytest.raises(BundleError, match="is missing, the raw answers show it"):
        verify_text(json.dumps(bundle))
    bundle = day.one("touch", "miss")
    del bundle["market"]["bybit"][coin]
    with pytest.raises(BundleError, match="of which there is a raw answer"):
        verify_text(json.dumps(bundle))
    bundle = day.one("touch", "miss")
    answer = next(answer for answer in bundle["answers"] if answer["request"] == '{"type":"meta"}')
    raw = base64.b64decode(answer["body"]) + b" "
    answer |= {"body": base64.b64encode(raw).decode(), "sha256": hashlib.sha256(raw).hexdigest()}
    with pytest.raises(BundleError, match=r"ledger\[1\]\.body\.evidence: is not what the bundle holds"):
        verify_text(json.dumps(bundle))


def change_price_before(bundle: Bundle) -> None:
    """Change the close that S is."""
    rows = bundle["market"]["hyperliquid"][bundle["call"]["source"].split(":")[1]]["5m"]
    last = max(row[0] for row in rows if row[0] + 300_000 <= bundle["posted_at"])
    next(row for row in rows if row[0] == last)[4] *= 1.001


def change_hourly(bundle: Bundle) -> None:
    """Change the newest close that σ rests on."""
    bundle["market"]["hyperliquid"][bundle["call"]["source"].split(":")[1]]["1h"][-1][4] *= 1.001


def change_p(bundle: Bundle) -> None:
    """Change what the agent said."""
    bundle["call"]["p"] = round(1 - bundle["call"]["p"] + 0.001, 3)


def change_score(bundle: Bundle) -> None:
    """Change the published score."""
    bundle["expected"]["settlement"]["score"] += 1e-6


def change_recorded(bundle: Bundle) -> None:
    """Change the recorded score only."""
    bundle["recorded"]["score"] += 1e-6


def change_delisted(bundle: Bundle) -> None:
    """Say that the coin was delisted."""
    coin = bundle["call"]["source"].split(":")[1]
    bundle["market"]["hyperliquid"][coin]["delisted_at"] = bundle["call"]["deadline"]
    del bundle["expected"]


def change_entry(bundle: Bundle) -> None:
    """Change the ledger's entry of the settlement."""
    bundle["ledger"][1]["body"]["value"] = 1.0


def change_answers(bundle: Bundle) -> None:
    """Leave the raw answers out."""
    bundle["answers"] = []


@pytest.mark.demo
@pytest.mark.parametrize("kind", ["touch", "close", "range"])
@pytest.mark.parametrize(
    "change",
    [
        change_price_before,
        change_hourly,
        change_p,
        change_score,
        change_recorded,
        change_delisted,
        change_entry,
        change_answers,
    ],
)
def test_any_other_change_fails_too(day: Collected, kind: str, change: Callable[[Bundle], None]) -> None:
    bundle = day.one(kind, "miss")
    change(bundle)
    assert fails(bundle)


@pytest.mark.demo
def test_a_changed_call_shows_in_its_seal_and_score(day: Collected) -> None:
    bundle = day.one("range", "hit")
    change_p(bundle)
    paths = [line.partition(":")[0] for line in verify_text(json.dumps(bundle)).differences]
    assert {"seal", "settlement.raw_score", "settlement.score"} <= set(paths)


@pytest.mark.demo
def test_the_command_verifies_a_bundle_and_refuses_a_changed_one(day: Collected, tmp_path: Path) -> None:
    good, differs, malformed = tmp_path / "good.json", tmp_path / "differs.json", tmp_path / "malformed.json"
    good.write_text(json.dumps(day.one("close", "hit")))
    bundle = day.one("close", "hit")
    change_score(bundle)
    differs.write_text(json.dumps(bundle))
    bundle = day.one("close", "hit")
    bundle["answers"][0]["sha256"] = NOBODY
    malformed.write_text(json.dumps(bundle))
    ends = [
        subprocess.run([sys.executable, "-m", "referee", "verify", path], capture_output=True, check=False)
        for path in (good, differs, malformed)
    ]
    assert [end.returncode for end in ends] == [0, 1, 2]
    assert json.loads(ends[0].stdout)["settlement"]["status"] == "hit"
    assert [end.stderr.count(b"\n") for end in ends] == [0, 1, 1]


@pytest.mark.demo
def test_calls_without_a_bundle_are_refused_with_the_reason(day: Collected) -> None:
    assert "there is no sealed call" in day.refusals["unknown"]
    assert "the ids of several calls begin so" in day.refusals["several"]
    assert "is no id" in day.refusals["no id"]
    assert "is not settled yet" in day.refusals["open"]
    assert "is stored with bytes of sha256" in day.refusals["spoilt"]
    assert "rests on the silence of hyperliquid" in day.refusals["silent"]
    assert "was settled by floor-0.9" in day.refusals["older"]


def test_counts_are_those_before_the_post() -> None:
    noon = 20_000 * DAY_MS + 12 * HOUR_MS
    past = [
        {"posted_at_ms": noon - 13 * HOUR_MS, "status": "hit", "settled_at_ms": noon - 1},
        {"posted_at_ms": noon - 12 * HOUR_MS, "status": "void", "settled_at_ms": noon},
        {"posted_at_ms": noon - 2 * HOUR_MS, "status": "miss", "settled_at_ms": noon + 1},
        {"posted_at_ms": noon - HOUR_MS, "status": "", "settled_at_ms": 0},
    ]
    counts = counts_before(past, noon)
    assert (counts.sealed_today, counts.open, counts.provisional) == (3, 2, True)
    settled = [{"posted_at_ms": 0, "status": "hit", "settled_at_ms": 1}] * 19
    voids = [{"posted_at_ms": 0, "status": "void", "settled_at_ms": 1}] * 5
    assert counts_before(settled + voids, noon).provisional
    assert not counts_before([*settled, settled[0]], noon).provisional


@pytest.mark.parametrize(
    ("after_ms", "reason", "retried"),
    [
        (GRACE_MS, None, False),
        (GRACE_MS + RETRY_MS, None, True),
        (GRACE_MS, "venue_halt", False),
        (GRACE_MS + RETRY_LIMIT_MS, "venues_disagree", False),
        (GRACE_MS + RETRY_LIMIT_MS, "source_unavailable", False),
        (GRACE_MS + RETRY_LIMIT_MS, None, True),
    ],
)
def test_a_time_between_the_first_attempt_and_the_last_is_a_retry(
    after_ms: int, reason: str | None, retried: bool
) -> None:
    assert is_retried({"deadline_ms": HOUR_MS}, {"settled_at_ms": HOUR_MS + after_ms, "reason": reason}) is retried
