"""What may go wrong in a command, said in one line on stderr with exit code 1."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from aiokafka.errors import KafkaError
from pydantic import ValidationError
from pydantic_settings import SettingsError

from referee.embedded.process import ServerFailedError
from referee.evidence import EvidenceError
from referee.publish import PublishError
from referee.settings import Settings
from sinks.errors import SinkError
from streams.venues.base import VenueError

LONGEST_LINE = 600
CLIENTS_WITH_LOGS = ("aiokafka", "clickhouse_connect")


class CommandError(Exception):
    """A command cannot do what it was asked; the text says which input is wrong."""


EXPECTED = (
    CommandError,
    EvidenceError,
    KafkaError,
    OSError,
    PublishError,
    ServerFailedError,
    SinkError,
    VenueError,
)


@contextmanager
def one_line_errors(*, quiet: bool = False) -> Iterator[None]:
    """Turn an expected error into its line on stderr and exit code 1; all others are bugs and keep their trace.

    `quiet` is for commands to which the clients' own log of an error would say the same again.
    """
    if quiet:
        for name in CLIENTS_WITH_LOGS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    except EXPECTED as error:
        typer.echo(one_line(error), err=True)
        raise typer.Exit(1) from error


def one_line(error: BaseException) -> str:
    """Return an error's text on one line, shortened, without anything that a terminal would act on."""
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    else:
        text = " ".join(str(error).split()) or type(error).__name__
    text = "".join(character if character.isprintable() else "?" for character in text)
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"


def read_settings() -> Settings:
    """Return the configuration from the environment; raises `CommandError` naming the first variable that is wrong."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        raise CommandError(f"REFEREE_{name}: {first['msg']}") from error
    except SettingsError as error:
        raise CommandError(f"{_unreadable_variable()}: is not the JSON that it must be") from error


def required(value: str | None, variable: str) -> str:
    """Return a setting that a command cannot do without; raises `CommandError` when it is not set."""
    if value is None:
        raise CommandError(f"{variable} is not set; `referee serve` starts a server and prints its address")
    return value


def _unreadable_variable() -> str:
    # The library's error names the field in the middle of a sentence; only the structured fields can raise it
    structured = [name for name, field in Settings.model_fields.items() if field.annotation == tuple[str, ...]]
    named = [f"REFEREE_{name.upper()}" for name in structured if f"REFEREE_{name.upper()}" in os.environ]
    return " or ".join(named) or "REFEREE_*"
