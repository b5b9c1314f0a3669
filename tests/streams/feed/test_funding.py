"""Which settled funding is known: late rows, missing hours, each row once."""

from hypothesis import given
from hypothesis import strategies as st

from streams.feed.budget import RequestBudget
from streams.feed.funding import HOUR_MS, FundingPolicy, FundingTracker
from streams.venues.base import FundingRow

T0 = 1_749_081_600_000
POLICY = FundingPolicy(delay_ms=3_000, retry_ms=60_000)


def row(hour: int, late_ms: int = 50) -> FundingRow:
    """Return the payment of the hour `hour` after T0."""
    return FundingRow(T0 + hour * HOUR_MS + late_ms, 1.25e-05)


def test_an_hour_is_asked_for_just_after_it_and_not_again_once_known() -> None:
    tracker = FundingTracker(T0, POLICY)
    assert not tracker.due(T0 + HOUR_MS + 2_999)
    assert tracker.due(T0 + HOUR_MS + 3_000)
    assert tracker.take([row(1)], T0 + HOUR_MS + 3_000) == [row(1)]
    assert tracker.complete_through_ms == T0 + HOUR_MS
    assert not tracker.due(T0 + 2 * HOUR_MS)
    assert tracker.ask_from_ms == row(1).time_ms + 1


def test_a_late_payment_is_asked_for_again_and_belongs_to_its_hour() -> None:
    """Rule H2: 887 645 ms after the hour."""
    tracker = FundingTracker(T0, POLICY)
    asked_ms = T0 + HOUR_MS + 3_000
    assert tracker.take([], asked_ms) == []
    assert tracker.complete_through_ms == T0
    assert not tracker.due(asked_ms + 59_999)
    assert tracker.due(asked_ms + 60_000)
    assert tracker.take([row(1, 887_645)], T0 + HOUR_MS + 900_000) == [row(1, 887_645)]
    assert tracker.complete_through_ms == T0 + HOUR_MS


def test_an_hour_without_a_payment_is_missing_for_good_once_a_later_one_came() -> None:
    """Rule H2."""
    tracker = FundingTracker(T0, POLICY)
    tracker.take([], T0 + HOUR_MS + 3_000)
    assert tracker.take([row(2)], T0 + 2 * HOUR_MS + 3_000) == [row(2)]
    assert tracker.complete_through_ms == T0 + 2 * HOUR_MS


@given(st.lists(st.lists(st.integers(1, 20), max_size=6), max_size=10))
def test_each_payment_is_returned_once_and_in_order(answers: list[list[int]]) -> None:
    tracker = FundingTracker(T0, POLICY)
    taken = [fresh for hours in answers for fresh in tracker.take([row(hour) for hour in sorted(set(hours))], T0)]
    times = [fresh.time_ms for fresh in taken]
    assert times == sorted(set(times))


def test_a_minute_has_so_many_requests_and_the_next_one_has_new_ones() -> None:
    """Rule H4."""
    budget = RequestBudget(2)
    assert [budget.spend(at_ms) for at_ms in (0, 1_000, 2_000, 59_999)] == [True, True, False, False]
    assert [budget.spend(at_ms) for at_ms in (60_000, 60_500, 61_000)] == [True, False, True]
