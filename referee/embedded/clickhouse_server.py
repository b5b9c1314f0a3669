"""The embedded ClickHouse server process: one owner of a data directory, one port on loopback."""

import argparse
import fcntl
import os
import signal
import socket
import sys
from pathlib import Path
from typing import IO, Final

import uvicorn

from referee.embedded.ports import LOOPBACK

LOCK_NAME: Final = "owner.lock"
STORE_NAME: Final = "chdb"
GRACEFUL_SHUTDOWN_S: Final = 2


class DirectoryOwnedError(RuntimeError):
    """Another process serves this data directory."""


def own_directory(data: Path) -> IO[str]:
    """Take the directory for this process while the returned file is open; raise DirectoryOwnedError."""
    data.mkdir(parents=True, exist_ok=True)
    lock = (data / LOCK_NAME).open("a+", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        owner = lock.read().strip() or "unknown"
        lock.close()
        raise DirectoryOwnedError(
            f"data directory {data} is in use by the ClickHouse server with process id {owner}: "
            "use its address, stop it, or give another directory"
        ) from None
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock


def listen(port: int) -> socket.socket:
    """Take the loopback port; raise OSError when it is taken."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((LOOPBACK, port))
    return server


def serve(port: int, data: Path) -> None:
    """Serve the directory until SIGTERM or SIGINT; raise DirectoryOwnedError or OSError before anything is opened."""
    with own_directory(data), listen(port) as server_socket:
        # Only the owner pays for loading the engine (550 MB on disk).
        from referee.embedded.clickhouse_engine import Engine
        from referee.embedded.clickhouse_http import ClickHouseApplication

        engine = Engine(data / STORE_NAME)
        config = uvicorn.Config(
            ClickHouseApplication(engine),
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACEFUL_SHUTDOWN_S,
        )
        # uvicorn raises the signal that ended it again afterwards: there is an engine to close then.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        uvicorn.Server(config).run(sockets=[server_socket])
        engine.close()
    sys.stdout.flush()
    # A statement that still runs holds its thread, and the interpreter would wait for it without limit.
    os._exit(0)


def main() -> None:
    """Run the server from the command line; end with one line on stderr when it cannot start."""
    parser = argparse.ArgumentParser(description="ClickHouse's HTTP interface over chDB, on loopback")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True)
    arguments = parser.parse_args()
    try:
        serve(arguments.port, arguments.data)
    except DirectoryOwnedError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"cannot listen on {LOOPBACK}:{arguments.port}: {os.strerror(error.errno or 0)}")


if __name__ == "__main__":
    main()
