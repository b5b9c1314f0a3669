"""When a candle is closed: by example, and for any order of frames and HTTP rows."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.feed.candles import CandleCloser, ClosingPolicy
from streams.venues.base import VenueCandle

STEP_MS = 300_000
T0 = 1_749_081_600_000
POLICY = ClosingPolicy(settle_ms=1_000, grace_ms=3_000, absence_ms=60_000)


def candle(number: int, trades: int = 10, close: float = 100.0) -> VenueCandle:
    """Return the candle that opens `number` intervals after T0, with as much volume as trades."""
    return VenueCandle(T0 + number * STEP_MS, 100.0, 110.0, 90.0, close, float(trades), trades)


def empty(number: int) -> VenueCandle:
    """Return a filler of the venue."""
    return VenueCandle(T0 + number * STEP_MS, 100.0, 100.0, 100.0, 100.0, 0.0, 0)


def closer() -> CandleCloser:
    """Return a closer that watches since long and expects candle 0."""
    return CandleCloser(STEP_MS, T0, POLICY)


def after_close(number: int, past_ms: int) -> int:
    """Return the time `past_ms` after candle `number` closed."""
    return T0 + (number + 1) * STEP_MS + past_ms


def test_a_candle_whose_time_is_over_is_not_closed_by_that_alone() -> None:
    """Rule W1."""
    one = closer()
    one.see(candle(0))
    assert one.close_by_frames(after_close(0, 3_600_000)) == []
    assert one.complete_through_ms == T0


def test_a_later_candle_closes_the_earlier_one_once() -> None:
    """Rule W1."""
    one = closer()
    one.see(candle(0))
    one.see(candle(1, trades=1))
    assert one.close_by_frames(after_close(0, 1_000)) == [candle(0)]
    assert one.close_by_frames(after_close(0, 2_000)) == []
    assert one.complete_through_ms == T0 + STEP_MS


def test_a_last_update_that_comes_late_still_counts() -> None:
    """Rule W1: 156 ms after the close, and behind the first frame of the next candle (W2)."""
    one = closer()
    one.see(candle(0, trades=10))
    one.see(candle(1, trades=1))
    assert one.close_by_frames(after_close(0, 100)) == []
    assert one.see(candle(0, trades=11, close=101.0))
    assert one.close_by_frames(after_close(0, 1_000)) == [candle(0, trades=11, close=101.0)]


def test_a_frame_never_goes_back() -> None:
    """Rule W2."""
    one = closer()
    one.see(candle(0, trades=10))
    one.see(candle(0, trades=9, close=1.0))
    assert one.forming() == candle(0, trades=10)
    one.see(candle(1))
    assert one.close_by_frames(after_close(0, 1_000)) == [candle(0, trades=10)]


def test_a_closed_candle_that_comes_again_changes_nothing() -> None:
    """Rule W2."""
    one = closer()
    one.see(candle(0, trades=10))
    one.see(candle(1))
    one.close_by_frames(after_close(0, 1_000))
    assert one.see(candle(0, trades=10))
    assert one.see(candle(0, trades=9))
    assert not one.see(candle(0, trades=11)), "trades that the closed candle lacks are reported"
    assert one.forming() == candle(1)
    assert one.close_by_frames(after_close(1, 60_000)) == []


def test_http_confirms_after_the_grace_when_no_later_candle_came() -> None:
    """Rule W1."""
    one = closer()
    one.see(candle(0))
    assert not one.needs_confirmation(after_close(0, 2_999))
    assert one.confirm([candle(0)], after_close(0, 2_999)) == []
    assert one.needs_confirmation(after_close(0, 3_000))
    assert one.confirm([candle(0, trades=12)], after_close(0, 3_000)) == [candle(0, trades=12)]
    assert one.confirm([candle(0, trades=12)], after_close(0, 3_000)) == []


def test_http_that_is_behind_the_frames_confirms_nothing_yet() -> None:
    one = closer()
    one.see(candle(0, trades=10))
    assert one.confirm([candle(0, trades=9)], after_close(0, 5_000)) == []
    assert one.confirm([], after_close(0, 5_000)) == []
    assert one.confirm([candle(0, trades=10)], after_close(0, 10_000)) == [candle(0, trades=10)]


def test_http_that_stays_behind_does_not_hold_the_series_up_for_ever() -> None:
    one, two = closer(), closer()
    one.see(candle(0, trades=10))
    two.see(candle(0, trades=10))
    assert one.confirm([candle(0, trades=9)], after_close(0, 60_000)) == [candle(0, trades=9)]
    assert two.confirm([], after_close(0, 60_000)) == [candle(0, trades=10)]


def test_an_empty_candle_is_closed_with_no_volume() -> None:
    """Rule H5."""
    one = closer()
    closed = one.confirm([empty(0), empty(1), candle(2)], after_close(1, 3_000))
    assert closed == [empty(0), empty(1)]
    assert one.complete_through_ms == T0 + 2 * STEP_MS


def test_a_missing_newest_candle_is_waited_for_and_then_known_to_be_absent() -> None:
    """Rule H5."""
    one = closer()
    assert one.confirm([], after_close(0, 59_999)) == []
    assert one.complete_through_ms == T0
    assert one.confirm([], after_close(0, 60_000)) == []
    assert one.complete_through_ms == T0 + STEP_MS


def test_a_hole_before_a_candle_is_waited_for_as_long() -> None:
    """Rule H5: the venue may still fill it in, and a filler has a price."""
    one = closer()
    assert one.confirm([candle(1, trades=1)], after_close(0, 59_999)) == []
    assert one.confirm([empty(0), candle(1, trades=1)], after_close(0, 59_999)) == [empty(0)]
    assert one.confirm([candle(2)], after_close(1, 60_000)) == []
    assert one.complete_through_ms == T0 + 2 * STEP_MS


def test_a_candle_that_the_socket_missed_is_not_jumped_over() -> None:
    one = closer()
    one.see(candle(0))
    one.see(candle(2, trades=1))
    assert one.close_by_frames(after_close(1, 10_000)) == [candle(0)]
    assert one.needs_confirmation(after_close(1, 10_000))
    assert one.confirm([candle(1), candle(2, trades=2)], after_close(1, 10_000)) == [candle(1)]


def test_a_candle_that_opened_before_the_watch_is_closed_by_http_only() -> None:
    """Rule W7: it may have moved while the socket was away."""
    one = closer()
    one.see(candle(0, trades=3))
    one.watch(T0 + 100_000)
    one.see(candle(1, trades=1))
    assert one.close_by_frames(after_close(0, 1_000)) == []
    assert one.confirm([candle(0, trades=10)], after_close(0, 3_000)) == [candle(0, trades=10)]
    one.see(candle(2, trades=1))
    assert one.close_by_frames(after_close(1, 1_000)) == [candle(1, trades=1)]


def test_a_forming_state_is_shown_once_and_only_when_it_moved() -> None:
    one = closer()
    assert one.forming() is None
    one.see(candle(0, trades=1))
    assert one.forming() == candle(0, trades=1)
    assert one.forming() is None
    one.see(candle(0, trades=1))
    assert one.forming() is None
    one.see(candle(0, trades=2))
    assert one.forming() == candle(0, trades=2)


def test_a_start_between_two_candles_is_refused() -> None:
    with pytest.raises(ValueError, match="no multiple of 300000"):
        CandleCloser(STEP_MS, T0 + 1, POLICY)


TRADES = st.lists(st.integers(0, 5), min_size=1, max_size=8)


@given(TRADES, st.data())
def test_any_order_of_frames_steps_and_losses_closes_each_candle_once_as_the_venue_had_it(
    totals: list[int], data: st.DataObject
) -> None:
    """Rules W1, W2, H5: with HTTP at hand at each step, the closed series is the venue's, whatever the socket did."""
    final = [
        empty(number) if total == 0 else candle(number, total, 100.0 + total) for number, total in enumerate(totals)
    ]
    one = closer()
    closed: list[VenueCandle] = []
    shown: list[VenueCandle] = []
    for number, total in enumerate(totals):
        states = [candle(number, count, 100.0 + count) for count in range(1, total + 1)]
        delivered = data.draw(st.booleans(), label="socket is up")
        if not delivered:
            one.watch(after_close(number, -1))
        elif states:
            repeated = data.draw(st.lists(st.sampled_from(states), max_size=3), label="old frames again")
            for state in [*states, *repeated]:
                one.see(state)
        if number > 0 and data.draw(st.booleans(), label="late frame of the one before") and totals[number - 1]:
            assert one.see(final[number - 1])
        closed += one.close_by_frames(after_close(number, 2_000))
        if data.draw(st.booleans(), label="asked by HTTP") or number == len(totals) - 1:
            now_ms = after_close(number, 5_000)
            if one.needs_confirmation(now_ms):
                from_ms = one.complete_through_ms
                closed += one.confirm([row for row in final[: number + 1] if row.open_time_ms >= from_ms], now_ms)
        forming = one.forming()
        if forming is not None:
            shown.append(forming)
    assert closed == final
    assert one.complete_through_ms == T0 + len(totals) * STEP_MS
    for earlier, later in itertools.pairwise(shown):
        assert (earlier.open_time_ms, earlier.trades) < (later.open_time_ms, later.trades)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9)), max_size=30))
def test_frames_alone_never_close_the_newest_candle_nor_go_back(frames: list[tuple[int, int]]) -> None:
    """Rules W1 and W2."""
    one = closer()
    closed: list[VenueCandle] = []
    newest = -1
    for number, trades in frames:
        one.see(candle(number, trades))
        newest = max(newest, number)
        closed += one.close_by_frames(after_close(4, 60_000))
        assert all(row.open_time_ms < T0 + newest * STEP_MS for row in closed)
    opens = [row.open_time_ms for row in closed]
    assert opens == [T0 + number * STEP_MS for number in range(len(opens))]
