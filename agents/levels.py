"""Finds which open touch levels a closed candle reaches (Rule F4); the settlement still decides."""

import math
from bisect import bisect_left
from itertools import islice
from typing import Annotated

from aiokafka.structs import ConsumerRecord
from pydantic import Field, TypeAdapter
from sortedcontainers import SortedList

from streams.delivery.outbox import Outbox
from streams.delivery.reducer import AgentSpec, PoisonError, Reducer
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from topics.floor import OpenLevel, Touch
from topics.keys import coin_key
from topics.market import Candle, Complete
from topics.registry import CANDLES, LEVELS, TOUCHES

INTERVAL = "5m"
OPEN = "open/"
TOUCHED = "touched/"
PRINTS = "print/"
NEWEST = "newest/"

_BEYOND_ANY_CALL = "\U0010ffff"
_MARKET: TypeAdapter[Candle | Complete] = TypeAdapter(Annotated[Candle | Complete, Field(discriminator="type")])


def is_inside(level: OpenLevel, candle: Candle) -> bool:
    """Tell whether a candle lies wholly inside the level's window. Rule F4."""
    return level.posted_at <= candle.open_time and candle.close_time <= level.deadline


def is_reached(level: OpenLevel, candle: Candle) -> bool:
    """Tell whether a candle's high or low is at the level or beyond it. Rule F4."""
    return candle.high >= level.level if level.side == "up" else candle.low <= level.level


class CoinLevels:
    """One coin's open levels in the order in which prices reach them, and its prints that a late level may need.

    What the next candle may touch is in two lists sorted by level. A level waits outside of them until a candle opens
    at or after `posted_at`, and leaves them when a candle closes behind its deadline; both come in order of time, so a
    candle costs O(log n) for each level that it lets in, lets out or touches, and nothing for the others.
    """

    def __init__(self) -> None:
        self.newest_open_time = -1
        self.prints: list[Candle] = []
        self._levels: dict[str, OpenLevel] = {}
        self._up: SortedList[tuple[float, str]] = SortedList()
        self._down: SortedList[tuple[float, str]] = SortedList()
        self._deadlines: SortedList[tuple[int, str]] = SortedList()
        self._waiting: SortedList[tuple[int, str]] = SortedList()

    def first_print_reaching(self, level: OpenLevel) -> Candle | None:
        """Return the earliest kept print inside the window that reaches the level."""
        first = bisect_left(self.prints, level.posted_at, key=lambda one: one.open_time)
        later = islice(self.prints, first, None)
        return next((one for one in later if is_inside(level, one) and is_reached(level, one)), None)

    def add(self, level: OpenLevel) -> None:
        """Take in a level that no candle up to now has reached."""
        self._levels[level.call] = level
        if level.posted_at > self.newest_open_time:
            self._waiting.add((level.posted_at, level.call))
        else:
            self._watch(level)

    def take_reached(self, candle: Candle) -> list[OpenLevel]:
        """Remove and return, lowest level first, what a candle newer than all before it touches. Rule F4."""
        self.newest_open_time = candle.open_time
        while self._waiting and self._waiting[0][0] <= candle.open_time:
            self._watch(self._levels[self._waiting.pop(0)[1]])
        while self._deadlines and self._deadlines[0][0] < candle.close_time:
            self._unwatch(self._levels[self._deadlines[0][1]])
        reached = [
            *self._down.irange(minimum=(candle.low, "")),
            *self._up.irange(maximum=(candle.high, _BEYOND_ANY_CALL)),
        ]
        levels = [self._levels[call] for _, call in sorted(reached)]
        for level in levels:
            self.remove(level)
        return levels

    def remove(self, level: OpenLevel) -> None:
        """Forget a level."""
        del self._levels[level.call]
        self._waiting.discard((level.posted_at, level.call))
        self._unwatch(level)

    def _watch(self, level: OpenLevel) -> None:
        self._side(level).add((level.level, level.call))
        self._deadlines.add((level.deadline, level.call))

    def _unwatch(self, level: OpenLevel) -> None:
        self._side(level).discard((level.level, level.call))
        self._deadlines.discard((level.deadline, level.call))

    def _side(self, level: OpenLevel) -> "SortedList[tuple[float, str]]":
        return self._up if level.side == "up" else self._down


class LevelsReducer(Reducer):
    """The open levels of one partition's coins against the candles of the pinned venue.

    A level is touched by the first candle in its window that reaches it, whichever of the two arrives first: prints are
    kept until the levels' watermark has passed their opening, since a level that is posted later cannot count them. No
    fixed time would do: how far sealing lags behind the candles is not ours to bound. A call is remembered until both
    watermarks have passed its deadline, so that a repeat of it is not touched again by another candle.

    The feed closes a coin's candles once each and in order; one that is not newer than the newest is the repetition
    after a restart and changes nothing. Candles without volume are fillers and are ignored everywhere (Rule F4).
    """

    def __init__(self, state: PartitionState, venue: str) -> None:
        super().__init__(state)
        self._venue = venue
        self._open: dict[str, OpenLevel] = {}
        self._coins: dict[str, CoinLevels] = {}
        self._remembered: SortedList[tuple[int, str]] = SortedList()
        for key, raw in state.items(NEWEST):
            self._coin(key).newest_open_time = int(raw)
        for _, raw in state.items(PRINTS):
            candle = Candle.decode(raw)
            self._coin(coin_key(candle.coin)).prints.append(candle)
        for _, raw in state.items(OPEN):
            self._hold(OpenLevel.decode(raw))
        self._remembered.update((int(raw), call) for call, raw in state.items(TOUCHED))

    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Take in a level or a candle, and emit what it touches."""
        if record.topic.endswith(LEVELS.name):
            self._open_level(OpenLevel.decode(record.value), out)
            return
        message = _MARKET.validate_json(record.value)
        if isinstance(message, Candle) and message.closed and message.interval == INTERVAL:
            self._close_candle(message, out)

    async def advance(self, watermarks: WatermarkTracker, out: Outbox) -> int | None:
        """Let go of prints and calls that no level or candle to come can need."""
        kept_from = watermarks.current(LEVELS.name)
        if kept_from is not None:
            for key, coin in self._coins.items():
                while coin.prints and coin.prints[0].open_time < kept_from:
                    self.state.delete(print_key(key, coin.prints.pop(0)))
        watermark = watermarks.current()
        while watermark is not None and self._remembered and self._remembered[0][0] < watermark:
            call = self._remembered.pop(0)[1]
            self.state.delete(TOUCHED + call)
            self.state.delete(OPEN + call)
            level = self._open.pop(call, None)
            if level is not None:
                self._coin(coin_key(level.coin)).remove(level)
        return watermark

    def _open_level(self, level: OpenLevel, out: Outbox) -> None:
        require_finite("level", level.level)
        if level.call in self._open or self.state.get(TOUCHED + level.call) is not None:
            return
        candle = self._coin(coin_key(level.coin)).first_print_reaching(level)
        if candle is None:
            self._hold(level)
            self.state.put(OPEN + level.call, level.encode())
        else:
            self._remembered.add((level.deadline, level.call))
            self._touch(level, candle, out)

    def _close_candle(self, candle: Candle, out: Outbox) -> None:
        require_finite("high", candle.high)
        require_finite("low", candle.low)
        key = coin_key(candle.coin)
        coin = self._coin(key)
        if candle.venue != self._venue or not candle.volume > 0 or candle.open_time <= coin.newest_open_time:
            return
        for level in coin.take_reached(candle):
            del self._open[level.call]
            self.state.delete(OPEN + level.call)
            self._touch(level, candle, out)
        coin.prints.append(candle)
        self.state.put(print_key(key, candle), candle.encode())
        self.state.put(NEWEST + key, str(candle.open_time).encode())

    def _touch(self, level: OpenLevel, candle: Candle, out: Outbox) -> None:
        self.state.put(TOUCHED + level.call, str(level.deadline).encode())
        touch = Touch(
            call=level.call,
            coin=level.coin,
            level=level.level,
            side=level.side,
            candle_open_time=candle.open_time,
            reached=candle.high if level.side == "up" else candle.low,
            at=candle.close_time,
        )
        out.emit(TOUCHES, coin_key(level.coin), touch, touch.at)

    def _hold(self, level: OpenLevel) -> None:
        self._open[level.call] = level
        self._remembered.add((level.deadline, level.call))
        self._coin(coin_key(level.coin)).add(level)

    def _coin(self, key: str) -> CoinLevels:
        coin = self._coins.get(key)
        if coin is None:
            coin = self._coins[key] = CoinLevels()
        return coin


def print_key(coin: str, candle: Candle) -> str:
    """Return the state key of a print; keys of one coin sort by time."""
    return f"{PRINTS}{coin}/{candle.open_time:014d}"


def require_finite(field: str, value: float) -> None:
    """Raise PoisonError for a number that has no place in a sorted list."""
    if not math.isfinite(value):
        raise PoisonError("not_finite", f"{field} is {value!r}; it must be a finite number")


def spec(venue: str = "hyperliquid") -> AgentSpec:
    """Return the agent that joins `floor.levels` with the candles of `venue`, the one that calls are pinned to."""
    return AgentSpec(
        name="levels",
        inputs=(LEVELS, CANDLES),
        outputs=(TOUCHES,),
        reducer=lambda state: LevelsReducer(state, venue),
    )
