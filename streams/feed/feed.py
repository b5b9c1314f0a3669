"""The feed of one Hyperliquid: its sockets and HTTP answers become the market's events, step by step."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import structlog

from streams.clock import Clock
from streams.feed.budget import RequestBudget
from streams.feed.candles import CandleCloser, ClosingPolicy
from streams.feed.events import (
    CandleEvent,
    CompleteEvent,
    FeedEvent,
    FundingCompleteEvent,
    FundingEvent,
    ListingsEvent,
)
from streams.feed.funding import HOUR_MS, FundingPolicy, FundingTracker
from streams.feed.link import SocketLink
from streams.venues.base import INTERVAL_MS, RetriableVenueError, VenueCandle
from streams.venues.hyperliquid import HyperliquidHttp
from streams.venues.hyperliquid_socket import CandleFrame, ErrorFrame, HyperliquidSocket

DAY_MS = 24 * HOUR_MS
LIVE_STEP_MS = 1_000
ROWS_A_REQUEST = 5_000
"""The venue returns the newest 5000 candles of a window (H1): a longer window would lose its oldest."""

RETRY_MS = 5_000
"""How long a series waits before it asks again for a candle that HTTP did not have."""

log = structlog.get_logger(__name__)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class FeedSettings:
    """What the feed follows and how far back it starts, in ms."""

    coins: tuple[str, ...]
    venue: str = "hyperliquid"
    backfill_ms: Mapping[str, int] = field(default_factory=lambda: {"5m": 2 * DAY_MS, "1h": 31 * DAY_MS})
    funding_backfill_ms: int = 3 * DAY_MS
    closing: ClosingPolicy = field(default_factory=ClosingPolicy)
    funding: FundingPolicy = field(default_factory=FundingPolicy)
    requests_per_minute: int = 50


class Feed:
    """Follow coins × intervals, settled funding and listings, and publish each event once.

    `step(now)` returns when everything up to `now` has been published, so the events depend on the venue and on
    the steps only, not on how fast either runs. What a candle misses by websocket comes by HTTP: one that is over
    by the grace is asked for, so a lost socket, a silent coin (W6) and start-up all take the same path (W7).
    Silence is not yet taken as a reason to reconnect: a watchdog belongs between `SocketLink` and `confirm`, whose
    rows show trades that no frame brought.
    """

    def __init__(
        self,
        settings: FeedSettings,
        clock: Clock,
        http: HyperliquidHttp,
        open_socket: Callable[[frozenset[str]], HyperliquidSocket],
        publish: Callable[[FeedEvent], Awaitable[None]],
    ) -> None:
        """Prepare the feed; `open_socket` makes an unconnected socket for the venue's names, once a connection."""
        self._settings = settings
        self._clock = clock
        self._http = http
        self._publish = publish
        self._budget = RequestBudget(settings.requests_per_minute)
        self._keys = [(coin, interval) for coin in settings.coins for interval in settings.backfill_ms]
        self._rank = {key: rank for rank, key in enumerate(self._keys)}
        self._link = SocketLink(open_socket, self._keys)
        self._closers: dict[tuple[str, str], CandleCloser] = {}
        self._funding: dict[str, FundingTracker] = {}
        self._ask_at_ms: dict[tuple[str, str], int] = {}
        self._announced_ms: dict[tuple[str, str], int] = {}
        self._listed_hour_ms = -1

    async def start(self) -> None:
        """Subscribe, then publish what happened before now: the backfill, the universe, settled funding.

        Raises UnlistedCoinError for a coin that the venue does not list, RetriableVenueError when the venue does
        not answer at all.
        """
        now_ms = self._clock.now_ms()
        for coin, interval in self._keys:
            length_ms = INTERVAL_MS[interval]
            first_ms = (now_ms - self._settings.backfill_ms[interval]) // length_ms * length_ms
            self._closers[coin, interval] = CandleCloser(length_ms, first_ms, self._settings.closing)
        for coin in self._settings.coins:
            first_ms = (now_ms - self._settings.funding_backfill_ms) // HOUR_MS * HOUR_MS
            self._funding[coin] = FundingTracker(first_ms, self._settings.funding)
        self._link.names = frozenset((await self._http.meta()).rows)
        await self._link.open(now_ms)
        await self.step(now_ms)

    async def step(self, now_ms: int) -> None:
        """Publish everything up to `now_ms`: closed candles, funding and listings in event-time order, forming
        candles as they stand, then what is complete.

        Raises PermanentVenueError when the venue refuses a request as it stands.
        """
        await self._receive(now_ms)
        timed = self._closed_by_frames(now_ms)
        timed += await self._confirmed(now_ms)
        timed += await self._settled_funding(now_ms)
        timed += await self._listings(now_ms)
        for _, event in sorted(timed, key=lambda item: item[0]):
            await self._publish(event)
        for key in self._keys:
            candle = self._closers[key].forming()
            if candle is not None:
                await self._publish(self._candle_event(key, candle, closed=False))
        for complete in self._newly_complete():
            await self._publish(complete)

    async def run(self) -> None:
        """Start, then step every second of the clock, until cancelled."""
        await self.start()
        while True:
            await self._clock.sleep_until(self._clock.now_ms() // LIVE_STEP_MS * LIVE_STEP_MS + LIVE_STEP_MS)
            await self.step(self._clock.now_ms())

    async def stop(self) -> None:
        """Close the socket."""
        await self._link.close()

    async def _receive(self, now_ms: int) -> None:
        frames, unbroken = await self._link.receive(now_ms)
        for frame in frames:
            if isinstance(frame, CandleFrame):
                closer = self._closers.get((frame.coin, frame.interval))
                if closer is not None and not closer.see(frame.candle):
                    log.warning("late_frame_after_close", coin=frame.coin, interval=frame.interval)
            elif isinstance(frame, ErrorFrame):
                log.warning("venue_error_frame", text=frame.text)
        if not unbroken:
            for closer in self._closers.values():
                closer.watch(now_ms)

    def _closed_by_frames(self, now_ms: int) -> list["_Timed"]:
        return [
            self._closed(key, candle) for key in self._keys for candle in self._closers[key].close_by_frames(now_ms)
        ]

    async def _confirmed(self, now_ms: int) -> list["_Timed"]:
        waiting = [
            key
            for key in self._keys
            if self._closers[key].needs_confirmation(now_ms) and now_ms >= self._ask_at_ms.get(key, 0)
        ]
        waiting.sort(key=lambda key: self._ask_at_ms.get(key, 0))
        keys = [key for key in waiting if self._budget.spend(now_ms)]
        answers = await asyncio.gather(*(self._attempt(self._candles(key, now_ms)) for key in keys))
        timed: list[_Timed] = []
        for key, rows in zip(keys, answers, strict=True):
            closer = self._closers[key]
            if rows is not None:
                timed += [self._closed(key, candle) for candle in closer.confirm(rows, now_ms)]
            if closer.needs_confirmation(now_ms):
                self._ask_at_ms[key] = now_ms + RETRY_MS
        return timed

    async def _candles(self, key: tuple[str, str], now_ms: int) -> tuple[VenueCandle, ...]:
        coin, interval = key
        from_ms = self._closers[key].complete_through_ms
        to_ms = min(now_ms, from_ms + (ROWS_A_REQUEST - 1) * INTERVAL_MS[interval])
        return (await self._http.candles(coin, interval, from_ms, to_ms)).rows

    async def _settled_funding(self, now_ms: int) -> list["_Timed"]:
        coins = [
            coin for coin in self._settings.coins if self._funding[coin].due(now_ms) and self._budget.spend(now_ms)
        ]
        answers = await asyncio.gather(
            *(self._attempt(self._http.funding_history(coin, self._funding[coin].ask_from_ms)) for coin in coins)
        )
        timed: list[_Timed] = []
        for rank, (coin, history) in enumerate(zip(coins, answers, strict=True)):
            rows = self._funding[coin].take(history.rows if history is not None else (), now_ms)
            timed += [
                ((row.time_ms, 1, rank), FundingEvent(self._settings.venue, coin, row.time_ms, row.rate))
                for row in rows
            ]
        return timed

    async def _listings(self, now_ms: int) -> list["_Timed"]:
        hour_ms = (now_ms - self._settings.funding.delay_ms) // HOUR_MS * HOUR_MS
        if hour_ms <= self._listed_hour_ms or not self._budget.spend(now_ms):
            return []
        answer = await self._attempt(self._http.meta_and_contexts())
        if answer is None:
            return []
        self._listed_hour_ms = hour_ms
        coins = tuple((row.coin, row.day_notional_usd, row.delisted) for row in answer.rows)
        return [((now_ms, 2, 0), ListingsEvent(self._settings.venue, now_ms, coins))]

    async def _attempt(self, call: Awaitable[Result]) -> Result | None:
        """Await a venue call; None when it may succeed at a later step."""
        try:
            return await call
        except RetriableVenueError as error:
            log.warning("venue_call_failed", error=str(error))
            return None

    def _closed(self, key: tuple[str, str], candle: VenueCandle) -> "_Timed":
        close_ms = candle.open_time_ms + INTERVAL_MS[key[1]]
        return (close_ms, 0, self._rank[key]), self._candle_event(key, candle, closed=True)

    def _candle_event(self, key: tuple[str, str], candle: VenueCandle, *, closed: bool) -> CandleEvent:
        return CandleEvent(
            venue=self._settings.venue,
            coin=key[0],
            interval=key[1],
            open_time_ms=candle.open_time_ms,
            open=candle.open,
            high=candle.high,
            low=candle.low,
            close=candle.close,
            volume=candle.volume,
            trades=candle.trades,
            closed=closed,
        )

    def _newly_complete(self) -> Iterable[FeedEvent]:
        for key in self._keys:
            through_ms = self._closers[key].complete_through_ms
            if self._announced_ms.get(key) != through_ms:
                self._announced_ms[key] = through_ms
                yield CompleteEvent(self._settings.venue, *key, through_ms)
        for coin, tracker in self._funding.items():
            if self._announced_ms.get((coin, "funding")) != tracker.complete_through_ms:
                self._announced_ms[coin, "funding"] = tracker.complete_through_ms
                yield FundingCompleteEvent(self._settings.venue, coin, tracker.complete_through_ms)


_Timed = tuple[tuple[int, int, int], FeedEvent]
