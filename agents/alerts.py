"""Raises an alert for every void and every dead letter, on the topic and by a notifier."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import structlog
from aiokafka.structs import ConsumerRecord

from streams.delivery.outbox import Outbox
from streams.delivery.reducer import AgentSpec, Reducer
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from topics.floor import Settlement
from topics.operations import Alert, DeadLetter, Severity
from topics.registry import ALERTS, DEAD_LETTERS, SETTLEMENTS

NOTIFY_LIMIT_S = 10.0
"""How long one advance waits for the notifier: a webhook that is down delays alerts by this much, and nothing else."""

Notify = Callable[[bytes], Awaitable[None]]

VOID_REASONS: dict[str, tuple[Severity, str]] = {
    "delisted": ("warning", "the venue does not list its symbol for the whole window"),
    "venue_halt": ("warning", "the whole venue stood still for more than ten minutes inside its window"),
    "data_gap": ("warning", "its source has a hole inside its window while the venue went on"),
    "tie": ("info", "both symbols moved by exactly the same ratio"),
    "venues_disagree": ("warning", "the second venue's price stayed more than half a percent away for an hour"),
    "source_unavailable": ("critical", "a venue did not answer for an hour; calls due now may end the same way"),
}
UNKNOWN_REASON: tuple[Severity, str] = ("critical", "its reason is new to this version, see its settlement")

log = structlog.get_logger(__name__)


def alert_id(kind: str, cause: str) -> str:
    """Return the id of the one alert that a cause has: the sha256, in hex, of kind and id of the cause."""
    return hashlib.sha256(f"{kind}:{cause}".encode()).hexdigest()


def void_alert(settlement: Settlement) -> Alert:
    """Return the alert of a void; its text holds nothing that an agent wrote. Rules F8, F15."""
    severity, because = VOID_REASONS.get(settlement.reason or "", UNKNOWN_REASON)
    deadline = datetime.fromtimestamp(settlement.deadline / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Alert(
        id=alert_id("void", settlement.id),
        kind="void",
        severity=severity,
        subject=settlement.call,
        coin=settlement.coin,
        agent=settlement.agent,
        reason=settlement.reason,
        text=f"A {settlement.kind} call that was due at {deadline} is void: {because}.",
        at=settlement.settled_at,
    )


def dead_letter_alert(letter: DeadLetter) -> Alert:
    """Return the alert of a record that could not be processed; its detail, which may quote an agent, stays out."""
    return Alert(
        id=alert_id("dead_letter", letter.id),
        kind="dead_letter",
        severity="critical",
        subject=letter.topic,
        coin=None,
        agent=None,
        reason=letter.cause,
        text=f"The agent {letter.agent} could not process the record at offset {letter.offset} of partition"
        f" {letter.partition} of {letter.topic}; its bytes are in the dead letters.",
        at=letter.at,
    )


class AlertsReducer(Reducer):
    """Alerts of one partition; without a state, since a repeat has the same id wherever it goes.

    What is promised: an alert is on the topic before its cause counts as consumed, so topic and page have all of them.
    The notifier is tried at least once for each before that, within `NOTIFY_LIMIT_S` for all of one advance; after a
    crash it is tried again with the same bytes. It is not tried later: what failed is logged with the alert's id.
    Settlements wait for none of it, since nothing reads what this agent writes but sinks.
    """

    def __init__(self, state: PartitionState, notify: Notify | None, limit_s: float = NOTIFY_LIMIT_S) -> None:
        super().__init__(state)
        self._notify = notify
        self._limit_s = limit_s
        self._due: list[Alert] = []

    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Emit the alert of a void or a dead letter."""
        if record.topic.endswith(DEAD_LETTERS.name):
            self._raise(dead_letter_alert(DeadLetter.decode(record.value)), out)
            return
        settlement = Settlement.decode(record.value)
        if settlement.status == "void":
            self._raise(void_alert(settlement), out)

    async def advance(self, watermarks: WatermarkTracker, out: Outbox) -> int | None:
        """Hand the new alerts to the notifier, all at once."""
        due, self._due = self._due, []
        if self._notify is not None and due:
            await asyncio.gather(*(self._try_to_notify(self._notify, alert) for alert in due))
        return watermarks.current()

    def _raise(self, alert: Alert, out: Outbox) -> None:
        out.emit(ALERTS, alert.subject, alert, alert.at)
        self._due.append(alert)

    async def _try_to_notify(self, notify: Notify, alert: Alert) -> None:
        try:
            async with asyncio.timeout(self._limit_s):
                await notify(alert.encode())
        except TimeoutError:
            log.warning("alert_not_notified", alert=alert.id, error=f"timed out, limit {self._limit_s} s")
        except Exception as error:  # noqa: BLE001 - whatever the notifier's fault is, the alert itself must go out
            log.warning("alert_not_notified", alert=alert.id, error=str(error))


def spec(notify: Notify | None = None) -> AgentSpec:
    """Return the agent that reads voids and dead letters; `notify` gets each alert's JSON and may raise anything."""
    return AgentSpec(
        name="alerts",
        inputs=(SETTLEMENTS, DEAD_LETTERS),
        outputs=(ALERTS,),
        reducer=lambda state: AlertsReducer(state, notify),
        keeps_state=False,
    )
