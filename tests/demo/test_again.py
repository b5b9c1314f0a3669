"""The demo as a command, from a folder of its own: the same seed gives the same results, another seed others."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from referee.embedded.clickhouse import clickhouse
from referee.embedded.server import EmbeddedServer
from sinks.clickhouse.connection import connect_read_only

ROOT = Path(__file__).parents[2]
RESULTS = {
    "settlements": "SELECT id, status, reason, value, value_upper, score, settled_at FROM settlements FINAL ORDER BY 1",
    "outcomes": "SELECT id, status, move, net, resolved_at_s, at FROM outcomes FINAL ORDER BY id",
    "scores": "SELECT id, value, t_stat, total_return, max_drawdown, curve FROM scores FINAL ORDER BY id",
    "ledger": "SELECT seq, hash FROM ledger FINAL ORDER BY seq",
    "standings": "SELECT agent, at, settled, voids, standing FROM standings FINAL ORDER BY agent, at, settled, voids",
}
OF_THE_MACHINE = {"replay_seconds", "wall_seconds", "page"}


@dataclass(frozen=True)
class CommandRun:
    """What one run of the command printed, and the results that it left in ClickHouse."""

    summary: dict[str, Any]
    results: dict[str, list[tuple[Any, ...]]]

    @property
    def repeatable(self) -> dict[str, Any]:
        """Return the summary without what the machine decides."""
        return {name: value for name, value in self.summary.items() if name not in OF_THE_MACHINE}


def run_command(folder: Path, seed: int) -> CommandRun:
    """Run `referee demo` in a folder, which keeps its servers' data, and read the results from there."""
    data = folder / "data"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("REFEREE_")}
    environment |= {"REFEREE_DATA": str(data), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "referee", "demo", "--once", "--json", "--seed", str(seed), "--days", "1"]
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    server = EmbeddedServer(clickhouse(), data)
    server.start()
    try:
        client = connect_read_only(server.url)
        try:
            results = {name: [tuple(row) for row in client.query(query).result_rows] for name, query in RESULTS.items()}
        finally:
            client.close()
    finally:
        server.stop()
    return CommandRun(json.loads(ended.stdout), results)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> CommandRun:
    return run_command(tmp_path_factory.mktemp("first"), seed=7)


def test_the_same_seed_gives_the_same_results(first: CommandRun, tmp_path: Path) -> None:
    again = run_command(tmp_path, seed=7)
    assert again.repeatable == first.repeatable
    assert again.results == first.results
    assert all(first.results.values())


def test_another_seed_gives_other_results(first: CommandRun, tmp_path: Path) -> None:
    other = run_command(tmp_path, seed=8)
    assert other.summary["digest"] != first.summary["digest"]
    assert {row[0] for row in other.results["settlements"]}.isdisjoint(row[0] for row in first.results["settlements"])
