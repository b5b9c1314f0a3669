"""What a settlement asks the venues, directly and never through a cache, with every raw answer kept (Rule F8)."""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import structlog

from rules.floor.constants import REFERENCE_SYMBOLS
from rules.floor.settle import VenueReading
from rules.market import FIVE_MINUTES_MS, Candle
from streams.venues.base import Answer, PermanentVenueError, RetriableVenueError, VenueCandle
from streams.venues.bybit import BybitHttp, bybit_symbol
from streams.venues.hyperliquid import HyperliquidHttp
from topics.floor import Call, Evidence, Fetched

TRIES = 3
FIRST_PAUSE_S = 0.2
CANDLES_A_REQUEST = 4_000
SECOND_VENUE_REACH_MS = 4 * FIVE_MINUTES_MS

log = structlog.get_logger()
Row = TypeVar("Row")


@dataclass(slots=True)
class Reading:
    """One attempt's reading of a call's venues and what it rests on; None where a venue did not answer."""

    candles: dict[str, tuple[Candle, ...]] | None = None
    second: tuple[Candle, ...] | None = None
    delisted_at_ms: dict[str, int | None] = field(default_factory=dict)
    fetched: list[Fetched] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)

    def for_rules(self) -> VenueReading:
        """Return the reading as the rulebook takes it."""
        return VenueReading(candles=self.candles, second=self.second, delisted_at_ms=self.delisted_at_ms)

    def keep(self, venue: str, answer: Answer[Row], at_ms: int) -> None:
        """Keep an answer's raw bytes and name it among what was fetched."""
        self.fetched.append(
            Fetched(venue=venue, request=answer.request, status=answer.status, sha256=answer.sha256, at=at_ms)
        )
        self.evidence.append(
            Evidence(
                sha256=answer.sha256,
                venue=venue,
                request=answer.request,
                status=answer.status,
                body=base64.b64encode(answer.raw).decode(),
                at=at_ms,
            )
        )


class Venues:
    """The pinned venue and the second one, as a settlement asks them."""

    def __init__(self, pinned: HyperliquidHttp, second: BybitHttp | None) -> None:
        self._pinned = pinned
        self._second = second

    async def listed(self) -> Answer[str] | None:
        """Return the coins that the venue lists now, or None when it does not answer."""
        return await _answer_of(self._pinned.listed)

    async def read(self, call: Call, at_ms: int) -> Reading:
        """Read both venues for a call at an attempt's time, references included where its own prints have a hole."""
        reading = Reading()
        own, second = await asyncio.gather(
            self._window(call.coin, call.posted_at, call.fields.deadline),
            self._second_window(call.coin, call.fields.deadline),
        )
        if second is not None:
            reading.keep("bybit", second, at_ms)
            reading.second = _candles(second.rows)
        if own is not None:
            for answer in own:
                reading.keep("hyperliquid", answer, at_ms)
            reading.candles = {call.coin: _candles(row for answer in own for row in answer.rows)}
        return reading

    async def add_references(self, call: Call, at_ms: int, reading: Reading) -> None:
        """Read BTC, ETH and SOL too: they tell a halt of the venue from a gap of one coin (Rule F8)."""
        others = [symbol for symbol in REFERENCE_SYMBOLS if symbol != call.coin]
        windows = await asyncio.gather(
            *(self._window(symbol, call.posted_at, call.fields.deadline) for symbol in others)
        )
        for symbol, answers in zip(others, windows, strict=True):
            if answers is not None and reading.candles is not None:
                for answer in answers:
                    reading.keep("hyperliquid", answer, at_ms)
                reading.candles[symbol] = _candles(row for answer in answers for row in answer.rows)

    async def _window(self, coin: str, start_ms: int, end_ms: int) -> list[Answer[VenueCandle]] | None:
        answers: list[Answer[VenueCandle]] = []
        step_ms = CANDLES_A_REQUEST * FIVE_MINUTES_MS
        for chunk_ms in range(start_ms, end_ms, step_ms):
            last_ms = min(chunk_ms + step_ms, end_ms) - 1
            answer = await _answer_of(lambda a=chunk_ms, b=last_ms: self._pinned.candles(coin, "5m", a, b))  # type: ignore[misc]
            if answer is None:
                return None
            answers.append(answer)
        return answers

    async def _second_window(self, coin: str, deadline_ms: int) -> Answer[VenueCandle] | None:
        second = self._second
        if second is None:
            return None
        start_ms = deadline_ms - SECOND_VENUE_REACH_MS
        return await _answer_of(lambda: second.candles(bybit_symbol(coin), "5m", start_ms, deadline_ms - 1))


async def _answer_of(ask: Callable[[], Awaitable[Answer[Row]]]) -> Answer[Row] | None:
    """Ask a few times; None means that the venue does not answer now, and the next attempt asks again."""
    pause_s = FIRST_PAUSE_S
    for left in reversed(range(TRIES)):
        try:
            return await ask()
        except PermanentVenueError as error:
            log.warning("venue_refused", error=str(error))
            return None
        except RetriableVenueError as error:
            log.warning("venue_silent", error=str(error), tries_left=left)
            if left:
                await asyncio.sleep(pause_s)
                pause_s *= 2
    return None


def _candles(rows: Iterable[VenueCandle] | Sequence[VenueCandle]) -> tuple[Candle, ...]:
    by_time = {
        row.open_time_ms: Candle(row.open_time_ms, row.open, row.high, row.low, row.close, row.volume) for row in rows
    }
    return tuple(by_time[time_ms] for time_ms in sorted(by_time))
