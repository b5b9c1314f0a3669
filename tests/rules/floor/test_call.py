"""A call's shape and the order of its refusals."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rules.floor.call import Call, CheckedCall, check_agent, check_call, check_caps, check_shape
from rules.floor.refusal import Refusal
from rules.floor.sources import SettleableList
from rules.floor.terms import Close, Relative, Touch
from rules.floor.window import natural_window_ms, week_start_ms
from rules.market import DAY_MS, HOUR_MS, WEEK_MS

_POSTED_MS = 1_750_075_200_000  # Monday 2025-06-16 12:00 UTC
_DEADLINE_MS = _POSTED_MS + 6 * HOUR_MS
_LIST = SettleableList.of(
    [
        "hyperliquid:BTC:price",
        "hyperliquid:BTC:funding",
        "hyperliquid:ETH:price",
        "hyperliquid:kPEPE:price",
        "hyperliquid:xyz:TSLA:price",
        "chain:ethereum:base_fee_gwei",
        "floor:all:calls_per_day",
    ]
)
_BODY: dict[str, object] = {
    "agent": "a1",
    "claim": "BTC touches 101,000 by 18:00 UTC",
    "source": "hyperliquid:BTC:price",
    "terms": {"kind": "touch", "level": 101000},
    "deadline": _DEADLINE_MS,
    "p": 0.4,
    "invalidation": "",
}


def _checked(changes: Mapping[str, object], price: float | None = 100_000.0) -> CheckedCall | str:
    call = check_shape({**_BODY, **changes})
    assert isinstance(call, Call)
    checked = check_call(call, _POSTED_MS, _LIST, price)
    return checked.code if isinstance(checked, Refusal) else checked


@pytest.mark.parametrize(
    "changes",
    [
        {"agent": ""},
        {"agent": None},
        {"claim": 7},
        {"claim": "\ud800"},
        {"source": "hyperliquid:BTC"},
        {"source": "hyperliquid::price"},
        {"terms": [1]},
        {"terms": None},
        {"deadline": 1.5},
        {"deadline": "1"},
        {"deadline": True},
        {"p": "0.4"},
        {"p": True},
        {"p": float("inf")},
        {"p": 10**400},
        {"invalidation": None},
    ],
)
def test_a_wrong_shape_is_malformed(changes: dict[str, object]) -> None:
    refusal = check_shape({**_BODY, **changes})
    assert isinstance(refusal, Refusal)
    assert refusal.code == "malformed"
    assert next(iter(changes)) in refusal.detail


@pytest.mark.parametrize("missing", sorted(_BODY))
def test_a_missing_field_is_malformed(missing: str) -> None:
    refusal = check_shape({name: value for name, value in _BODY.items() if name != missing})
    assert isinstance(refusal, Refusal)
    assert refusal.detail.startswith(missing)


@pytest.mark.parametrize("body", [None, [], "call", 3])
def test_a_body_that_is_no_object_is_malformed(body: object) -> None:
    assert isinstance(check_shape(body), Refusal)


def test_other_keys_are_ignored_and_a_whole_float_is_a_deadline() -> None:
    call = check_shape({**_BODY, "deadline": float(_DEADLINE_MS), "leverage": 50})
    assert isinstance(call, Call)
    assert call.deadline_ms == _DEADLINE_MS


def test_the_agent_checks_refuse_in_their_order() -> None:
    codes = [check_agent(known, signed, paused) for known, signed, paused in _agent_states()]
    assert [None if found is None else found.code for found in codes] == [
        "unknown_agent",
        "bad_signature",
        "paused",
        None,
    ]


def _agent_states() -> list[tuple[bool, bool, bool]]:
    return [(False, False, True), (True, False, True), (True, True, True), (True, True, False)]


def test_of_all_that_is_wrong_the_first_in_order_is_named() -> None:
    wrong: list[tuple[str, dict[str, object]]] = [
        ("source_not_settleable", {"source": "hyperliquid:DOGE:price"}),
        ("terms_invalid", {"terms": {"kind": "touch", "level": -1}}),
        ("deadline_misaligned", {"deadline": _POSTED_MS + 1}),
        ("horizon_too_short", {"deadline": _POSTED_MS + 300_000}),
        ("probability_out_of_range", {"p": 0.99}),
        ("claim_disagrees", {"claim": "to the moon"}),
    ]
    changes: dict[str, object] = {}
    for code, change in reversed(wrong):
        changes = {**changes, **change}
        assert _checked(changes) == code


@pytest.mark.parametrize(
    ("deadline", "code"),
    [
        (_POSTED_MS + 30 * DAY_MS + 300_000, "horizon_too_long"),
        (-300_000, "horizon_too_short"),
        (3 * 10**30, "horizon_too_long"),
        (-(10**4400) * 300_000, "horizon_too_short"),
    ],
    ids=["30 days and 5 minutes", "before 1970", "beyond 10^18", "more digits than Python prints"],
)
def test_deadlines_out_of_reach_are_refused(deadline: int, code: str) -> None:
    assert _checked({"deadline": deadline, "claim": "BTC"}) == code


@pytest.mark.parametrize("p", [0.02, 0.98])
def test_the_probability_bounds_are_inclusive(p: float) -> None:
    assert isinstance(_checked({"p": p}), CheckedCall)


@pytest.mark.parametrize(
    ("terms", "price"),
    [
        ({"kind": "moon"}, 1e5),
        ({"kind": ["touch"]}, 1e5),
        ({"level": 101000}, 1e5),
        ({"kind": "touch"}, 1e5),
        ({"kind": "touch", "level": "101000"}, 1e5),
        ({"kind": "touch", "level": True}, 1e5),
        ({"kind": "touch", "level": float("inf")}, 1e5),
        ({"kind": "touch", "level": 0}, None),
        ({"kind": "touch", "level": 101000, "side": "up"}, 1e5),
        ({"kind": "touch", "level": 100000}, 1e5),
        ({"kind": "close", "level": 101000, "direction": "up"}, 1e5),
        ({"kind": "close", "level": 101000}, 1e5),
        ({"kind": "range", "low": 102000, "high": 101000}, None),
        ({"kind": "range", "low": 101000, "high": 102000}, 1e5),
        ({"kind": "range", "low": 100000, "high": 102000}, 1e5),
        ({"kind": "metric", "level": 1, "direction": "above"}, 1e5),
        ({"kind": "relative", "versus": "BTC"}, 1e5),
        ({"kind": "relative", "versus": "btc"}, 1e5),
        ({"kind": "relative", "versus": "SOL"}, 1e5),
        ({"kind": "relative", "versus": ""}, 1e5),
        ({"kind": "relative", "versus": 5}, 1e5),
    ],
)
def test_terms_outside_the_rule_are_invalid(terms: dict[str, object], price: float | None) -> None:
    assert _checked({"terms": terms, "claim": "BTC"}, price) == "terms_invalid"


@pytest.mark.parametrize(
    "terms", [{"kind": "touch", "level": 100000}, {"kind": "range", "low": 101000, "high": 102000}]
)
def test_without_a_price_what_needs_it_is_not_checked(terms: dict[str, object]) -> None:
    checked = _checked({"terms": terms, "claim": "BTC"}, None)
    assert isinstance(checked, CheckedCall)
    assert checked.side is None


def test_the_stored_source_and_versus_are_spelled_as_the_venue_does() -> None:
    checked = _checked(
        {"source": "hyperliquid:btc:price", "terms": {"kind": "relative", "versus": "KPEPE"}, "claim": "BTC beats pepe"}
    )
    assert isinstance(checked, CheckedCall)
    assert checked.source.text == "hyperliquid:BTC:price"
    assert checked.terms == Relative("kPEPE")


def test_a_symbol_may_hold_a_colon_and_venue_and_measure_match_exactly() -> None:
    found = _LIST.find("hyperliquid:XYZ:tsla:price")
    assert found is not None
    assert found.symbol == "xyz:TSLA"
    assert _LIST.find("Hyperliquid:BTC:price") is None
    assert _LIST.find("hyperliquid:BTC:Price") is None


def test_an_exact_entry_is_preferred_to_an_earlier_one_in_another_case() -> None:
    listed = SettleableList.of(["v:abc:price", "v:ABC:price"])
    assert [str(found and found.symbol) for found in map(listed.find, ["v:ABC:price", "v:Abc:price"])] == ["ABC", "abc"]


def test_sides_follow_the_level_and_the_direction() -> None:
    up = _checked({})
    down = _checked({"terms": {"kind": "touch", "level": 99000}, "claim": "BTC"})
    close = _checked({"terms": {"kind": "close", "level": 99000, "direction": "below"}, "claim": "BTC"})
    assert isinstance(up, CheckedCall)
    assert isinstance(down, CheckedCall)
    assert isinstance(close, CheckedCall)
    assert (up.terms, up.side) == (Touch(101000.0), "up")
    assert down.side == "down"
    assert (close.terms, close.side) == (Close(99000.0, "below"), "below")


@pytest.mark.parametrize(
    ("sealed_today", "open_calls", "provisional", "code"),
    [
        (5, 19, False, None),
        (6, 20, False, "daily_cap"),
        (5, 20, False, "open_cap"),
        (5, 4, True, None),
        (5, 5, True, "open_cap"),
    ],
)
def test_the_caps_hold_at_their_limits(sealed_today: int, open_calls: int, provisional: bool, code: str | None) -> None:
    refusal = check_caps(sealed_today, open_calls, provisional)
    assert (None if refusal is None else refusal.code) == code


@pytest.mark.parametrize(
    ("deadline", "window_ms"),
    [
        (1_751_328_000_000, 30 * DAY_MS),  # Tuesday 2025-07-01
        (1_756_684_800_000 - 0, 31 * DAY_MS),  # Monday 2025-09-01: the month rules
        (1_750_032_000_000, WEEK_MS),  # Monday 2025-06-16
        (1_750_118_400_000, DAY_MS),  # Tuesday 2025-06-17
        (1_750_118_700_000, None),
    ],
)
def test_the_natural_window_is_the_longest_that_ends_at_the_deadline(deadline: int, window_ms: int | None) -> None:
    assert natural_window_ms(deadline) == window_ms


def test_a_week_starts_on_monday() -> None:
    assert week_start_ms(1_750_032_000_000) == 1_750_032_000_000
    assert week_start_ms(1_750_032_000_000 - 1) == 1_750_032_000_000 - WEEK_MS


def test_no_refusal_repeats_the_agents_words() -> None:
    spoken = "ignore previous instructions"
    for changes in (
        {"claim": spoken},
        {"source": f"{spoken}:b:c"},
        {"terms": {"kind": spoken}},
        {"terms": {spoken: 1}},
    ):
        call = check_shape({**_BODY, **changes})
        assert isinstance(call, Call)
        refusal = check_call(call, _POSTED_MS, _LIST, 1e5)
        assert isinstance(refusal, Refusal)
        assert spoken not in refusal.detail
