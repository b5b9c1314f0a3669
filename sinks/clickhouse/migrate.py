"""Numbered, forward-only migrations of the ClickHouse schema."""

import hashlib
import re
from dataclasses import dataclass
from importlib import resources

from clickhouse_connect.driver.client import Client

from sinks.clickhouse.connection import sink_errors
from sinks.errors import MigrationError

_NAME = re.compile(r"(\d{3})_(\w+)\.sql")

_MIGRATIONS_TABLE = """
CREATE TABLE IF NOT EXISTS migrations
(
    number UInt32,
    name String,
    sha256 String,
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree
ORDER BY number
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file of statements, applied once and never changed afterwards."""

    number: int
    name: str
    text: str

    @property
    def sha256(self) -> str:
        """Return the hash that tells whether an applied file was changed later."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def statements(self) -> tuple[str, ...]:
        """Return the file's statements; each ends with a semicolon at the end of a line."""
        return tuple(part.strip() for part in re.split(r";\s*(?:\n|$)", self.text) if part.strip())


def migrations() -> tuple[Migration, ...]:
    """Return the packaged migrations in order; raises `MigrationError` when their numbers are not 1, 2, 3, …"""
    found = []
    for entry in resources.files("sinks.clickhouse").joinpath("migrations").iterdir():
        match = _NAME.fullmatch(entry.name)
        if match:
            found.append(Migration(int(match[1]), match[2], entry.read_text(encoding="utf-8")))
    found.sort(key=lambda migration: migration.number)
    numbers = [migration.number for migration in found]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        raise MigrationError(f"migrations are numbered {numbers}, expected 1, 2, 3, … without a gap")
    return tuple(found)


def migrate(client: Client) -> tuple[int, ...]:
    """Apply what the client's database has not seen, in order, and return the numbers applied.

    Blocks. A statement may run twice when a run was cut short, so each is idempotent. Raises `MigrationError` when an
    applied file was changed or the database is newer than this code, else `SinkError`.
    """
    known = migrations()
    with sink_errors("migrations"):
        client.command(_MIGRATIONS_TABLE)
        rows = client.query("SELECT number, sha256 FROM migrations FINAL").result_rows
    applied: dict[int, str] = {row[0]: row[1] for row in rows}
    newer = sorted(set(applied) - {migration.number for migration in known})
    if newer:
        raise MigrationError(f"the database has migration {newer[-1]}, this version knows {known[-1].number} at most")
    done = []
    for migration in known:
        if migration.number in applied:
            if applied[migration.number] != migration.sha256:
                raise MigrationError(f"migration {migration.number} ({migration.name}) was changed after it ran")
            continue
        with sink_errors(f"migration {migration.number} ({migration.name})"):
            for statement in migration.statements:
                client.command(statement)
            client.insert(
                "migrations",
                [(migration.number, migration.name, migration.sha256)],
                column_names=["number", "name", "sha256"],
            )
        done.append(migration.number)
    return tuple(done)
