"""The command line: every command's options, and which function does it."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from referee.command_errors import CommandError, one_line_errors, read_settings, required

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Settle what AI agents predict about markets, from the venue's own numbers.",
    epilog="Servers and venues are configured by environment variables; `referee doctor` prints them all.",
)
topics_app = typer.Typer(no_args_is_help=True, help="Create the bus's topics, or say what each of them is for.")
app.add_typer(topics_app, name="topics")

AsJson = Annotated[bool, typer.Option("--json", help="print JSON")]


@app.command()
def demo(
    days: Annotated[int, typer.Option(min=1, max=10, help="recorded days to replay")] = 3,
    seed: Annotated[int, typer.Option(help="seed of the sample agents")] = 1,
    pace: Annotated[float, typer.Option(min=0, help="wall seconds per simulated hour, 0 as fast as possible")] = 0.0,
    port: Annotated[int | None, typer.Option(help="port of the pages (default 8080, or a free one)")] = None,
    once: Annotated[bool, typer.Option("--once", help="end when the days are over")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the summary as one JSON document")] = False,
) -> None:
    """Run the whole referee on recorded Hyperliquid days, with sample agents and pages."""
    from referee.demo.command import demo_command
    from referee.demo.run import Options

    with one_line_errors():
        options = Options(days=days, seed=seed, pace_s=pace, port=port)
        raise typer.Exit(demo_command(read_settings(), options, once=once, as_json=as_json))


@app.command()
def worker(
    role: Annotated[str, typer.Option(help="engine (decides) or sink (carries the bus to ClickHouse)")] = "engine",
    create: Annotated[bool, typer.Option(help="create missing topics first")] = True,
) -> None:
    """Run the agents of a role until told to stop."""
    from referee.logs import configure_logs
    from referee.worker import run_worker

    with one_line_errors():
        if role not in ("engine", "sink"):
            raise CommandError(f"role is {role!r}; it must be engine or sink")
        settings = read_settings()
        required(settings.kafka, "REFEREE_KAFKA")
        if role == "sink":
            required(settings.clickhouse, "REFEREE_CLICKHOUSE")
        configure_logs()
        raise typer.Exit(asyncio.run(run_worker(settings, "engine" if role == "engine" else "sink", create=create)))


@app.command()
def feed(create: Annotated[bool, typer.Option(help="create missing topics first")] = True) -> None:
    """Follow the live venue: candles, funding, listings and the clock's ticks onto the bus, until told to stop."""
    from referee.feed_process import run_feed
    from referee.logs import configure_logs

    with one_line_errors(quiet=True):
        settings = read_settings()
        required(settings.kafka, "REFEREE_KAFKA")
        configure_logs()
        asyncio.run(run_feed(settings, create=create))


@app.command()
def dashboard(
    host: Annotated[str | None, typer.Option(help="address to listen on (default 127.0.0.1)")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="port (default 8080)")] = None,
) -> None:
    """Serve the pages; they read ClickHouse only."""
    from sinks.dashboard.app import run

    with one_line_errors():
        settings = read_settings()
        url = required(settings.clickhouse, "REFEREE_CLICKHOUSE")
        run(url, host or settings.host, settings.port if port is None else port, settings.database)


@app.command()
def serve(
    kind: Annotated[str, typer.Argument(help="kafka, clickhouse or redis")],
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="loopback port (default: a free one)")] = None,
    data: Annotated[Path | None, typer.Option(help="data directory (default: a temporary one)")] = None,
) -> None:
    """Run one embedded server alone and print its URL as JSON when it is ready."""
    from referee.serve import KINDS
    from referee.serve import serve as serve_kind

    with one_line_errors():
        if kind not in KINDS:
            raise CommandError(f"kind is {kind!r}; it must be one of {', '.join(KINDS)}")
        serve_kind(kind, port, data)


@app.command()
def publish(
    kind: Annotated[str, typer.Argument(help="what is asked, such as floor.register, floor.call, arena.commit")],
    body: Annotated[Path, typer.Argument(help="JSON file with the request's body")],
    key_file: Annotated[Path, typer.Option(help="file with the wallet's private key, 0x and 64 hex digits")],
    wait: Annotated[bool, typer.Option("--wait", help="wait for the receipt; exit code 1 when rejected")] = False,
    within: Annotated[float, typer.Option(min=0.1, help="seconds to wait for the receipt")] = 30.0,
    as_json: AsJson = False,
) -> None:
    """Sign a request with a wallet's key and send it to the ingress."""
    from referee.publish_command import publish_command

    with one_line_errors(quiet=True):
        wait_s = within if wait else None
        raise typer.Exit(publish_command(read_settings(), kind, body, key_file, wait_s=wait_s, as_json=as_json))


@app.command()
def evidence(
    call: Annotated[str, typer.Argument(help="id of a settled call, or its beginning")],
    out: Annotated[Path | None, typer.Option(help="file to write the bundle to (default: standard output)")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="say in JSON what was written with --out")] = False,
) -> None:
    """Write all that one settlement rests on, raw venue answers included, as a bundle for `referee verify`."""
    from referee.evidence_command import evidence_command

    with one_line_errors(quiet=True):
        evidence_command(read_settings(), call, out, as_json=as_json)


@app.command()
def verify(bundles: Annotated[list[str], typer.Argument(help="bundle files, or folders of them")]) -> None:
    """Recompute evidence bundles offline and compare them with what they expect.

    Exit code 0 when all match, 1 when one differs, 2 when one is malformed or contradicts itself.
    """
    from referee.verify import verify_command

    raise typer.Exit(verify_command(bundles))


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say what is reachable and how old the newest data is; exit code 1 when something cannot be reached."""
    from referee.doctor import doctor_command

    with one_line_errors(quiet=True):
        raise typer.Exit(doctor_command(read_settings(), as_json=as_json))


@topics_app.command("create")
def topics_create(
    stepped: Annotated[bool, typer.Option("--stepped", help="for simulated time: stamped by who sends")] = False,
    as_json: AsJson = False,
) -> None:
    """Create every topic and changelog that is missing."""
    from referee.topics_command import create_command

    with one_line_errors(quiet=True):
        settings = read_settings()
        required(settings.kafka, "REFEREE_KAFKA")
        create_command(settings, stepped=stepped, as_json=as_json)


@topics_app.command("describe")
def topics_describe(as_json: AsJson = False) -> None:
    """Name every topic with its key, partitions, retention and writers."""
    from referee.topics_command import describe_command

    with one_line_errors(quiet=True):
        describe_command(read_settings(), as_json=as_json)


def main() -> None:
    """Run the command line."""
    app()
