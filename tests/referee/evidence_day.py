"""The evidence of one recorded day: a bundle of every settlement, and what is said of calls without one."""

import asyncio
import copy
from dataclasses import dataclass, field
from typing import Any

import pytest

from referee.demo import run
from referee.demo.run import Demo, Options
from referee.evidence import EvidenceError, call_bundle
from referee.settings import Settings
from sinks.clickhouse.connection import connect
from sinks.clickhouse.queries import Query
from sinks.clickhouse.reader import Reader
from sinks.clickhouse.rows import rows_of
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.examples import call, settlement
from topics.registry import CALLS, SETTLEMENTS

HALT_DAY_MS = 1_749_340_800_000  # 2025-06-08
AT_ONCE = 8
NOBODY, SILENT, OLDER = "f" * 64, "e" * 64, "d" * 64
SETTLED = Query("settled calls", "SELECT call, status, reason FROM settlements FINAL ORDER BY call")
OPEN = Query("open calls", "SELECT id FROM open_calls ORDER BY id LIMIT 1")

Bundle = dict[str, Any]


@dataclass
class Collected:
    """What was settled in a run, every bundle of it, and what was said of calls without one."""

    settled: list[dict[str, Any]]
    bundles: dict[str, Bundle] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)

    def one(self, kind: str, status: str) -> Bundle:
        """Return a copy of the first bundle of a kind that ended so."""
        return copy.deepcopy(
            next(
                bundle
                for bundle in self.bundles.values()
                if bundle["call"]["terms"]["kind"] == kind and bundle["recorded"]["status"] == status
            )
        )


async def collected() -> Collected:
    """Run a day and take the bundle of every settlement out of ClickHouse."""
    async with Demo(Settings(), Options(days=1, seed=3, pages=False)) as demo:
        await demo.run(lambda _: None)
        url, database = str(demo.settings.clickhouse), demo.settings.database
        reader = Reader(url, database)
        gate = asyncio.Semaphore(AT_ONCE)
        found = Collected(await reader.rows(SETTLED))

        async def take(seal: str) -> None:
            async with gate:
                found.bundles[seal] = await call_bundle(reader, seal)

        async def refuse(name: str, seal: str) -> None:
            with pytest.raises(EvidenceError) as caught:
                await call_bundle(reader, seal)
            found.refusals[name] = str(caught.value)

        await asyncio.gather(*(take(row["call"]) for row in found.settled))
        first = found.settled[0]["call"]
        assert (await call_bundle(reader, first[:16]))["expected"]["seal"] == first
        await refuse("unknown", NOBODY)
        await refuse("several", first[:1])
        await refuse("no id", first[:-1] + "x")
        await refuse("open", (await reader.rows(OPEN))[0]["id"])
        await asyncio.to_thread(spoil, url, database)
        await refuse("spoilt", first)
        writer = await ClickHouseWriter.open(url, database)
        silent, older = call(id=SILENT), call(id=OLDER)
        await writer.write(
            row
            for topic, message in (
                (CALLS, silent),
                (CALLS, older),
                (SETTLEMENTS, settlement(call=SILENT, id=f"{SILENT}/0", attempt=0, fetched=())),
                (SETTLEMENTS, settlement(call=OLDER, id=f"{OLDER}/0", attempt=0, rules="floor-0.9")),
            )
            for row in rows_of(topic.name, message.encode())
        )
        await writer.close()
        await refuse("silent", SILENT)
        await refuse("older", OLDER)
        await reader.close()
        return found


def spoil(url: str, database: str) -> None:
    """Add a byte to every raw answer that is stored."""
    client = connect(url, database)
    client.command("INSERT INTO evidence SELECT sha256, venue, request, status, concat(body, ' '), at FROM evidence")
    client.close()


def evidence_of_the_halts_day() -> Collected:
    """Run the day of the venue's halt and return its evidence."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "FIRST_DAY_MS", HALT_DAY_MS)
        return asyncio.run(collected())
