"""Volatility and baselines: keeps every coin's σ and answers each post with what the market said when it was posted.

A post waits until its coin's candles that closed at or before `posted_at` are known to be complete and the settleable
list in force is known: a join in event time, whatever arrived first (Rules F2, F4, F6).
"""

import math
from functools import partial
from typing import Annotated

import orjson
import structlog
from aiokafka.structs import ConsumerRecord
from pydantic import Field, TypeAdapter

from agents.market_view import CoinView
from rules.floor.baseline import Calibration, baseline
from rules.floor.call import Call, check_call
from rules.floor.refusal import Refusal
from rules.floor.sources import SettleableList, is_settleable_volume
from rules.floor.terms import Close, Range, Touch
from rules.market import HOUR_MS, MINUTE_MS
from streams.delivery.outbox import Outbox
from streams.delivery.pending import Pending
from streams.delivery.reducer import AgentSpec, PoisonError, Reducer
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from topics.floor import Post, Quote
from topics.floor import Refusal as RefusalMessage
from topics.keys import coin_key
from topics.market import Candle, Complete, Listings, Volatility
from topics.registry import CANDLES, LISTINGS, POSTS, QUOTES, VOLATILITY

LISTINGS_PREFIX = "listings/"
CALIBRATION = Calibration()
SETTLED_KINDS = ("touch", "close", "range")
ABSENT_AFTER_MS = 65 * MINUTE_MS
"""How far the candles' watermark passes a post before a coin that has not been completed counts as no longer followed.

Longer than an hourly candle and its grace: the feed's watermark stays within one interval of every series that it
follows, so a followed coin is always complete, in both intervals, before this.
"""
EARLIEST_REFUSALS = ("source_not_settleable", "terms_invalid")

log = structlog.get_logger()
_candle_topic: TypeAdapter[Candle | Complete] = TypeAdapter(Annotated[Candle | Complete, Field(discriminator="type")])


class VolatilityReducer(Reducer):
    """The pinned venue's coins and settleable lists, and the waiting posts, of one partition."""

    def __init__(self, state: PartitionState, venue: str) -> None:
        super().__init__(state)
        self._venue = venue
        self._coins: dict[str, CoinView] = {}
        for key in dict.fromkeys(key.partition("/")[0] for key, _ in state.items("candles/")):
            self._coins[key] = CoinView(state, key)
        self._lists: dict[int, SettleableList] = {
            int(key): SettleableList.of(orjson.loads(raw)) for key, raw in state.items(LISTINGS_PREFIX)
        }
        self._posts = Pending(state, "posts/", Post, lambda post: (post.posted_at, *_position(post)))

    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Take in a post, a settleable list, a candle or a statement of completeness."""
        if record.topic.endswith(POSTS.name):
            self._posts.add(Post.decode(record.value))
        elif record.topic.endswith(LISTINGS.name):
            self._list(Listings.decode(record.value))
        else:
            message = _candle_topic.validate_json(record.value)
            if message.venue != self._venue:
                return
            if isinstance(message, Complete):
                self._coin(message.coin).complete(message)
            elif message.closed:
                self._candle(message, out)

    async def advance(self, watermarks: WatermarkTracker, out: Outbox) -> int | None:
        """Answer the posts whose market is known; promise up to the first that still waits."""
        listings_ms = watermarks.current(LISTINGS.name)
        candles_ms = watermarks.current(CANDLES.name)
        answered = [post for post in self._posts if self._is_known(post, listings_ms, candles_ms)]
        for post in answered:
            self._posts.remove(post)
            out.emit(QUOTES, post.agent, self._answer(post), post.posted_at)
        watermark = watermarks.current()
        if watermark is None:
            return None
        first = self._posts.first_time()
        promise = watermark if first is None else min(watermark, first)
        self._forget_before(promise)
        return promise

    def _is_known(self, post: Post, listings_ms: int | None, candles_ms: int | None) -> bool:
        if listings_ms is None or candles_ms is None or min(listings_ms, candles_ms) <= post.posted_at:
            return False
        # A coin of which the feed has said nothing by now is not followed at all, and there is nothing to wait for.
        view = self._coins.get(coin_key(post.coin))
        if view is None or not view.through or view.knows(post.posted_at):
            return True
        # One that it followed once is never completed further; its posts are answered from what is known of it.
        return candles_ms > post.posted_at + ABSENT_AFTER_MS

    def _answer(self, post: Post) -> Quote:
        # Terms are numbers of a stranger's choice: one post that cannot be computed must not stop those behind it.
        try:
            return self._quote(post)
        except (ValueError, ArithmeticError) as error:
            log.error("quote_not_computed", post=post.id, terms=post.fields.terms, error=str(error))
            return _refused(post, Refusal("terms_invalid", "the baseline of these terms cannot be computed"))

    def _quote(self, post: Post) -> Quote:
        fields = post.fields
        call = Call(
            post.agent, fields.claim, fields.source, fields.terms, fields.deadline, fields.p, fields.invalidation
        )
        settleable = self._list_at(post.posted_at)
        view = self._coins.get(coin_key(post.coin))
        source = settleable.find(fields.source)
        s = view.price_at(post.posted_at) if view is not None and source is not None and source.is_price else None
        checked = check_call(call, post.posted_at, settleable, s)
        kind = fields.terms.get("kind")
        if isinstance(checked, Refusal) and (kind in SETTLED_KINDS or checked.code in EARLIEST_REFUSALS):
            return _refused(post, checked)
        if isinstance(checked, Refusal) or not isinstance(checked.terms, Touch | Close | Range):
            detail = f"terms.kind is {kind}; this version settles {', '.join(SETTLED_KINDS)}"
            return _refused(post, Refusal("terms_invalid", detail))
        sigma = None if view is None else view.sigma_at(post.posted_at)
        sealed = fields.model_copy(update={"source": checked.source.text, "terms": checked.terms.as_json()})
        post = post.model_copy(update={"fields": sealed, "coin": checked.source.symbol})
        if s is None or sigma is None:
            missing = "no print in the ten minutes" if s is None else "fewer than 168 hourly returns"
            return _refused(post, Refusal("no_baseline", f"{checked.source.text} has {missing} before the post"))
        return Quote(
            post=post,
            refusal=None,
            s=s,
            sigma=sigma,
            b=baseline(checked.terms, s, sigma, post.posted_at, fields.deadline, CALIBRATION),
            baseline_version=CALIBRATION.version,
            side=checked.side,
        )

    def _candle(self, candle: Candle, out: Outbox) -> None:
        if candle.volume > 0 and not (0 < candle.close < math.inf):
            raise PoisonError("bad_price", f"close of {candle.coin} is {candle.close!r}; it must be above 0 and finite")
        view = self._coin(candle.coin)
        if view.add(candle) and candle.interval == "1h":
            # A correction of an earlier hour changes what is known now; the past hours stand as they were published.
            closed_ms = view.candles["1h"][-1].open_time_ms + HOUR_MS
            rolling = view.rolling
            volatility = Volatility(
                venue=candle.venue,
                coin=candle.coin,
                at=closed_ms,
                sigma=rolling.sigma(),
                returns=len(rolling.squares),
            )
            out.emit(VOLATILITY, coin_key(candle.coin), volatility, closed_ms)

    def _coin(self, coin: str) -> CoinView:
        key = coin_key(coin)
        if key not in self._coins:
            self._coins[key] = CoinView(self.state, coin)
        return self._coins[key]

    def _list(self, listings: Listings) -> None:
        if listings.venue != self._venue:
            return
        texts = [
            f"{listings.venue}:{coin.coin}:price"
            for coin in listings.coins
            if not coin.delisted and is_settleable_volume(coin.day_notional_usd)
        ]
        self._lists[listings.at] = SettleableList.of(texts)
        self.state.put(f"{LISTINGS_PREFIX}{listings.at:015d}", orjson.dumps(texts))

    def _list_at(self, time_ms: int) -> SettleableList:
        in_force = max((at for at in self._lists if at <= time_ms), default=None)
        return SettleableList.of(()) if in_force is None else self._lists[in_force]

    def _forget_before(self, time_ms: int) -> None:
        for view in self._coins.values():
            view.forget_before(time_ms)
        in_force = max((at for at in self._lists if at <= time_ms), default=0)
        for at in [at for at in self._lists if at < in_force - HOUR_MS]:
            del self._lists[at]
            self.state.delete(f"{LISTINGS_PREFIX}{at:015d}")


def _position(post: Post) -> tuple[int, int]:
    return post.position.partition, post.position.offset


def _refused(post: Post, refusal: Refusal) -> Quote:
    return Quote(
        post=post,
        refusal=RefusalMessage(code=refusal.code, detail=refusal.detail),
        s=None,
        sigma=None,
        b=None,
        baseline_version=CALIBRATION.version,
        side=None,
    )


def spec(venue: str = "hyperliquid") -> AgentSpec:
    """Return the agent: candles and listings of the pinned venue and posts in, quotes and volatilities out."""
    inputs = (CANDLES, LISTINGS, POSTS)
    return AgentSpec("volatility", inputs, (QUOTES, VOLATILITY), partial(VolatilityReducer, venue=venue))
