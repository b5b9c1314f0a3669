"""The hash chain of the ledger, and disputes that lead to its corrections."""

from __future__ import annotations

import hashlib

import pytest

from rules.canonical import CanonicalError, canonical_json
from rules.floor.disputes import (
    Dispute,
    PublishedResult,
    final_at_ms,
    is_same_result,
    judge_disputes,
)
from rules.floor.ledger import GENESIS_HASH, append, entry_hash
from rules.market import DAY_MS


def test_each_entry_carries_the_hash_of_the_one_before() -> None:
    first = append(None, "seal", 5, {"call": "c1"})
    second = append(first, "settle", 6, {"call": "c1", "score": -0.0})
    assert (first.seq, first.prev, first.unit) == (0, GENESIS_HASH, "standing")
    assert (second.seq, second.prev) == (1, first.hash)
    text = (
        f'{{"at":6,"body":{{"call":"c1","score":0}},"kind":"settle","prev":"{first.hash}","seq":1,"unit":"standing"}}'
    )
    assert second.hash == hashlib.sha256(text.encode()).hexdigest()
    assert second.leaf() == canonical_json(second.as_json())
    assert f'"hash":"{second.hash}"'.encode() in second.leaf()


def test_any_change_of_an_entry_changes_its_hash() -> None:
    base = (3, "settle", "standing", 7, {"score": 1.0}, GENESIS_HASH)
    changed = [
        (4, *base[1:]),
        (3, "seal", *base[2:]),
        (*base[:2], "points", *base[3:]),
        (*base[:3], 8, *base[4:]),
        (*base[:4], {"score": 1.0000000000000002}, base[5]),
        (*base[:5], "1" * 64),
    ]
    hashes = {entry_hash(*entry) for entry in [base, *changed]}
    assert len(hashes) == 7


def test_a_body_without_canonical_json_is_refused() -> None:
    with pytest.raises(CanonicalError):
        append(None, "settle", 1, {"score": float("nan")})


_SETTLED_MS = 1_000


def _dispute(after_ms: int, ranked: bool = True, evidence: str = "") -> Dispute:
    return Dispute(_SETTLED_MS + after_ms, "a7", ranked, evidence)


@pytest.mark.parametrize(
    ("dispute", "outcome"),
    [
        (_dispute(-1), "window_closed"),
        (_dispute(0), "upheld"),
        (_dispute(DAY_MS - 1), "upheld"),
        (_dispute(DAY_MS), "window_closed"),
        (_dispute(DAY_MS, ranked=False), "window_closed"),
        (_dispute(5, ranked=False, evidence=" \n"), "evidence_required"),
        (_dispute(5, ranked=False, evidence="https://x"), "upheld"),
    ],
)
def test_a_dispute_needs_to_be_in_time_and_ranked_or_evidenced(dispute: Dispute, outcome: str) -> None:
    result = PublishedResult("hit", 12.5)
    assert [entry.outcome for entry in judge_disputes([dispute], _SETTLED_MS, result, result)] == [outcome]


def test_after_an_overturn_the_next_dispute_finds_the_correction() -> None:
    judged = judge_disputes(
        [_dispute(9), _dispute(5)], _SETTLED_MS, PublishedResult("hit", 12.5), PublishedResult("void", None)
    )
    assert [(entry.dispute.at_ms, entry.outcome) for entry in judged] == [(1_005, "overturned"), (1_009, "upheld")]


def test_results_are_the_same_within_the_tolerance_of_bundles() -> None:
    assert is_same_result(PublishedResult("hit", 12.5), PublishedResult("hit", 12.5 * (1 + 9e-10)))
    assert not is_same_result(PublishedResult("hit", 12.5), PublishedResult("hit", 12.5 * (1 + 2e-9)))
    assert not is_same_result(PublishedResult("hit", 12.5), PublishedResult("miss", 12.5))
    assert is_same_result(PublishedResult("void", None), PublishedResult("void", None))


def test_a_result_is_final_after_a_day_or_with_its_last_dispute() -> None:
    assert final_at_ms(0) == DAY_MS
    assert final_at_ms(0, [5, DAY_MS + 7, 9]) == DAY_MS + 7
    assert final_at_ms(0, [5]) == DAY_MS
    assert final_at_ms(0, [5, None]) is None
