"""The command line."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from referee.settings import Settings

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Settle what AI agents predict about markets, from the venue's own numbers.",
)


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

    options = Options(days=days, seed=seed, pace_s=pace, port=port)
    raise typer.Exit(demo_command(Settings(), options, once=once, as_json=as_json))


@app.command()
def worker(
    role: Annotated[str, typer.Option(help="engine (decides) or sink (carries the bus to ClickHouse)")] = "engine",
    create: Annotated[bool, typer.Option(help="create missing topics first")] = True,
) -> None:
    """Run the agents of a role until told to stop."""
    from referee.logs import configure_logs
    from referee.worker import run_worker

    configure_logs()
    if role == "engine":
        raise typer.Exit(asyncio.run(run_worker(Settings(), "engine", create=create)))
    if role == "sink":
        raise typer.Exit(asyncio.run(run_worker(Settings(), "sink", create=create)))
    raise typer.BadParameter(f"role is {role!r}; it must be engine or sink")


@app.command()
def dashboard(
    host: Annotated[str | None, typer.Option(help="address to listen on (default 127.0.0.1)")] = None,
    port: Annotated[int | None, typer.Option(help="port (default 8080)")] = None,
) -> None:
    """Serve the pages; they read ClickHouse only."""
    from sinks.dashboard.app import run

    settings = Settings()
    if settings.clickhouse is None:
        raise typer.BadParameter("REFEREE_CLICKHOUSE is not set")
    run(settings.clickhouse, host or settings.host, settings.port if port is None else port, settings.database)


@app.command()
def serve(
    kind: Annotated[str, typer.Argument(help="kafka, clickhouse or redis")],
    port: Annotated[int | None, typer.Option(help="loopback port (default: a free one)")] = None,
    data: Annotated[Path | None, typer.Option(help="data directory (default: a temporary one)")] = None,
) -> None:
    """Run one embedded server alone and print its URL as JSON when it is ready."""
    from referee.embedded.process import ServerFailedError
    from referee.serve import KINDS
    from referee.serve import serve as serve_kind

    if kind not in KINDS:
        raise typer.BadParameter(f"kind is {kind!r}; it must be one of {', '.join(KINDS)}")
    try:
        serve_kind(kind, port, data)
    except ServerFailedError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


@app.command()
def verify(bundles: Annotated[list[str], typer.Argument(help="bundle files, or folders of them")]) -> None:
    """Recompute evidence bundles offline and compare them with what they expect."""
    from referee.verify import verify_command

    raise typer.Exit(verify_command(bundles))


def main() -> None:
    """Run the command line."""
    app()
