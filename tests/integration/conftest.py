"""A real broker and real worker processes for the tests of the whole."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.embedded.kafka import kafka
from referee.embedded.server import EmbeddedServer


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """Return a running embedded broker."""
    server = EmbeddedServer(kafka(), tmp_path_factory.mktemp("kafka"))
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Return the directory of a test's logs."""
    return tmp_path / "logs"
