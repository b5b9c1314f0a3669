"""What may go wrong in a command, said in one line on stderr with exit code 1."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from referee.settings import Settings

LONGEST_LINE = 600
CLIENTS_WITH_LOGS = ("aiokafka", "clickhouse_connect")


class CommandError(Exception):
    """A command cannot do what it was asked; the text says which input is wrong."""


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
    except typer.Exit:
        raise
    except Exception as error:
        if not isinstance(error, expected_errors()):
            raise
        typer.echo(one_line(error), err=True)
        raise typer.Exit(1) from error


def expected_errors() -> tuple[type[Exception], ...]:
    """Return the errors that a command's text explains; looked up late, since `--help` needs none of their modules."""
    from aiokafka.errors import KafkaError

    from referee.embedded.process import ServerFailedError
    from referee.evidence import EvidenceError
    from referee.publish import PublishError
    from sinks.errors import SinkError
    from streams.venues.base import VenueError

    return CommandError, EvidenceError, KafkaError, OSError, PublishError, ServerFailedError, SinkError, VenueError


def one_line(error: BaseException) -> str:
    """Return an error's text on one line, shortened, without anything that a terminal would act on."""
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    else:
        text = " ".join(str(error).split()) or type(error).__name__
    text = "".join(character if character.isprintable() else "?" for character in text)
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"


def read_settings() -> "Settings":
    """Return the configuration from the environment; raises `CommandError` naming the first variable that is wrong."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from referee.settings import Settings

    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        raise CommandError(f"REFEREE_{name}: {first['msg']}") from error
    except SettingsError as error:
        # The library's error hides the field in a sentence; only the lists are read as JSON
        lists = [name for name, field in Settings.model_fields.items() if field.annotation == tuple[str, ...]]
        named = [f"REFEREE_{name.upper()}" for name in lists if f"REFEREE_{name.upper()}" in os.environ]
        raise CommandError(f'{" or ".join(named)}: must be a JSON list such as ["BTC","ETH"]') from error


def required(value: str | None, variable: str) -> str:
    """Return a setting that a command cannot do without; raises `CommandError` when it is not set."""
    if value is None:
        raise CommandError(f"{variable} is not set; `referee serve` starts a server and prints its address")
    return value
