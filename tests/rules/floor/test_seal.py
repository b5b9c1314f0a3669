"""Seals and the labels fixed with them."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.floor.labels import Labels, PostedCall, is_hugging, labels
from rules.floor.seal import SealedBaseline, SealedFields, seal
from rules.floor.sources import Source
from rules.floor.terms import Close, Metric, Range, Relative, Side, Terms, Touch

_FIELDS = SealedFields("BTC é", 1_750_096_800_000, "", 0.4, Source("hyperliquid", "BTC", "price"), Touch(112_000.0))
_BASELINE = SealedBaseline(0.25, "b-1")
_POSTED_MS = 1_750_075_200_123
_TOUCH = Touch(100.0)


def test_the_seal_is_the_hash_of_the_text_in_the_rule() -> None:
    text = (
        '{"agent":"a1","baseline":{"b":0.25,"version":"b-1"},"fields":{"claim":"BTC é","deadline":1750096800000,'
        '"invalidation":"","p":0.4,"source":"hyperliquid:BTC:price","terms":{"kind":"touch","level":112000}},'
        '"posted_at":1750075200123}'
    )
    assert seal("a1", _FIELDS, _BASELINE, _POSTED_MS) == hashlib.sha256(text.encode()).hexdigest()


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_TERMS: st.SearchStrategy[Terms] = st.one_of(
    st.builds(Touch, st.floats(1, 1e6)),
    st.builds(Close, st.floats(1, 1e6), st.sampled_from(["above", "below"])),
    st.builds(Range, st.floats(1, 10), st.floats(11, 20)),
    st.builds(Relative, _TEXT),
)
_CALLS = st.tuples(
    _TEXT,
    st.builds(
        SealedFields,
        _TEXT,
        st.integers(0, 10**13),
        _TEXT,
        st.floats(0.02, 0.98),
        st.builds(Source, st.sampled_from(["v", "w"]), st.sampled_from(["A", "B"]), st.just("price")),
        _TERMS,
    ),
    st.builds(SealedBaseline, st.floats(0.02, 0.98), st.sampled_from(["b-1", "b-1.1"])),
    st.integers(0, 10**13),
)


@given(_CALLS, _CALLS)
def test_the_seal_changes_with_any_field(
    one: tuple[str, SealedFields, SealedBaseline, int], other: tuple[str, SealedFields, SealedBaseline, int]
) -> None:
    assert seal(*one) == seal(*one)
    for place in range(4):
        mixed = (*one[:place], other[place], *one[place + 1 :])
        assert (seal(*mixed) == seal(*one)) == (mixed == one)  # type: ignore[arg-type]
    for name in ("claim", "deadline_ms", "invalidation", "p", "source", "terms"):
        changed = replace(one[1], **{name: getattr(other[1], name)})
        assert (seal(one[0], changed, one[2], one[3]) == seal(*one)) == (changed == one[1])


@pytest.mark.parametrize(("p", "b", "hugging"), [(0.45, 0.4, True), (0.35, 0.4, True), (0.450001, 0.4, False)])
def test_five_points_from_the_baseline_are_still_hugging(p: float, b: float, hugging: bool) -> None:
    assert is_hugging(p, b) is hugging


def _posted(
    call: str,
    agent: str,
    terms: Terms = _TOUCH,
    side: Side | None = "up",
    before_ms: int = 0,
) -> PostedCall:
    return PostedCall(call, agent, f"op_{agent}", True, "v:BTC:price", terms, side, _POSTED_MS - before_ms)


def _labels(new: PostedCall, *earlier: PostedCall) -> Labels:
    return labels(new, 0.9, 0.1, earlier)


def test_the_earliest_copied_call_is_named_and_of_one_ms_the_first_at_the_broker() -> None:
    new = _posted("n", "a")
    earlier = [_posted("late", "b", before_ms=5), _posted("first", "c", before_ms=9), _posted("tie", "d", before_ms=9)]
    assert _labels(new, *earlier).copy_of == "first"
    assert _labels(new, *earlier).weight == 0.5


@pytest.mark.parametrize(
    ("other", "copied"),
    [
        (_posted("o", "b"), True),
        (_posted("o", "b", before_ms=600_000), True),
        (_posted("o", "b", before_ms=600_001), False),
        (_posted("o", "a"), False),
        (replace(_posted("o", "b"), ranked=False), False),
        (replace(_posted("o", "b"), source="v:ETH:price"), False),
        (_posted("o", "b", side="down"), False),
        (_posted("o", "b", Close(100.0, "above"), "above"), False),
        (_posted("o", "b", Touch(100.5)), True),
        (_posted("o", "b", Touch(100.51)), False),
    ],
)
def test_a_copy_is_the_same_call_within_ten_minutes_of_a_ranked_agent(other: PostedCall, copied: bool) -> None:
    assert (_labels(_posted("n", "a"), other).copy_of is not None) is copied


@pytest.mark.parametrize(
    ("new", "old", "copied"),
    [
        (Range(100.0, 110.0), Range(100.4, 110.4), True),
        (Range(100.0, 110.0), Range(100.4, 111.0), False),
        (Metric(-1.005, "above"), Metric(-1.0, "above"), True),
        (Metric(0.0, "above"), Metric(0.0, "above"), True),
        (Metric(1.006, "above"), Metric(1.0, "above"), False),
        (Relative("ETH"), Relative("ETH"), True),
        (Relative("ETH"), Relative("SOL"), False),
    ],
)
def test_similar_levels_by_kind(new: Terms, old: Terms, copied: bool) -> None:
    found = _labels(_posted("n", "a", new, None), _posted("o", "b", old, None)).copy_of
    assert (found is not None) is copied


def test_an_operators_other_agents_within_the_hour_are_named_in_order_of_posting() -> None:
    new = replace(_posted("n", "a"), operator="op")
    family = [
        replace(_posted(call, agent, before_ms=before_ms), operator="op")
        for call, agent, before_ms in (("x", "b", 60), ("y", "c", 3_600_000), ("z", "d", 3_600_001), ("own", "a", 1))
    ]
    assert _labels(new, *family, _posted("stranger", "e")).correlated_with == ("y", "x")
