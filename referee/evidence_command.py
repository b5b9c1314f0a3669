"""`referee evidence`: writes the bundle of one settlement, for anybody to verify offline."""

import asyncio
import json
from pathlib import Path
from typing import Any

from referee.command_errors import required
from referee.evidence import call_bundle
from referee.settings import Settings
from sinks.clickhouse.reader import Reader


def evidence_command(settings: Settings, call: str, out: Path | None, *, as_json: bool) -> None:
    """Print the bundle of a settled call, or write it to a file and say so.

    Raises `CommandError`, `EvidenceError`, `SinkError` and `OSError`.
    """
    url = required(settings.clickhouse, "REFEREE_CLICKHOUSE")
    bundle = asyncio.run(_bundle(url, settings.database, call))
    text = json.dumps(bundle, ensure_ascii=False)
    if out is None:
        print(text)
        return
    out.write_text(text + "\n", encoding="utf-8")
    seal, answers = bundle["expected"]["seal"], len(bundle["answers"])
    if as_json:
        print(json.dumps({"file": str(out), "call": seal, "answers": answers}))
    else:
        print(f"{out}: call {seal} with {answers} raw answers; check it with: referee verify {out}")


async def _bundle(url: str, database: str, call: str) -> dict[str, Any]:
    reader = Reader(url, database)
    try:
        return await call_bundle(reader, call)
    finally:
        await reader.close()
