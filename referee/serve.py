"""One embedded server alone, in the foreground: ``python -m referee.serve kafka|clickhouse|redis``."""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from referee.embedded.clickhouse import clickhouse
from referee.embedded.kafka import kafka
from referee.embedded.process import ServerFailedError
from referee.embedded.redis import redis
from referee.embedded.server import EmbeddedServer, ServerKind

KINDS: Final[Mapping[str, Callable[[], ServerKind]]] = {"kafka": kafka, "clickhouse": clickhouse, "redis": redis}


def serve(kind: str, port: int | None = None, data: Path | None = None) -> None:
    """Run one server until SIGINT or SIGTERM, printing ``{"url": …}`` on one line when it is ready.

    Without a port a free one is taken; without a directory the data goes with the server.
    Raise ValueError for an unknown kind, ServerFailedError when the server cannot start or ends by itself.
    """
    if kind not in KINDS:
        raise ValueError(f"server {kind!r} is unknown (known: {', '.join(KINDS)})")
    before = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        if data is not None:
            _run(EmbeddedServer(KINDS[kind](), data, port))
        else:
            with tempfile.TemporaryDirectory(prefix="referee-") as directory:
                _run(EmbeddedServer(KINDS[kind](), Path(directory), port))
    except KeyboardInterrupt:
        return
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main() -> None:
    """Serve from the command line; end with one line on stderr and exit code 1 when the server fails."""
    parser = argparse.ArgumentParser(prog="referee.serve", description="Run one embedded server on loopback")
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("--port", type=int, default=None, help="loopback port (default: a free one)")
    parser.add_argument("--data", type=Path, default=None, help="data directory (default: a temporary one)")
    arguments = parser.parse_args()
    try:
        serve(arguments.kind, arguments.port, arguments.data)
    except ServerFailedError as error:
        sys.exit(str(error))


def _run(server: EmbeddedServer) -> None:
    try:
        server.start()
        print(json.dumps({"url": server.url}), flush=True)
        server.process.wait_end()
        raise ServerFailedError(server.process.reason_of_end())
    finally:
        server.stop()


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
