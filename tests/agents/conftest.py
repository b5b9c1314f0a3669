"""What the tests of all agents share."""

import pytest

from tests.agents.ingress_door import REGISTER, Door, receipt_of
from tests.agents.records import RecordMaker


@pytest.fixture
def make_record() -> RecordMaker:
    """Return a maker of records with offsets of the test's own."""
    return RecordMaker()


@pytest.fixture
def door() -> Door:
    """Return an ingress that knows nobody."""
    return Door()


@pytest.fixture
def open_door(door: Door) -> Door:
    """Return an ingress that knows the agent `ann`."""
    assert receipt_of(door.ask("floor.register", REGISTER)).status == "accepted"
    return door
