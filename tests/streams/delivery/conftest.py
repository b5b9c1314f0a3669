"""A real broker for the tests of the delivery layer."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.embedded.kafka import kafka
from referee.embedded.server import EmbeddedServer
from streams.app import Bus

_numbers = itertools.count()


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an embedded broker."""
    server = EmbeddedServer(kafka(), tmp_path_factory.mktemp("kafka"))
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


@pytest.fixture
def bus(bootstrap: str, tmp_path: Path) -> Bus:
    """Return a bus of the test's own on the module's broker."""
    return Bus(bootstrap, prefix=f"t{next(_numbers)}.", idempotent=False, fetch_max_wait_ms=5, exact_ends=False)
