"""`referee demo`: progress while it runs, a table or one JSON document at its end, pages until Ctrl-C."""

import asyncio
import json
import logging
import sys
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from referee.demo.driver import STEP_MS, RunFailedError
from referee.demo.run import FIRST_DAY_MS, Demo, Options, iso, steps_of
from referee.embedded.process import ServerFailedError
from referee.logs import configure_logs
from referee.settings import Settings


def demo_command(settings: Settings, options: Options, *, once: bool, as_json: bool) -> int:
    """Run the demo and return the exit code: 0, 1 when a process of the run failed, 130 when interrupted."""
    configure_logs(logging.ERROR)
    console = Console(stderr=True)
    summarised = asyncio.Event()
    try:
        asyncio.run(_run(settings, options, console, summarised, once=once, as_json=as_json))
    except (RunFailedError, ServerFailedError) as error:
        console.print(str(error), style="red", markup=False, highlight=False)
        return 1
    except KeyboardInterrupt:
        return 0 if summarised.is_set() else 130
    return 0


async def _run(
    settings: Settings, options: Options, console: Console, summarised: asyncio.Event, *, once: bool, as_json: bool
) -> None:
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    ) as bar:
        task = bar.add_task("starting servers and workers", total=steps_of(options))

        def on_step(now_ms: int) -> None:
            done = -(-(now_ms - FIRST_DAY_MS) // STEP_MS)
            bar.update(task, completed=done, description=f"replaying {iso(now_ms)[:16]}")

        async with Demo(settings, options) as demo:
            if demo.page_url and not once:
                console.print(f"Pages: {demo.page_url}")
                servers = demo.settings
                console.print(f"export REFEREE_CLICKHOUSE={servers.clickhouse} REFEREE_KAFKA={servers.kafka}")
            summary = await demo.run(on_step)
            bar.stop()
            _show(summary, as_json=as_json)
            summarised.set()
            if not once:
                console.print(f"Pages stay up at {demo.page_url} until Ctrl-C")
                raise RunFailedError(await demo.until_failure())


def _show(summary: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(summary, ensure_ascii=False), flush=True)
        return
    table = Table(title=f"{summary['days']} recorded days from {summary['from']}", show_header=False)
    for name, value in rows_of(summary):
        table.add_row(name, value)
    Console(file=sys.stdout).print(table)


def rows_of(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the summary as lines for people."""
    calls = [
        (f"calls: {kind}", f"{counts['sealed']} sealed, {counts['settled']} settled, {counts['void']} void")
        for kind, counts in summary["calls"].items()
    ]
    listed = [
        (name, ", ".join(f"{count} {key}" for key, count in summary[name].items()) or "none")
        for name in ("voids", "refused", "predictions", "records")
    ]
    ledger = summary["ledger"]
    return [
        ("closed candles", str(summary["candles"])),
        ("envelopes sent", str(summary["envelopes"])),
        *calls,
        *listed,
        ("ledger", f"{ledger['size']} entries, head {ledger['head'][:16]}…"),
        ("alerts", str(summary["alerts"])),
        ("digest", summary["digest"]),
        ("seconds", f"{summary['wall_seconds']} in all, {summary['replay_seconds']} until the last settlement"),
    ]
