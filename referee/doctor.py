"""`referee doctor`: what is reachable, what is stale, and the configuration without its secrets."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import redis.asyncio
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from pydantic import SecretStr
from redis.exceptions import RedisError
from rich.console import Console
from rich.table import Table

from referee.settings import Settings
from rules.market import DAY_MS, FIVE_MINUTES_MS, SECOND_MS
from sinks.clickhouse.queries import Query
from sinks.clickhouse.reader import Reader
from sinks.errors import SinkError
from streams.app import Bus
from streams.clock import WallClock
from streams.delivery.watermarks import is_watermark
from streams.ends import end_offsets
from streams.venues.base import VenueError, venue_client
from streams.venues.bybit import BybitHttp
from streams.venues.hyperliquid import HyperliquidHttp
from topics.operations import Progress
from topics.registry import PROGRESS

ANSWER_WITHIN_S = 10.0
PROGRESS_RECORDS = 20_000
UNREACHABLE = (KafkaError, SinkError, RedisError, VenueError, OSError, TimeoutError, ValueError)

NEWEST_CANDLES = Query(
    "doctor candles",
    """
SELECT coin, toUnixTimestamp64Milli(max(open_time)) AS open_ms FROM candles
WHERE `interval` = '5m' GROUP BY coin ORDER BY coin
""",
)
TROUBLE = Query(
    "doctor trouble",
    """
SELECT
    (SELECT count() FROM settlements FINAL WHERE status = 'void'
        AND settled_at > fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC')) AS voids,
    (SELECT count() FROM dead_letters FINAL
        WHERE at > fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC')) AS dead_letters
""",
)

Report = dict[str, Any]


async def examined(settings: Settings) -> Report:
    """Return everything that doctor says, as one JSON-able document; ages in seconds, `ok` null for what is not set."""
    now_ms = WallClock().now_ms()
    report: Report = {"at": now_ms, "reachable": {}, "watermarks": None, "candles": None, "last_day": None}

    async def clickhouse(url: str) -> None:
        report["candles"], report["last_day"] = await _stored(url, settings.database, now_ms)

    async def kafka(_: str) -> None:
        report["watermarks"] = await _watermarks(settings.bus(), now_ms)

    async def hyperliquid(url: str) -> None:
        async with venue_client(url, timeout_s=ANSWER_WITHIN_S) as client:
            await HyperliquidHttp(url, client).meta()

    async def bybit(url: str) -> None:
        async with venue_client(url, timeout_s=ANSWER_WITHIN_S) as client:
            await BybitHttp(url, client).candles("BTCUSDT", "5m", now_ms - FIVE_MINUTES_MS, now_ms)

    checks: list[tuple[str, str | None, Callable[[str], Awaitable[None]]]] = [
        ("kafka", settings.kafka, kafka),
        ("clickhouse", settings.clickhouse, clickhouse),
        ("redis", settings.redis, _ping),
        ("hyperliquid", settings.hyperliquid_url, hyperliquid),
        ("bybit", settings.bybit_url, bybit),
    ]
    reached = await asyncio.gather(*(_reached(address, check) for _, address, check in checks))
    report["reachable"] = {name: found for (name, _, _), found in zip(checks, reached, strict=True)}
    report["configuration"] = configuration(settings)
    return report


async def _reached(address: str | None, check: Callable[[str], Awaitable[None]]) -> Report:
    if address is None:
        return {"address": None, "ok": None, "why": "not set"}
    why = None
    try:
        async with asyncio.timeout(ANSWER_WITHIN_S):
            await check(address)
    except TimeoutError:
        why = f"no answer within {ANSWER_WITHIN_S:g} s"
    except UNREACHABLE as error:
        why = " ".join(str(error).split()).replace(address, redacted_url(address)) or type(error).__name__
    return {"address": redacted_url(address), "ok": why is None, "why": why}


async def _ping(url: str) -> None:
    client = redis.asyncio.from_url(url)
    try:
        await client.ping()
    finally:
        await client.aclose()


async def _stored(url: str, database: str, now_ms: int) -> tuple[Report, Report]:
    """Return the newest closed candle of each coin, and the troubles of the last day."""
    reader = Reader(url, database)
    try:
        candles = await reader.rows(NEWEST_CANDLES)
        trouble = await reader.row(TROUBLE, after_ms=now_ms - DAY_MS) or {}
    finally:
        await reader.close()
    newest = {row["coin"]: aged(row["open_ms"] + FIVE_MINUTES_MS, now_ms) for row in candles}
    return newest, trouble


async def _watermarks(bus: Bus, now_ms: int) -> Report:
    """Return the newest watermark of each origin among the last records of the progress topic."""
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bus.bootstrap, fetch_max_wait_ms=bus.fetch_max_wait_ms, enable_auto_commit=False
    )
    newest: dict[str, int] = {}
    # A consumer that never came up must be stopped all the same
    try:
        await consumer.start()
        name = bus.topic_name(PROGRESS)
        if name not in await consumer.topics():
            return {}
        partition = TopicPartition(name, 0)
        consumer.assign([partition])
        first = (await consumer.beginning_offsets([partition]))[partition]
        end = (await end_offsets(bus, [partition]))[partition]
        position = max(first, end - PROGRESS_RECORDS)
        consumer.seek(partition, position)
        while position < end:
            for record in (await consumer.getmany(partition, timeout_ms=1_000)).get(partition, []):
                position = record.offset + 1
                progress = None if is_watermark(record.headers) else Progress.decode(record.value)
                if progress is not None and progress.watermark is not None:
                    newest[progress.origin] = max(progress.watermark, newest.get(progress.origin, 0))
    finally:
        await consumer.stop()
    return {origin: aged(newest[origin], now_ms) for origin in sorted(newest)}


def aged(at_ms: int, now_ms: int) -> Report:
    """Return a time with its age in seconds."""
    return {"at": at_ms, "age_s": round((now_ms - at_ms) / SECOND_MS, 1)}


def configuration(settings: Settings) -> dict[str, Any]:
    """Return every setting with its secrets taken out."""
    values = {name: getattr(settings, name) for name in type(settings).model_fields}
    return {name: _redacted(name, value) for name, value in values.items()}


def _redacted(name: str, value: object) -> Any:
    if isinstance(value, SecretStr):
        return "…"
    if name == "webhook_url" and isinstance(value, str):
        # The path of a webhook is often its password
        return urlunsplit((*urlsplit(redacted_url(value))[:2], "/…", "", ""))
    if isinstance(value, str) and "://" in value:
        return redacted_url(value)
    return list(value) if isinstance(value, tuple) else value if isinstance(value, int | None) else str(value)


def redacted_url(address: str) -> str:
    """Return an address without user, password and query; what is no URL stays as it is."""
    if "://" not in address:
        return address
    scheme, host, path, query, _ = urlsplit(address)
    user, at, rest = host.rpartition("@")
    return urlunsplit((scheme, f"…@{rest}" if at and user else host, path, "…" if query else "", ""))


def doctor_command(settings: Settings, *, as_json: bool) -> int:
    """Print what is reachable and how old it is; return 1 when something that is set cannot be reached."""
    report = asyncio.run(examined(settings))
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
    else:
        _show(report, Console(markup=False, highlight=False))
    return int(any(found["ok"] is False for found in report["reachable"].values()))


def _show(report: Report, console: Console) -> None:
    reachable = Table("server", "address", "reachable", title="Servers", title_justify="left")
    words = {True: "yes", None: "not set", False: "no"}
    for name, found in report["reachable"].items():
        state = words[found["ok"]] + (f": {found['why']}" if found["ok"] is False else "")
        reachable.add_row(name, found["address"] or "", state)
    console.print(reachable)
    for key, title in (("watermarks", "Watermarks of agents"), ("candles", "Newest closed candles")):
        if report[key]:
            _show_ages(report[key], title, console)
    if report["last_day"] is not None:
        counts = report["last_day"]
        console.print(f"In the last day: {counts['voids']} voids, {counts['dead_letters']} dead letters")
    settings = Table("setting", "value", title="Configuration", title_justify="left")
    for name, value in report["configuration"].items():
        settings.add_row(f"REFEREE_{name.upper()}", "" if value is None else str(value))
    console.print(settings)


def _show_ages(ages: Mapping[str, Report], title: str, console: Console) -> None:
    table = Table("of", "age", title=title, title_justify="left")
    for name, found in ages.items():
        table.add_row(name, f"{found['age_s']:,} s")
    console.print(table)
