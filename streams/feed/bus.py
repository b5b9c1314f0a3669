"""Puts the feed's events on the bus, and behind each step the feed's watermark."""

from streams.app import Bus
from streams.delivery.outbox import Outbox, Output
from streams.delivery.publisher import Publisher
from streams.delivery.watermarks import header
from streams.feed.events import CandleEvent, CompleteEvent, FeedEvent, FundingEvent, ListingsEvent
from topics.keys import coin_key
from topics.market import INTERVAL_MS, Candle, Complete, Funding, Listed, Listings
from topics.registry import CANDLES, FEED, FUNDING, LISTINGS


class BusFeed:
    """Gathers a step's events and delivers them with the watermark behind them."""

    def __init__(self, bus: Bus, publisher: Publisher) -> None:
        self._bus = bus
        self._publisher = publisher
        self._out = Outbox()

    async def publish(self, event: FeedEvent) -> None:
        """Take an event of the current step; nothing is sent before `flush`."""
        if isinstance(event, CandleEvent):
            self._candle(event)
        elif isinstance(event, FundingEvent):
            funding = Funding(venue=event.venue, coin=event.coin, time=event.time_ms, rate=event.rate)
            self._out.emit(FUNDING, coin_key(event.coin), funding, event.time_ms)
        elif isinstance(event, ListingsEvent):
            self._listings(event)
        elif isinstance(event, CompleteEvent):
            complete = Complete.model_validate(
                {"venue": event.venue, "coin": event.coin, "interval": event.interval, "through": event.through_ms}
            )
            self._out.emit(CANDLES, coin_key(event.coin), complete, event.through_ms)

    async def flush(self, watermark_ms: int) -> None:
        """Deliver the step's events and the watermark `watermark_ms`; raises `KafkaError`."""
        out, self._out = self._out, Outbox()
        marks = [
            Output(topic, b"", b"", watermark_ms, partition, header(FEED, watermark_ms))
            for topic in (CANDLES, LISTINGS)
            for partition in range(topic.partitions(self._bus.partitions))
        ]
        await self._publisher.send([*out.outputs, *marks])

    def _candle(self, event: CandleEvent) -> None:
        candle = Candle.model_validate(
            {
                "venue": event.venue,
                "coin": event.coin,
                "interval": event.interval,
                "open_time": event.open_time_ms,
                "open": event.open,
                "high": event.high,
                "low": event.low,
                "close": event.close,
                "volume": event.volume,
                "trades": event.trades,
                "closed": event.closed,
            }
        )
        at_ms = event.open_time_ms + (INTERVAL_MS[event.interval] if event.closed else 0)
        self._out.emit(CANDLES, coin_key(event.coin), candle, at_ms)

    def _listings(self, event: ListingsEvent) -> None:
        coins = tuple(
            Listed(coin=coin, day_notional_usd=notional, delisted=delisted) for coin, notional, delisted in event.coins
        )
        raw = Listings(venue=event.venue, at=event.at_ms, coins=coins).encode()
        self._out.outputs.extend(
            Output(LISTINGS, event.venue.encode(), raw, event.at_ms, partition)
            for partition in range(LISTINGS.partitions(self._bus.partitions))
        )
