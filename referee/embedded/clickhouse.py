"""ClickHouse, embedded: chDB behind ClickHouse's HTTP interface in a process of its own."""

import http.client
import os
import sys
from pathlib import Path
from typing import Final

import referee
from referee.embedded.ports import LOOPBACK
from referee.embedded.server import ServerKind

PROBE_TIMEOUT_S: Final = 1.0


def answers_http_ping(port: int) -> bool:
    """Tell whether ClickHouse's HTTP interface on this loopback port answers ``/ping``."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=PROBE_TIMEOUT_S)
    try:
        connection.request("GET", "/ping")
        return connection.getresponse().read() == b"Ok.\n"
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def clickhouse() -> ServerKind:
    """Describe the embedded ClickHouse server; its data outlives the process, also kill -9."""

    def command(port: int, data: Path) -> list[str]:
        module = "referee.embedded.clickhouse_server"
        return [sys.executable, "-m", module, "--port", str(port), "--data", str(data.resolve())]

    # The child must find this very package, also when it runs from a source tree.
    source = str(Path(next(iter(referee.__path__))).parent)
    return ServerKind(
        name="clickhouse",
        command=command,
        is_ready=answers_http_ping,
        url=lambda port: f"http://{LOOPBACK}:{port}",
        environment={"PYTHONPATH": os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))},
        stop_grace_s=8.0,
    )
