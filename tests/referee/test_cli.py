"""The command line: help that says what a command does, and one clear line for whatever is wrong."""

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog
from typer.testing import CliRunner

from referee.cli import app
from referee.command_errors import CLIENTS_WITH_LOGS, one_line
from referee.embedded.kafka import kafka
from referee.embedded.ports import free_port
from referee.embedded.server import EmbeddedServer
from topics.registry import TOPICS

COMMANDS = (
    "demo", "worker", "feed", "dashboard", "serve", "publish", "evidence", "verify", "doctor", "topics create",
    "topics describe",
)  # fmt: skip
KEY = "0x" + "11" * 32


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def referee(*arguments: str | Path, **environment: str) -> Ended:
    """Run a command with nothing configured but what is given."""
    variables: dict[str, str | None] = {name: None for name in os.environ if name.startswith("REFEREE_")}
    variables |= {f"REFEREE_{name}": value for name, value in environment.items()}
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env=variables)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ended(result.exit_code, result.stdout, result.stderr)


def nowhere() -> str:
    """Return an address at which nothing listens."""
    return f"127.0.0.1:{free_port()}"


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an embedded broker."""
    server = EmbeddedServer(kafka(), tmp_path_factory.mktemp("kafka"))
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """Undo what commands do to the logs of a process that they expect to have for themselves."""
    levels = {name: logging.getLogger(name).level for name in CLIENTS_WITH_LOGS}
    yield
    structlog.reset_defaults()
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture
def request_files(tmp_path: Path) -> tuple[Path, Path]:
    """Return a body and a key file."""
    body, key = tmp_path / "body.json", tmp_path / "key"
    body.write_text('{"agent": "ann", "operator": "op-1"}')
    key.write_text(KEY)
    return body, key


def test_the_help_names_every_command() -> None:
    printed = referee("--help").stdout
    assert all(f"\n  {name.split()[0]} " in printed for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_says_what_it_does_and_explains_every_option(command: str) -> None:
    ended = referee(*command.split(), "--help")
    assert ended.returncode == 0
    usage, sentence = ended.stdout.split("\n\n")[:2]
    assert usage.startswith("Usage:")
    assert " ".join(sentence.split()).partition(".")[0]
    for line in ended.stdout.splitlines():
        if line.startswith("  --") and not line.startswith("  --create"):
            assert "  " in line.strip(), f"{line!r} explains nothing"


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (["worker", "--role", "boss"], {}, "role is 'boss'; it must be engine or sink"),
        (["worker"], {}, "REFEREE_KAFKA is not set"),
        (["worker", "--role", "sink"], {"KAFKA": "x:1"}, "REFEREE_CLICKHOUSE is not set"),
        (["feed"], {}, "REFEREE_KAFKA is not set"),
        (["dashboard"], {}, "REFEREE_CLICKHOUSE is not set"),
        (["serve", "mongo"], {}, "kind is 'mongo'; it must be one of kafka, clickhouse, redis"),
        (["evidence", "00"], {}, "REFEREE_CLICKHOUSE is not set"),
        (["topics", "create"], {}, "REFEREE_KAFKA is not set"),
        (["topics", "describe"], {"PARTITIONS": "many"}, "REFEREE_PARTITIONS: Input should be a valid integer"),
        (["topics", "describe"], {"PARTITIONS": "0"}, "REFEREE_PARTITIONS: Input should be greater than or equal to 1"),
        (["topics", "describe"], {"COINS": "BTC"}, 'REFEREE_COINS: must be a JSON list such as ["BTC","ETH"]'),
        (["verify", "/nowhere.json"], {}, "file: cannot be read"),
    ],
)
def test_bad_input_gets_one_line_and_an_exit_code(arguments: list[str], environment: dict[str, str], said: str) -> None:
    ended = referee(*arguments, **environment)
    assert ended.returncode in (1, 2)
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert said in ended.stderr


@pytest.mark.parametrize("command", ["feed", "topics create", "publish floor.register BODY --key-file KEY"])
def test_a_broker_that_is_away_gets_one_line(command: str, request_files: tuple[Path, Path]) -> None:
    address = nowhere()
    files = {"BODY": str(request_files[0]), "KEY": str(request_files[1])}
    ended = referee(*(files.get(word, word) for word in command.split()), KAFKA=address)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert address.partition(":")[2] in ended.stderr


def test_a_clickhouse_that_is_away_gets_one_line() -> None:
    address = f"http://{nowhere()}"
    ended = referee("evidence", "00", CLICKHOUSE=address)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert ended.stderr.startswith(f"ClickHouse at {address}: ")


def test_topics_are_described_as_json() -> None:
    ended = referee("topics", "describe", "--json", TOPIC_PREFIX="p.")
    assert [topic["name"] for topic in json.loads(ended.stdout)] == [f"p.{topic.name}" for topic in TOPICS]


@pytest.mark.parametrize(
    ("kind", "body", "key", "said"),
    [
        ("floor.nope", "{}", KEY, "kind is 'floor.nope'; it must be one of arena.open"),
        ("floor.register", "[]", KEY, "the body of a request is a JSON object"),
        ("floor.register", "{", KEY, "not JSON"),
        ("floor.register", "{}", KEY[:-2], "a private key is 0x and 64 hexadecimal digits"),
        ("floor.register", None, KEY, "body.json: No such file or directory"),
        ("floor.register", "{}", None, "key: No such file or directory"),
    ],
)
def test_a_request_that_cannot_be_sent_gets_one_line_that_never_shows_the_key(
    tmp_path: Path, kind: str, body: str | None, key: str | None, said: str
) -> None:
    for name, text in (("body.json", body), ("key", key)):
        if text is not None:
            (tmp_path / name).write_text(text)
    ended = referee("publish", kind, tmp_path / "body.json", "--key-file", tmp_path / "key", KAFKA=nowhere())
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert said in ended.stderr
    assert KEY[2:-2] not in ended.stderr


@pytest.mark.embedded
def test_a_request_is_sent_and_an_answer_that_does_not_come_is_reported(
    bootstrap: str, request_files: tuple[Path, Path]
) -> None:
    body, key = request_files
    bus = {"KAFKA": bootstrap, "BROKER": "tansu", "TOPIC_PREFIX": "cli."}
    created = referee("topics", "create", "--json", **bus)
    assert "cli.ingress" in json.loads(created.stdout)["created"]
    sent = referee("publish", "floor.register", body, "--key-file", key, "--json", **bus)
    answer = json.loads(sent.stdout)
    assert (sent.returncode, answer["receipt"], len(answer["id"])) == (0, None, 64)
    waited = referee("publish", "floor.register", body, "--key-file", key, "--wait", "--within", "0.2", **bus)
    assert (waited.returncode, waited.stdout, waited.stderr.count("\n")) == (1, "", 1)
    assert "was sent, but not answered within 0.2 s" in waited.stderr


def test_an_errors_text_becomes_one_short_line_without_control_characters() -> None:
    assert one_line(ValueError("a\nb\x1b[31m")) == "a b?[31m"
    assert one_line(ValueError()) == "ValueError"
    assert len(one_line(ValueError("x" * 10_000))) < 700
    assert one_line(FileNotFoundError(2, "No such file", "/tmp/x")) == "/tmp/x: No such file"
