"""What scoring open records reads from the venue: candles, funding and names, asked directly and kept (Rule A18)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

import structlog

from agents.arena_rows import GRACE_S, SeriesRows, Shown, Span
from rules.arena.loading import Load
from rules.arena.numbers import DAY_S, HOUR_S
from rules.arena.types import Candle, CoinRows, Funding, Interval
from rules.market import HOUR_MS
from streams.venues.base import FundingRow, PermanentVenueError, RetriableVenueError, VenueCandle
from streams.venues.hyperliquid import HyperliquidHttp

CANDLES_A_CHUNK: Final = 1_000
FUNDING_CHUNK_S: Final = 20 * DAY_S
FINE_KEPT_S: Final = 20 * DAY_S
"""5-minute rows kept: the 18 days that a load reaches back (Rule A2), and what a partition may lag behind another."""

FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 30.0

log = structlog.get_logger()
Given = TypeVar("Given")


class ArenaMarket:
    """The venue's rows and names as of moments in event time, shared by all records of a worker.

    A moment E may be asked for from 120 s after it on; what is returned does not depend on how much later. While the
    venue cannot answer or refuses, every call waits and asks again, up to 30 s apart: scoring stands still until then,
    and nothing beside it does.
    """

    def __init__(self, venue: HyperliquidHttp, *, first_pause_s: float = FIRST_PAUSE_S) -> None:
        """Ask `venue`; the pauses between tries double from `first_pause_s` on."""
        self._venue = venue
        self._first_pause_s = first_pause_s
        self._candles: dict[tuple[str, Interval], SeriesRows[Candle]] = {}
        self._funding: dict[str, SeriesRows[Funding]] = {}
        self._listed: tuple[str, ...] = ()
        self._listed_hour: int | None = None

    async def listed(self, as_of_s: int) -> tuple[str, ...]:
        """Return the venue's perps in its order, delisted ones included; asked for once in an hour of event time."""
        hour = as_of_s // HOUR_S
        if self._listed_hour is None or hour > self._listed_hour:
            self._listed = (await self._answer(self._venue.meta)).rows
            self._listed_hour = hour
        return self._listed

    async def rows(self, loads: Iterable[Load], as_of_s: int) -> Mapping[str, CoinRows]:
        """Return the rows of the loads as of a moment, possibly with more around them.

        A coin that the venue does not list has no rows, and is not asked for: the venue answers that as a failure.
        """
        listed = frozenset(self._listed)
        wanted = [load for load in loads if load.coin in listed]
        windows: dict[str, tuple[int, int]] = {}
        async with asyncio.TaskGroup() as tasks:
            for load in wanted:
                candles = self._candle_series(load.coin, load.interval)
                spans = candles.missing(load.from_s, load.to_s, as_of_s)
                if spans:
                    tasks.create_task(self._fill_candles(candles, load.coin, load.interval, spans, as_of_s))
                from_s, to_s = windows.get(load.coin, (load.funding_from_s, load.to_s))
                windows[load.coin] = min(from_s, load.funding_from_s), max(to_s, load.to_s)
            for coin, (from_s, to_s) in windows.items():
                funding = self._funding.setdefault(coin, SeriesRows(HOUR_S, FUNDING_CHUNK_S))
                spans = funding.missing(from_s, to_s, as_of_s)
                if spans:
                    tasks.create_task(self._fill_funding(funding, coin, spans, as_of_s))
        return {coin: self._coin_rows(coin, as_of_s) for coin in windows}

    def _candle_series(self, coin: str, interval: Interval) -> SeriesRows[Candle]:
        key = (coin, interval)
        known = self._candles.get(key)
        if known is None:
            known = self._candles[key] = SeriesRows(interval.step_s, CANDLES_A_CHUNK * interval.step_s)
        return known

    def _coin_rows(self, coin: str, as_of_s: int) -> CoinRows:
        hourly = self._candles.get((coin, Interval.HOURLY))
        fine = self._candles.get((coin, Interval.FINE))
        return CoinRows(
            hourly=hourly.view(as_of_s) if hourly else (),
            fine=fine.view(as_of_s) if fine else (),
            funding=self._funding[coin].view(as_of_s),
        )

    async def _fill_candles(
        self, series: SeriesRows[Candle], coin: str, interval: Interval, spans: Sequence[Span], as_of_s: int
    ) -> None:
        for span in spans:
            start_ms, end_ms = span.from_s * 1_000, (span.to_s + 1) * 1_000 - 1
            answer = await self._answer(self._venue.candles, coin, interval.value, start_ms, end_ms)
            series.take(span, (candle_shown(row, interval.step_s) for row in answer.rows), as_of_s)
        if interval is Interval.FINE:
            series.forget_before(as_of_s - FINE_KEPT_S)

    async def _fill_funding(self, series: SeriesRows[Funding], coin: str, spans: Sequence[Span], as_of_s: int) -> None:
        for span in spans:
            start_ms, end_ms = span.from_s * 1_000, (span.to_s + 1) * 1_000 - 1
            answer = await self._answer(self._venue.funding_history, coin, start_ms, end_ms)
            series.take(span, (funding_shown(row) for row in answer.rows), as_of_s)

    async def _answer(self, ask: Callable[..., Awaitable[Given]], *arguments: str | int) -> Given:
        pause_s = self._first_pause_s
        while True:
            try:
                return await ask(*arguments)
            except RetriableVenueError as error:
                log.warning("arena_venue_silent", error=str(error), pause_s=pause_s)
            except PermanentVenueError as error:
                log.error("arena_venue_refused", error=str(error), pause_s=pause_s)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


def candle_shown(candle: VenueCandle, step_s: int) -> Shown[Candle]:
    """Return a candle as the rules take it; one without trades is not shown before it closed (H5)."""
    time_s = round(candle.open_time_ms / 1_000)
    row = Candle(time_s, candle.open, candle.high, candle.low, candle.close)
    return Shown(row, (time_s if candle.trades else time_s + step_s) * 1_000)


def funding_shown(payment: FundingRow) -> Shown[Funding]:
    """Return a payment at its nearest hour (Rule A18); one stamped after the grace counts from its stamp on (H2)."""
    row = Funding(round(payment.time_ms / HOUR_MS) * HOUR_S, payment.rate)
    return Shown(row, payment.time_ms - GRACE_S * 1_000)
