"""Live views in Redis or Valkey: what moves faster than a table should, and the newest alerts.

Keys, with `referee:` as the default prefix:

- `referee:live:<venue>:<coin>`: a hash; the forming 5-minute candle (`open_time`, `open`, `high`, `low`, `close`,
  `volume`), `sigma` per √hour with `sigma_at`, `complete_<interval>`, through when closed candles are complete, and
  `subject`, `<venue>:<coin>`. Times are ms UTC, numbers as Python prints doubles, so they read back to the same double.
- `referee:coins`: a set of `<venue>:<coin>`, the hashes that exist.
- `referee:alerts`: a list of alerts as JSON, the newest first, at most `ALERTS_KEPT`; `referee:alerts:seen` is a sorted
  set of their ids by time, which keeps a repeat out of the list.

All of it can be lost: the next messages bring it back.
"""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field, TypeAdapter
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from sinks.errors import PermanentSinkError, RetriableSinkError
from topics import registry
from topics.market import Candle, Complete, Volatility
from topics.operations import Alert

ALERTS_KEPT = 200
"""Alerts in the list: what a person reads; the rest is in ClickHouse."""

TOPIC_NAMES: tuple[str, ...] = (registry.CANDLES.name, registry.VOLATILITY.name, registry.ALERTS.name)
"""The topics that live views are made of."""

_candle_topic: TypeAdapter[Candle | Complete] = TypeAdapter(Annotated[Candle | Complete, Field(discriminator="type")])

# A hash moves forward only: a repeated or late message must not put an older state back.
_FORWARD = """
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known and tonumber(known) > tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
redis.call('SADD', KEYS[2], ARGV[#ARGV])
return 1
"""

_ALERT = """
if redis.call('ZADD', KEYS[2], 'NX', ARGV[2], ARGV[1]) == 0 then return 0 end
redis.call('LPUSH', KEYS[1], ARGV[3])
redis.call('LTRIM', KEYS[1], 0, ARGV[4] - 1)
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -5 * ARGV[4] - 1)
return 1
"""


class LiveViews:
    """Writes live views; writing something again changes nothing."""

    def __init__(self, url: str, prefix: str = "referee:") -> None:
        """Write to the server at `url` under keys with `prefix`; nothing is connected yet."""
        self._redis: Redis = Redis.from_url(url, decode_responses=True)
        self._prefix = prefix

    async def write(self, messages: Iterable[tuple[str, bytes]]) -> None:
        """Write messages, each with its topic's name, and return when the server has them all.

        Of a batch only the newest state of each hash is sent. Raises `KeyError` for a topic outside `TOPIC_NAMES`,
        `pydantic.ValidationError` for a message that is not of it, `SinkError` when the server fails.
        """
        states: dict[tuple[str, str], dict[str, str]] = {}
        alerts: list[Alert] = []
        for topic, raw in messages:
            if topic == registry.ALERTS.name:
                alerts.append(Alert.decode(raw))
                continue
            subject, state = _state_of(topic, raw)
            if state:
                order = next(iter(state))
                known = states.get((subject, order))
                if known is None or int(known[order]) <= int(state[order]):
                    states[subject, order] = state
        if states or alerts:
            await self._send(states, alerts)

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()

    async def _send(self, states: dict[tuple[str, str], dict[str, str]], alerts: list[Alert]) -> None:
        pipeline: Pipeline = self._redis.pipeline(transaction=False)
        for (subject, _), state in states.items():
            fields = [part for pair in state.items() for part in pair]
            keys = (f"{self._prefix}live:{subject}", f"{self._prefix}coins")
            pipeline.eval(_FORWARD, 2, *keys, *fields, "subject", subject)
        for alert in alerts:
            keys = (f"{self._prefix}alerts", f"{self._prefix}alerts:seen")
            pipeline.eval(_ALERT, 2, *keys, alert.id, str(alert.at), alert.encode().decode(), str(ALERTS_KEPT))
        try:
            await pipeline.execute()
        except (RedisConnectionError, RedisTimeoutError) as error:
            raise RetriableSinkError(f"live views: {error}") from error
        except RedisError as error:
            raise PermanentSinkError(f"live views: {error}") from error


def _state_of(topic: str, raw: bytes) -> tuple[str, dict[str, str]]:
    """Return whose hash a message changes and how; the first field orders its states."""
    if topic == registry.VOLATILITY.name:
        volatility = Volatility.decode(raw)
        sigma = "" if volatility.sigma is None else repr(volatility.sigma)
        return f"{volatility.venue}:{volatility.coin}", {"sigma_at": str(volatility.at), "sigma": sigma}
    if topic != registry.CANDLES.name:
        raise KeyError(topic)
    message = _candle_topic.validate_json(raw)
    subject = f"{message.venue}:{message.coin}"
    if isinstance(message, Complete):
        return subject, {f"complete_{message.interval}": str(message.through)}
    if message.closed or message.interval != "5m":
        return subject, {}
    names = ("open", "high", "low", "close", "volume")
    return subject, {"open_time": str(message.open_time)} | {name: repr(getattr(message, name)) for name in names}
