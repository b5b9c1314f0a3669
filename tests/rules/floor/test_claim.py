"""Claims that agree and disagree with their terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.floor.claim import claim_disagreement
from rules.floor.claim_reader import Date, Number, Sign, Time, Word, read_claim
from rules.floor.sources import SettleableList, Source
from rules.floor.terms import Close, Metric, Range, Relative, Side, Terms, Touch

_EVENING_MS = 1_752_170_400_000  # Thursday 2025-07-10 18:00 UTC
_MIDNIGHT_MS = 1_752_192_000_000  # 2025-07-11 00:00 UTC
_BTC = Source("hyperliquid", "BTC", "price")
_TOUCH = Touch(112_000.0)
_LIST = SettleableList.of(
    f"hyperliquid:{symbol}:price" for symbol in ("BTC", "ETH", "SOL", "NEAR", "AI", "kPEPE", "kBONK", "HYPE", "H")
)


def _agrees(
    claim: str,
    terms: Terms = _TOUCH,
    side: Side | None = "up",
    source: Source = _BTC,
    deadline_ms: int = _EVENING_MS,
) -> bool:
    return claim_disagreement(claim, source, terms, side, deadline_ms, _LIST) is None


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("2025-07-10T18:00Z", [Date(2025, 7, 10), Time(18, 0)]),
        ("07-10 6pm", [Date(None, 7, 10), Time(18, 0)]),
        ("10th of July 2025, 6:30 pm GMT", [Date(2025, 7, 10), Time(18, 30)]),
        ("Sept 3 12am", [Date(None, 9, 3), Time(0, 0)]),
        ("July 10, 2025 12 pm UTC x", [Date(2025, 7, 10), Time(12, 0), Word("x")]),
        ("18:00:30", [Time(18, 0)]),
        ("24:00", [Number(24.0, True), Number(0.0, True)]),
        ("112,000.5 1_000 1,23", [*[Number(x, True) for x in (112_000.5, 1000.0, 1.0, 23.0)]]),
        ("$112k 1.5M 2b 3 million", [*[Number(x, True) for x in (112_000.0, 1.5e6, 2e9, 3e6)]]),
        ("1.25e-5 -0.5 (-2) up-3", [*[Number(x, True) for x in (1.25e-5, -0.5, -2.0)], Word("up"), Number(3.0, True)]),
        ("5% 5 pct 50bps 24h 4-hour 10 min", [*[Number(x, False) for x in (5.0, 5.0, 50.0, 24.0, 4.0, 10.0)]]),
        ("10m", [Number(1e7, True)]),
        ("Q3 2nd 2Z 112km", [Word("Q3"), Word("2nd"), Word("2Z"), Word("112km")]),
        ("won't won’t it's", [Word("won't"), Word("won't"), Word("it"), Word("s")]),
        (">= ≤5", [Sign(">"), Sign("≤"), Number(5.0, True)]),
        ("May 1,200", [Word("May"), Number(1200.0, True)]),
    ],
)
def test_the_reader_takes_the_first_kind_that_fits(text: str, items: list[object]) -> None:
    assert list(read_claim(text)) == items


@pytest.mark.parametrize(
    "claim",
    [
        "BTC",
        "bitcoin touches $112k by 18:00 UTC on 10 July",
        "XBT above 112,050 near the 2025-07-10 close, 6pm",
        "Over the next 6 hours BTC climbs to 112000, up 2%",
        "BTC rises to 0.112 million",
        "BTC will be over 112000 and under pressure",
        "BTC between the lines: 112000",
        "BTC touches 112000, says some ai near here",
    ],
)
def test_a_claim_that_says_the_same_or_less_agrees(claim: str) -> None:
    assert _agrees(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "it touches 112000",
        "BTC touches 112000 before ether moves",
        "BTC touches 112000 like NEAR",
        "BTC touches 112000 like AI",
        "BTC touches 112000 as kBONK does",
        "BTC touches 112000 as KBONK does",
        "BTC touches 112,100",
        "BTC does not touch 111000 but 112000",
        "BTC won’t touch 112000",
        "BTC never touches 112000",
        "BTC below 112000",
        "BTC < 112000",
        "BTC under $112000",
        "BTC drops to 112000",
        "BTC touches down at 112000",
        "BTC inside 112000",
        "BTC between 112000 and 112000",
        "BTC touches 112000 by 17:59",
        "BTC touches 112000 by 6am",
        "BTC touches 112000 on 11 July",
        "BTC touches 112000 on 10 July 2026",
        "BTC touches 112000 (p 0.4)",
    ],
)
def test_a_claim_that_says_otherwise_disagrees(claim: str) -> None:
    assert not _agrees(claim)


@pytest.mark.parametrize(
    "claim", ["BTC above 112000", "BTC > 112k", "BTC ≥ 112k", "BTC touches up", "BTC exceeds 112000"]
)
def test_up_words_disagree_with_down_and_without_a_side_nothing_is_said(claim: str) -> None:
    assert not _agrees(claim, side="down")
    assert _agrees(claim, side="up")
    assert _agrees(claim, side=None)


def test_a_midnight_deadline_is_on_both_its_days_unless_the_claim_has_a_time() -> None:
    for claim, agrees in (
        ("BTC by 10 July", True),
        ("BTC by 11 July", True),
        ("BTC by 12 July", False),
        ("BTC by 10 July 00:00", False),
        ("BTC by 11 July 00:00", True),
    ):
        assert _agrees(claim, deadline_ms=_MIDNIGHT_MS) is agrees, claim


@pytest.mark.parametrize(
    ("claim", "agrees"),
    [
        ("ETH beats BTC", True),
        ("BTC lags ether", True),
        ("BTC beats ETH", False),
        ("ETH underperforms bitcoin", False),
        ("ETH beats BTC by 5", False),
        ("ETH beats BTC by 5%", True),
        ("ETH beats BTC and SOL", False),
        ("ETH beats BTC inside the day", False),
    ],
)
def test_relative_claims_let_the_source_win_and_have_no_level(claim: str, agrees: bool) -> None:
    assert _agrees(claim, Relative("BTC"), None, Source("hyperliquid", "ETH", "price")) is agrees


def test_a_range_claim_may_speak_of_its_range_and_of_both_edges() -> None:
    terms = Range(110_000.0, 114_000.0)
    assert _agrees("BTC stays inside the range between 110k and 114k, above 110000 and below 114000", terms, None)
    assert not _agrees("BTC stays between 110k and 115k", terms, None)


@pytest.mark.parametrize(
    ("source", "claim", "agrees"),
    [
        (Source("chain", "ethereum", "base_fee_gwei"), "ETH base fee above 5", True),
        (Source("chain", "ethereum", "base_fee_gwei"), "base fee above 5", False),
        (Source("chain", "solana", "tps"), "solana above 5", True),
        (Source("floor", "all", "calls_per_day"), "Floor calls a day above 5", True),
        (Source("floor", "all", "calls_per_day"), "calls a day above 5", False),
        (Source("hyperliquid", "kPEPE", "funding"), "PEPE funding above 5", True),
    ],
)
def test_chains_and_the_floor_are_named_by_their_own_words(source: Source, claim: str, agrees: bool) -> None:
    assert _agrees(claim, Metric(5.0, "above"), "above", source) is agrees


def test_a_source_outside_the_groups_is_named_in_any_case() -> None:
    assert _agrees("near above 5", Close(5.0, "above"), "above", Source("hyperliquid", "NEAR", "price"))


def test_a_unit_glued_to_its_number_names_no_symbol() -> None:
    assert _agrees("BTC 112000 within 4H")
    assert not _agrees("BTC 112000, H too")


@given(st.text(max_size=80))
def test_any_sentence_can_be_read(claim: str) -> None:
    read_claim(claim)
    claim_disagreement(claim, _BTC, Touch(112_000.0), "up", _EVENING_MS, _LIST)
