"""Keeps each agent's Standing as its calls settle (Rule F9)."""

from dataclasses import asdict, dataclass, field, replace

import orjson
from aiokafka.structs import ConsumerRecord

from rules.floor.standing import StandingSum
from streams.delivery.outbox import Outbox
from streams.delivery.pending import Order, Pending
from streams.delivery.reducer import AgentSpec, Reducer
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from topics.floor import Settlement, Standing
from topics.registry import RESULTS, STANDINGS

PENDING = "pending/"
AGENT = "agent/"
COUNTED = "counted/"


@dataclass(frozen=True, slots=True)
class Account:
    """One agent's sum, and its voids, which Standing leaves out."""

    total: StandingSum = field(default_factory=StandingSum)
    voids: int = 0

    def encode(self) -> bytes:
        """Return the account as the state holds it."""
        return orjson.dumps({"total": asdict(self.total), "voids": self.voids})

    @classmethod
    def decode(cls, raw: bytes) -> "Account":
        """Return the account that `encode` wrote."""
        fields = orjson.loads(raw)
        return cls(StandingSum(**fields["total"]), fields["voids"])

    def settle(self, settlement: Settlement) -> "Account":
        """Take in a settlement; a void counts apart. Rule F9."""
        if settlement.score is None or settlement.status == "void":
            return replace(self, voids=self.voids + 1)
        hit = settlement.status == "hit"
        return replace(self, total=self.total.add(settlement.score, settlement.p, hit, settlement.settled_at))


def settled_order(settlement: Settlement) -> Order:
    """Return the order in which settlements are taken in."""
    return settlement.settled_at, settlement.call, settlement.attempt


class StandingReducer(Reducer):
    """The accounts of one partition's agents.

    Settlements are taken in by (`settled_at`, call) once the watermark has passed them, so sums do not depend on the
    order of arrival. Each call counts once: a repeat is known by its call, whenever it comes.
    """

    def __init__(self, state: PartitionState) -> None:
        super().__init__(state)
        self._pending = Pending(state, PENDING, Settlement, settled_order)

    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Let a settlement wait for its turn."""
        self._pending.add(Settlement.decode(record.value))

    async def advance(self, watermarks: WatermarkTracker, out: Outbox) -> int | None:
        """Count what the watermark has passed, and emit the Standing after each."""
        watermark = watermarks.current()
        if watermark is not None:
            for settlement in self._pending.pop_before(watermark):
                self._count(settlement, out)
        return watermark

    def _count(self, settlement: Settlement, out: Outbox) -> None:
        if self.state.get(COUNTED + settlement.call) is not None:
            return
        self.state.put(COUNTED + settlement.call, settlement.id.encode())
        key = AGENT + settlement.agent
        known = self.state.get(key)
        account = (Account() if known is None else Account.decode(known)).settle(settlement)
        self.state.put(key, account.encode())
        # a settlement from behind the watermark still counts; the sum cannot look back to its time
        at_ms = max(settlement.settled_at, account.total.as_of_ms)
        standing = Standing(
            agent=settlement.agent,
            operator=settlement.operator,
            at=at_ms,
            standing=account.total.at(at_ms),
            settled=account.total.settled,
            voids=account.voids,
            brier=account.total.brier,
            provisional=account.total.provisional,
        )
        out.emit(STANDINGS, settlement.agent, standing, at_ms)


def spec() -> AgentSpec:
    """Return the agent that turns `floor.results` into `floor.standings`."""
    return AgentSpec(name="standing", inputs=(RESULTS,), outputs=(STANDINGS,), reducer=StandingReducer)
