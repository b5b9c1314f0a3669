"""A sink that is away is waited for; one that refuses is not."""

import pytest

from sinks.errors import PermanentSinkError, RetriableSinkError
from sinks.retry import FIRST_PAUSE_S, LONGEST_PAUSE_S, patiently


class Flaky:
    """Work that fails a number of times before it is done."""

    def __init__(self, failures: int, error: Exception) -> None:
        self.failures = failures
        self.error = error
        self.done = 0
        self.pauses: list[float] = []

    async def work(self) -> None:
        if self.failures:
            self.failures -= 1
            raise self.error
        self.done += 1

    async def pause(self, pause_s: float) -> None:
        self.pauses.append(pause_s)


async def test_work_is_repeated_with_growing_bounded_pauses_until_the_sink_is_back() -> None:
    flaky = Flaky(9, RetriableSinkError("connection refused"))
    await patiently(flaky.work, pause=flaky.pause)
    assert flaky.done == 1
    assert flaky.pauses[0] == FIRST_PAUSE_S
    assert flaky.pauses == sorted(flaky.pauses)
    assert flaky.pauses[-1] == LONGEST_PAUSE_S


async def test_a_permanent_error_is_raised_at_once() -> None:
    flaky = Flaky(1, PermanentSinkError("no such column"))
    with pytest.raises(PermanentSinkError):
        await patiently(flaky.work, pause=flaky.pause)
    assert flaky.pauses == []
