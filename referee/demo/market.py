"""What the sample agents know: the venue's closed candles, asked for over its public HTTP like anybody would."""

import itertools
import math

from rules.market import FIVE_MINUTES_MS, HOUR_MS
from streams.venues.base import VenueCandle
from streams.venues.hyperliquid import HyperliquidHttp

LOOK_BACK_MS = 12 * HOUR_MS
MINUTES_5_AN_HOUR = 12


class View:
    """A coin as an agent sees it: the last close, the last three hours' move, a rough σ per √hour."""

    def __init__(self, candles: list[VenueCandle]) -> None:
        self.price = candles[-1].close
        self.move = self.price / candles[max(0, len(candles) - 1 - 3 * MINUTES_5_AN_HOUR)].close - 1
        returns = [math.log(b.close / a.close) for a, b in itertools.pairwise(candles)]
        variance = sum(value * value for value in returns) / max(1, len(returns))
        self.sigma = max(math.sqrt(variance * MINUTES_5_AN_HOUR), 1e-4)


class MarketViews:
    """The views of one moment, each asked for once and shared by the agents that act in the same step."""

    def __init__(self, http: HyperliquidHttp) -> None:
        self._http = http
        self._at_ms = -1
        self._views: dict[str, View] = {}

    async def of(self, coin: str, at_ms: int) -> View:
        """Return the view of a coin from candles that closed at or before `at_ms`."""
        if at_ms != self._at_ms:
            self._at_ms = at_ms
            self._views.clear()
        if coin not in self._views:
            answer = await self._http.candles(coin, "5m", at_ms - LOOK_BACK_MS, at_ms - 1)
            closed = [row for row in answer.rows if row.open_time_ms + FIVE_MINUTES_MS <= at_ms and row.volume > 0]
            self._views[coin] = View(closed)
        return self._views[coin]
