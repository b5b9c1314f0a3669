"""Which agents run in which role, with what they need put together."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Literal

from agents import alerts, arena, ingress, ledger, levels, sealing, settlement, standing, volatility, warehouse
from agents.venue_reading import Venues
from referee.settings import Settings
from rules.arena.commitment import Deployment
from sinks.clickhouse.rows import TOPIC_NAMES, rows_of
from sinks.clickhouse.writer import ClickHouseWriter
from sinks.live import TOPIC_NAMES as LIVE_TOPICS
from sinks.live import LiveViews
from sinks.retry import patiently
from sinks.webhook import Webhook
from streams.delivery.outbox import SinkRecord
from streams.delivery.reducer import AgentSpec
from streams.venues.base import venue_client
from streams.venues.bybit import BybitHttp
from streams.venues.hyperliquid import HyperliquidHttp
from topics.registry import by_name

Role = Literal["engine", "sink"]


@dataclass(frozen=True, slots=True)
class Venue:
    """The two venues as clients."""

    pinned: HyperliquidHttp
    second: BybitHttp


async def open_venues(settings: Settings, stack: AsyncExitStack) -> Venue:
    """Return clients of the configured venues, closed with the stack."""
    pinned = await stack.enter_async_context(venue_client(settings.hyperliquid_url))
    second = await stack.enter_async_context(venue_client(settings.bybit_url))
    return Venue(HyperliquidHttp(settings.hyperliquid_url, pinned), BybitHttp(settings.bybit_url, second))


async def engine_agents(settings: Settings, stack: AsyncExitStack) -> tuple[AgentSpec, ...]:
    """Return the agents that decide."""
    venue = await open_venues(settings, stack)
    notify = None
    if settings.webhook_url is not None:
        secret = settings.webhook_secret
        key = None if secret is None else secret.get_secret_value().encode()
        webhook = await stack.enter_async_context(Webhook(settings.webhook_url, key))
        notify = webhook.send
    return (
        ingress.spec(settings.partitions),
        volatility.spec(),
        sealing.spec(),
        levels.spec(),
        settlement.spec(Venues(venue.pinned, venue.second)),
        arena.spec(venue.pinned, Deployment(settings.chain_id, settings.callbook)),
        standing.spec(),
        ledger.spec(),
        alerts.spec(notify),
    )


async def sink_agents(settings: Settings, stack: AsyncExitStack) -> tuple[AgentSpec, ...]:
    """Return the agents that carry the bus to ClickHouse and, where there is one, to Redis; raises `SinkError`."""
    if settings.clickhouse is None:
        raise ValueError("REFEREE_CLICKHOUSE is not set and no server was started")
    writer = await ClickHouseWriter.open(settings.clickhouse, settings.database)
    stack.push_async_callback(writer.close)

    async def write(records: Sequence[SinkRecord]) -> None:
        rows = [row for record in records for row in record.content]
        await patiently(lambda: writer.write(rows))

    topics = by_name(TOPIC_NAMES)
    spread = tuple(topic for topic in topics if not topic.single_partition)
    single = tuple(topic for topic in topics if topic.single_partition)
    agents = (
        warehouse.spec("warehouse", spread, write, read=rows_of),
        warehouse.spec("warehouse-single", single, write, read=rows_of, single_partition=True),
    )
    if settings.redis is None:
        return agents
    views = LiveViews(settings.redis, settings.topic_prefix or "referee:")
    stack.push_async_callback(views.close)

    async def show(records: Sequence[SinkRecord]) -> None:
        await patiently(lambda: views.write([(record.topic, record.content) for record in records]))

    return (*agents, warehouse.spec("live", by_name(LIVE_TOPICS), show))


async def agents_of(role: Role, settings: Settings, stack: AsyncExitStack) -> tuple[AgentSpec, ...]:
    """Return the agents of a role."""
    return await (engine_agents if role == "engine" else sink_agents)(settings, stack)
