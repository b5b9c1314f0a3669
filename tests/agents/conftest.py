"""What the tests of all agents share."""

import pytest

from tests.agents.records import RecordMaker


@pytest.fixture
def make_record() -> RecordMaker:
    """Return a maker of records with offsets of the test's own."""
    return RecordMaker()
