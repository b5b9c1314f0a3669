"""What doctor says of servers that are there, of servers that are not, and of secrets."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from referee.doctor import configuration, doctor_command, examined, redacted_url
from referee.embedded.ports import free_port
from referee.embedded.stack import EmbeddedStack
from referee.settings import Settings
from referee.simulated.server import SimulatedVenue
from sinks.clickhouse.rows import rows_of
from sinks.clickhouse.writer import ClickHouseWriter
from streams.clock import SteppedClock, WallClock
from streams.delivery.outbox import Output
from streams.delivery.publisher import Publisher
from streams.provision import create_topics
from tests.sinks.examples import T0, candle, settlement
from topics.base import Message
from topics.operations import DeadLetter, Progress
from topics.registry import CANDLES, DEAD_LETTERS, PROGRESS, SETTLEMENTS, Topic

SECRET = "hunter2"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    """Return the three servers."""
    with EmbeddedStack(tmp_path_factory.mktemp("doctor")) as servers:
        yield servers


def nowhere() -> str:
    """Return an address at which nothing listens."""
    return f"127.0.0.1:{free_port()}"


def settings(stack: EmbeddedStack, venue: SimulatedVenue) -> Settings:
    """Return settings that name servers which are there."""
    return Settings().model_copy(
        update={
            "kafka": stack.kafka,
            "clickhouse": stack.clickhouse,
            "redis": stack.redis,
            "hyperliquid_url": venue.hyperliquid_url,
            "bybit_url": venue.bybit_url,
        }
    )


def letter(at_ms: int) -> DeadLetter:
    """Return a dead letter."""
    return DeadLetter(
        id=str(at_ms), agent="sealing", topic="floor.quotes", partition=0, offset=1, cause="undecodable", detail="",
        key=None, value=None, at=at_ms,
    )  # fmt: skip


async def store(url: str, *messages: tuple[Topic, Message]) -> None:
    """Put messages into ClickHouse as the sink does."""
    writer = await ClickHouseWriter.open(url)
    try:
        await writer.write([row for topic, message in messages for row in rows_of(topic.name, message.encode())])
    finally:
        await writer.close()


async def report_progress(settings: Settings, *reports: Progress) -> None:
    """Put progress on the bus as agents do."""
    bus = settings.bus()
    await create_topics(bus, (), stepped=True)
    async with Publisher(bus.bootstrap, idempotent=False) as publisher:
        await publisher.send([Output(PROGRESS, report.origin.encode(), report.encode(), 1) for report in reports])


@pytest.mark.embedded
async def test_all_that_is_there_is_reached_and_aged(stack: EmbeddedStack) -> None:
    now_ms = WallClock().now_ms()
    hour_ms, day_ms = 3_600_000, 86_400_000
    async with SimulatedVenue(SteppedClock(T0)) as venue:
        mine = settings(stack, venue)
        await store(
            stack.clickhouse,
            (CANDLES, candle(open_time=T0)),
            (CANDLES, candle(open_time=T0 + 300_000)),
            (CANDLES, candle(coin="ETH", open_time=now_ms - 300_000)),
            (SETTLEMENTS, settlement(id="a/0", call="a", status="void", settled_at=now_ms - hour_ms)),
            (SETTLEMENTS, settlement(id="b/0", call="b", status="void", settled_at=now_ms - 2 * day_ms)),
            (SETTLEMENTS, settlement(id="c/0", call="c", status="hit", settled_at=now_ms - hour_ms)),
            (DEAD_LETTERS, letter(now_ms - hour_ms)),
            (DEAD_LETTERS, letter(now_ms - 2 * day_ms)),
        )
        await report_progress(
            mine,
            Progress(origin="sealing/0", watermark=T0, delivered=None),
            Progress(origin="sealing/0", watermark=now_ms - 5_000, delivered=None),
            Progress(origin="warehouse/0", watermark=None, delivered={"ledger": 3}),
        )
        report = await examined(mine)
    assert {name: found["ok"] for name, found in report["reachable"].items()} == dict.fromkeys(
        ("kafka", "clickhouse", "redis", "hyperliquid", "bybit"), True
    )
    assert report["candles"]["BTC"]["at"] == T0 + 600_000
    assert 0 <= report["candles"]["ETH"]["age_s"] < 120
    assert list(report["watermarks"]) == ["sealing/0"]
    assert report["watermarks"]["sealing/0"]["at"] == now_ms - 5_000
    assert 5 <= report["watermarks"]["sealing/0"]["age_s"] < 125
    assert report["last_day"] == {"voids": 1, "dead_letters": 1}
    json.dumps(report)


def test_what_cannot_be_reached_says_why_and_ends_with_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    away = Settings().model_copy(
        update={
            "kafka": nowhere(),
            "clickhouse": f"http://user:{SECRET}@{nowhere()}",
            "redis": f"redis://:{SECRET}@{nowhere()}/0",
            "hyperliquid_url": f"http://{nowhere()}",
            "bybit_url": f"http://{nowhere()}",
        }
    )
    assert doctor_command(away, as_json=True) == 1
    printed = capsys.readouterr().out
    report = json.loads(printed)
    assert all(found["ok"] is False and found["why"] for found in report["reachable"].values())
    assert (report["watermarks"], report["candles"], report["last_day"]) == (None, None, None)
    assert SECRET not in printed
    assert doctor_command(away, as_json=False) == 1
    assert SECRET not in capsys.readouterr().out


def test_what_is_not_set_is_not_called_unreachable() -> None:
    unset: dict[str, object] = dict.fromkeys(("kafka", "clickhouse", "redis"))
    venues = dict.fromkeys(("hyperliquid_url", "bybit_url"), f"http://{nowhere()}")
    reachable = asyncio.run(examined(Settings().model_copy(update=unset | venues)))["reachable"]
    assert reachable["kafka"] == {"address": None, "ok": None, "why": "not set"}


def test_no_secret_is_shown_of_the_configuration(tmp_path: Path) -> None:
    secretive = Settings().model_copy(
        update={
            "clickhouse": f"https://me:{SECRET}@house:8443/db?password={SECRET}",
            "redis": f"rediss://:{SECRET}@cache:6379/1",
            "webhook_url": f"https://hooks.example/services/{SECRET}",
            "webhook_secret": SecretStr(SECRET),
            "data": tmp_path,
        }
    )
    shown = configuration(secretive)
    assert SECRET not in json.dumps(shown)
    assert shown["clickhouse"] == "https://…@house:8443/db?…"
    assert shown["redis"] == "rediss://…@cache:6379/1"
    assert shown["webhook_url"] == "https://hooks.example/…"
    assert shown["data"] == str(tmp_path)
    assert shown.keys() == Settings.model_fields.keys()


def test_an_address_without_secrets_is_shown_whole() -> None:
    assert redacted_url("127.0.0.1:9092,b:9092") == "127.0.0.1:9092,b:9092"
    assert redacted_url("redis://127.0.0.1:6379/0") == "redis://127.0.0.1:6379/0"
