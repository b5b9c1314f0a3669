"""Everything that can be configured, from environment variables `REFEREE_*`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypedDict

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from streams.app import Bus

Broker = Literal["kafka", "tansu"]


class BrokerTraits(TypedDict):
    """What the bus must know of a broker."""

    idempotent: bool
    fetch_max_wait_ms: int
    exact_ends: bool


BROKERS: Mapping[Broker, BrokerTraits] = {
    "kafka": {"idempotent": True, "fetch_max_wait_ms": 100, "exact_ends": True},
    "tansu": {"idempotent": False, "fetch_max_wait_ms": 10, "exact_ends": False},
}


class Settings(BaseSettings):
    """The referee's configuration; every field is an environment variable with the prefix `REFEREE_`."""

    model_config = SettingsConfigDict(env_prefix="REFEREE_", extra="ignore")

    kafka: str | None = Field(None, description="host:port of a Kafka broker; without it one is started")
    clickhouse: str | None = Field(None, description="HTTP URL of ClickHouse; without it one is started")
    redis: str | None = Field(None, description="Redis URL; without it a Valkey is started")
    embedded_kafka: Literal["tansu"] = Field("tansu", description="which embedded broker to start")
    data: Path | None = Field(None, description="directory of embedded servers and logs (default: a temporary one)")

    topic_prefix: str = Field("", description="prefix of every topic's name")
    group: str = Field("referee", description="consumer group of the workers")
    partitions: int = Field(2, ge=1, le=1024, description="partitions of every topic that is spread")
    replication: int = Field(1, ge=1, description="replication factor of topics that the referee creates")
    broker: Broker = Field("kafka", description="what REFEREE_KAFKA is: kafka, or tansu with its limits")

    report_every_ms: int = Field(10_000, ge=1, description="event time between two progress reports of an agent")

    database: str = Field("referee", description="ClickHouse database")

    hyperliquid_url: str = Field("https://api.hyperliquid.xyz", description="Hyperliquid's HTTP base URL")
    hyperliquid_socket_url: str = Field("wss://api.hyperliquid.xyz/ws", description="Hyperliquid's websocket URL")
    bybit_url: str = Field("https://api.bybit.com", description="the second venue's HTTP base URL")
    coins: tuple[str, ...] = Field(("BTC", "ETH", "SOL", "HYPE", "FARTCOIN"), description="coins that the feed follows")

    chain_id: int = Field(5042002, description="chain id that Arena commits bind")
    callbook: str = Field("0x" + "0" * 40, description="contract address that Arena commits bind")

    webhook_url: str | None = Field(None, description="where alerts are posted, besides topic and page")
    webhook_secret: SecretStr | None = Field(None, description="key of the webhook's HMAC-SHA256 signature")

    host: str = Field("127.0.0.1", description="address that the pages listen on")
    port: int = Field(8080, ge=0, le=65535, description="port of the pages; 0 takes a free one")

    def bus(self, bootstrap: str | None = None) -> Bus:
        """Return the bus that these settings describe; `bootstrap` names the broker when one was started."""
        address = bootstrap or self.kafka
        if address is None:
            raise ValueError("REFEREE_KAFKA is not set and no broker was started")
        return Bus(
            bootstrap=address,
            prefix=self.topic_prefix,
            partitions=self.partitions,
            group=self.group,
            report_every_ms=self.report_every_ms,
            **BROKERS[self.broker],
        )

    def environment(self) -> dict[str, str]:
        """Return these settings as environment variables, for a child process."""
        values = self.model_dump(mode="json", exclude_none=True)
        values.pop("coins")
        if self.webhook_secret is not None:
            values["webhook_secret"] = self.webhook_secret.get_secret_value()
        texts = {f"REFEREE_{name.upper()}": str(value) for name, value in values.items()}
        return texts | {"REFEREE_COINS": "[" + ",".join(f'"{coin}"' for coin in self.coins) + "]"}
