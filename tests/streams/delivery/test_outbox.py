"""Tests of what a reducer wants to send."""

from streams.delivery.outbox import Outbox, Output
from topics.operations import Progress
from topics.registry import PROGRESS, RECEIPTS


def test_outputs_keep_the_order_and_the_event_time_of_their_emission() -> None:
    out = Outbox()
    message = Progress(origin="é", watermark=1, delivered=None)
    out.emit(PROGRESS, "é", message, 7)
    out.emit(RECEIPTS, "", message, -1)
    assert out.outputs == [
        Output(PROGRESS, "é".encode(), message.encode(), 7),
        Output(RECEIPTS, b"", message.encode(), -1),
    ]
    assert all(output.partition is None and not output.headers for output in out.outputs)
