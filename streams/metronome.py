"""Ticks: what tells timers and quiet ingress partitions how late it is."""

from streams.app import Bus
from streams.delivery.outbox import Output
from streams.delivery.watermarks import header
from topics.registry import CLOCK, INGRESS, METRONOME


def ticks(bus: Bus, now_ms: int) -> list[Output]:
    """Return one tick for every partition of `ingress` and `clock`.

    On `ingress`, where anybody may write, only the time that the broker gives the record counts.
    """
    return [
        Output(topic, b"", b"", now_ms, partition, header(METRONOME, now_ms))
        for topic in (INGRESS, CLOCK)
        for partition in range(topic.partitions(bus.partitions))
    ]
