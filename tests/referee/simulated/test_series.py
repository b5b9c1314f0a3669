"""The states that a simulated candle passes through, for any candle."""

import itertools
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from referee.simulated.sample import RecordedCandle
from referee.simulated.series import states_of
from tests.referee.simulated.rig import FIVE_MINUTES_MS, HOUR_MS, SAMPLE, ms

PRICES = st.integers(1, 10_000_000).map(lambda units: format(Decimal(units).scaleb(-4), "f"))
VOLUMES = st.integers(1, 10**9).flatmap(
    lambda units: st.integers(0, 6).map(lambda places: format(Decimal(units).scaleb(-places), "f"))
)


@st.composite
def recorded_candles(draw: st.DrawFn) -> RecordedCandle:
    """Draw a consistent candle with trades."""
    low, one, two, high = sorted(draw(st.lists(PRICES, min_size=4, max_size=4)), key=Decimal)
    opened, closed = draw(st.permutations([one, two]))
    open_time_ms = ms("2025-06-05") + draw(st.integers(0, 1_000)) * HOUR_MS
    return RecordedCandle(open_time_ms, opened, high, low, closed, draw(VOLUMES))


@given(recorded_candles(), st.integers(0, 2**32 - 1), st.sampled_from([FIVE_MINUTES_MS, HOUR_MS]))
def test_a_candle_starts_at_its_open_reaches_both_extremes_and_ends_as_recorded(
    candle: RecordedCandle, salt: int, interval_ms: int
) -> None:
    """Rules W1 and W2."""
    states = states_of(candle, salt, interval_ms)
    assert states == states_of(candle, salt, interval_ms)
    first, last = states[0], states[-1]
    assert first.open == first.high == first.low == first.close == candle.open
    assert (last.open, last.high, last.low, last.close, last.volume) == (
        candle.open,
        candle.high,
        candle.low,
        candle.close,
        candle.volume,
    )
    assert {candle.high, candle.low} <= {state.close for state in states} | {candle.open}
    for one, two in itertools.pairwise(states):
        assert one.at_ms < two.at_ms
        assert 0 < Decimal(one.volume) <= Decimal(two.volume)
        assert 0 < one.trades <= two.trades
        assert Decimal(one.high) <= Decimal(two.high)
        assert Decimal(one.low) >= Decimal(two.low)
    for state in states:
        assert candle.open_time_ms <= state.at_ms < candle.open_time_ms + interval_ms
        assert Decimal(state.low) <= Decimal(state.close) <= Decimal(state.high)


def test_an_empty_candle_has_no_states() -> None:
    """Rule H5."""
    empty = next(row for row in SAMPLE.candles["hyperliquid", "BTC", "5m"] if row.empty)
    assert states_of(empty, 7, FIVE_MINUTES_MS) == ()
