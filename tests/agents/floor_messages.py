"""The Floor's messages with everything filled in, for the tests of the agents that post, seal and settle."""

from typing import Any

from topics.floor import Call, Post, Quote, Settlement
from topics.market import Candle, Complete, Listings

FIVE_MINUTES_MS = 300_000
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
T0 = 1_749_340_800_000
"""2025-06-08T00:00:00Z."""


def candle(open_time: int, close: float, interval: str = "5m", coin: str = "BTC", **changes: Any) -> Candle:
    """Return a closed candle whose four prices are one."""
    values = {
        "venue": "hyperliquid", "coin": coin, "interval": interval, "open_time": open_time, "open": close,
        "high": close, "low": close, "close": close, "volume": 1.0, "trades": 1, "closed": True,
    }  # fmt: skip
    return Candle.model_validate(values | changes)


def complete(through: int, interval: str, coin: str = "BTC", venue: str = "hyperliquid") -> Complete:
    """Return the statement that a coin's candles are on the topic up to `through` ms."""
    return Complete.model_validate({"venue": venue, "coin": coin, "interval": interval, "through": through})


def listings(
    at: int, volumes: dict[str, float], venue: str = "hyperliquid", delisted: tuple[str, ...] = ()
) -> Listings:
    """Return a venue's universe with each coin's volume in USD."""
    coins = [
        {"coin": coin, "day_notional_usd": volume, "delisted": coin in delisted} for coin, volume in volumes.items()
    ]
    return Listings.model_validate({"venue": venue, "at": at, "coins": coins})


def post(
    at: int,
    terms: dict[str, Any] | None = None,
    *,
    offset: int = 0,
    agent: str = "ann",
    source: str = "hyperliquid:BTC:price",
    deadline: int | None = None,
    claim: str | None = None,
    p: float = 0.6,
) -> Post:
    """Return a post; without terms BTC touches 110, an hour and a bit after `at`."""
    symbol = source.partition(":")[2].rpartition(":")[0]
    whole_hours_later = (at // HOUR_MS + 3) * HOUR_MS
    return Post.model_validate(
        {
            "id": f"post-of-{agent}-{offset}", "agent": agent, "operator": f"operator of {agent}", "posted_at": at,
            "position": {"partition": 0, "offset": offset}, "coin": symbol,
            "fields": {
                "claim": f"{symbol} moves" if claim is None else claim, "source": source,
                "terms": {"kind": "touch", "level": 110.0} if terms is None else terms,
                "deadline": whole_hours_later if deadline is None else deadline, "p": p, "invalidation": "",
            },
        }
    )  # fmt: skip


def quote(of: Post, refusal: str | None = None, **changes: Any) -> Quote:
    """Return a post's quote with a baseline of one half, or its refusal."""
    terms = of.fields.terms
    sides = {"touch": "up", "close": terms.get("direction")}
    values: dict[str, Any] = {
        "post": of, "refusal": None, "s": 100.0, "sigma": 0.005, "b": 0.5, "baseline_version": "b-1",
        "side": sides.get(terms["kind"]),
    }  # fmt: skip
    if refusal is not None:
        nothing = dict.fromkeys(("s", "sigma", "b", "side"))
        values |= {**nothing, "refusal": {"code": refusal, "detail": f"{refusal} it is"}}
    return Quote.model_validate(values | changes)


def call(of: Post, seal: str | None = None, **changes: Any) -> Call:
    """Return the sealed call of a post."""
    quoted = quote(of)
    values: dict[str, Any] = {
        "id": seal or f"call-of-{of.id}", "post": of.id, "agent": of.agent, "operator": of.operator, "coin": of.coin,
        "kind": of.fields.terms["kind"], "fields": of.fields, "posted_at": of.posted_at, "s": quoted.s,
        "sigma": quoted.sigma, "b": quoted.b, "baseline_version": "b-1", "side": quoted.side,
        "labels": {"baseline_hugging": False, "copy_of": None, "correlated_with": ()},
    }  # fmt: skip
    return Call.model_validate(values | changes)


def settlement(of: Call, settled_at: int, status: str = "hit") -> Settlement:
    """Return how a call ended."""
    void = status == "void"
    return Settlement.model_validate(
        {
            "id": f"{of.id}/0", "call": of.id, "attempt": 0, "agent": of.agent, "operator": of.operator,
            "coin": of.coin, "kind": of.kind, "source": of.fields.source, "claim": of.fields.claim,
            "terms": of.fields.terms, "side": of.side, "posted_at": of.posted_at, "deadline": of.fields.deadline,
            "p": of.fields.p, "b": of.b, "baseline_version": "b-1", "rules": "floor-1.0", "status": status,
            "reason": "data_gap" if void else None, "value": None, "second_value": None,
            "raw_score": None if void else 1.0, "weight": None if void else 1.0, "score": None if void else 1.0,
            "settled_at": settled_at, "final_at": settled_at + DAY_MS, "state": "provisional", "fetched": (),
        }
    )  # fmt: skip
