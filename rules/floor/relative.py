"""The baseline of relative calls: one half, unless the pair's own frequency says otherwise (Rule F6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rules.floor.baseline import sealed_baseline
from rules.floor.constants import BASE_RATE_LOOKBACK_MS, BASE_RATE_WINDOWS_MIN
from rules.market import HOUR_MS, Candle


def relative_baseline(
    own_1h: Sequence[Candle], versus_1h: Sequence[Candle], posted_at_ms: int, deadline_ms: int
) -> float:
    """Return b of a relative call as it is sealed, from both symbols' hourly candles. Rule F6."""
    hours = -(-(deadline_ms - posted_at_ms) // HOUR_MS)
    first_ms = -(-(posted_at_ms - BASE_RATE_LOOKBACK_MS) // HOUR_MS) * HOUR_MS
    slots = (posted_at_ms - first_ms) // HOUR_MS + 1
    own = _closes(own_1h, first_ms, slots)
    versus = _closes(versus_1h, first_ms, slots)
    own_ratios = own[hours:] / own[:-hours]
    versus_ratios = versus[hours:] / versus[:-hours]
    both = ~(np.isnan(own_ratios) | np.isnan(versus_ratios))
    windows = int(np.count_nonzero(both))
    wins = int(np.count_nonzero(own_ratios[both] > versus_ratios[both]))
    if windows >= BASE_RATE_WINDOWS_MIN and 10 * abs(2 * wins - windows) > windows:
        return sealed_baseline(wins / windows)
    return sealed_baseline(0.5)


def _closes(candles_1h: Sequence[Candle], first_ms: int, slots: int) -> NDArray[np.float64]:
    # One slot a whole hour, NaN where no candle with volume closes
    closes = np.full(slots, np.nan)
    for candle in candles_1h:
        slot, rest = divmod(candle.open_time_ms + HOUR_MS - first_ms, HOUR_MS)
        if rest == 0 and 0 <= slot < slots and candle.volume > 0:
            closes[slot] = candle.close
    return closes
