"""A coin: its candles with the levels of open calls, and σ."""

import asyncio
from datetime import timedelta

from sinks.clickhouse.queries import CANDLES, COIN, COIN_LEVELS, COIN_VOLATILITY, COINS
from sinks.clickhouse.reader import Reader
from sinks.dashboard.address import Address
from sinks.dashboard.charts import candlesticks
from sinks.dashboard.content import Content, View, render
from sinks.dashboard.views.call import to_ms

VENUE = "hyperliquid"
HOURS = ("6", "24", "72")
DEFAULT_HOURS = "24"
SHOWN_LEVELS = 60


async def build(reader: Reader, subject: str, address: Address) -> Content:
    """Ask for the coin's state, candles, open levels and σ; without a coin, for the first one there is."""
    coins = [row["coin"] for row in await reader.rows(COINS)]
    coin = subject or next(iter(coins), "")
    venue = address.text("venue") or VENUE
    state = await reader.row(COIN, coin=coin, venue=venue)
    levels = await reader.rows(COIN_LEVELS, coin=coin, limit=SHOWN_LEVELS)
    hours = address.choice("hours", HOURS) or DEFAULT_HOURS
    candles: list[dict[str, object]] = []
    volatility: list[dict[str, object]] = []
    if state is not None and state["price"] is not None:
        span = {"from_ms": to_ms(state["through"] - timedelta(hours=int(hours))), "to_ms": to_ms(state["through"])}
        candles, volatility = await asyncio.gather(
            reader.rows(CANDLES, coin=coin, interval="5m", venue=venue, **span),
            reader.rows(COIN_VOLATILITY, coin=coin, venue=venue, **span),
        )
    lines = [
        {"name": f"{row['kind']}{'' if name == 'level' else ' ' + name}", "level": row[name]}
        for row in levels
        for name in ("level", "low", "high")
        if row[name] is not None
    ]
    return Content(
        title=coin or "Coins",
        filters=render("coin_filters.html", coin=coin, coins=coins, hours=hours, choices=HOURS, address=address),
        above=render("coin_head.html", coin=coin, state=state if candles else None, venue=venue),
        chart=candlesticks(candles, lines, volatility) if candles else None,
        below=render("coin.html", levels=levels, price=state["price"] if state and candles else None),
    )


COIN_VIEW = View(
    "/coin/{subject:path}", "Coins", ("candles", "volatility", "funding", "calls", "settlements"), build, True
)
