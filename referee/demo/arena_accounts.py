"""The Arena's sample accounts: five habits, a sealed prediction every two hours, revealed minutes after its exit."""

import hashlib
from dataclasses import dataclass
from random import Random

from eth_account import Account
from eth_hash.auto import keccak

from referee.demo.floor_agents import Draft, private_key
from referee.demo.habits import HABITS, Habit
from referee.demo.market import MarketViews
from rules.arena.commitment import Deployment, symbol_hash
from rules.arena.contract import entry_at
from rules.market import HOUR_MS, MINUTE_MS, SECOND_MS

COINS = ("BTC", "ETH", "SOL", "HYPE", "FARTCOIN")
EVERY_MS = 2 * HOUR_MS
HORIZONS_S = (1_800, 3_600, 7_200, 10_800, 14_400)


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a commit hides until its reveal."""

    call_id: int
    coin: str
    side: int
    horizon_s: int
    salt: bytes
    reveal_ms: int


class ArenaAccount:
    """One account with its any-coin record."""

    def __init__(self, seed: int, habit: Habit, deployment: Deployment, views: MarketViews) -> None:
        self.name = f"arena-{habit.name}"
        self.private_key = private_key(seed, self.name)
        self.address = str(Account.from_key(self.private_key).address).lower()
        self._seed = seed
        self._habit = habit
        self._deployment = deployment
        self._views = views
        self._hidden: list[Hidden] = []
        self._count = 0
        self._next_ms = 0

    def start(self, start_ms: int) -> None:
        """Take up predicting at a moment within the first two hours."""
        self._next_ms = start_ms + Random(f"{self._seed}/{self.name}").randrange(MINUTE_MS, EVERY_MS)

    async def drafts(self, seen_ms: int, before_ms: int) -> list[Draft]:
        """Return the commits and reveals sent before `before_ms`."""
        drafts: list[Draft] = []
        while self._next_ms < before_ms:
            drafts.append(await self._commit(seen_ms, self._next_ms))
            self._next_ms += EVERY_MS
        due = [hidden for hidden in self._hidden if hidden.reveal_ms < before_ms]
        self._hidden = [hidden for hidden in self._hidden if hidden.reveal_ms >= before_ms]
        return drafts + [self._reveal(hidden) for hidden in due]

    async def _commit(self, seen_ms: int, at_ms: int) -> Draft:
        rng = Random(f"{self._seed}/{self.name}/{self._count}")
        coin = rng.choice(COINS)
        view = await self._views.of(coin, seen_ms)
        side = 1 if self._habit.up(rng, view.move) else -1
        horizon_s = rng.choice(HORIZONS_S)
        salt = hashlib.sha256(f"{self.private_key}/{self._count}".encode()).digest()
        call_hash = symbol_hash(keccak, self._deployment, self.address, self._count, coin, side, horizon_s, salt)
        exit_s = entry_at(at_ms // SECOND_MS) + horizon_s
        reveal_ms = exit_s * SECOND_MS + rng.randrange(MINUTE_MS, 10 * MINUTE_MS)
        self._hidden.append(Hidden(self._count, coin, side, horizon_s, salt, reveal_ms))
        body: dict[str, object] = {
            "record": None,
            "hash": "0x" + call_hash.hex(),
            "horizon_s": horizon_s,
            "nonce": self._count,
        }
        self._count += 1
        return Draft(at_ms, self.address, self.private_key, "arena.commit", body)

    def _reveal(self, hidden: Hidden) -> Draft:
        body: dict[str, object] = {
            "record": None,
            "call_id": hidden.call_id,
            "coin": hidden.coin,
            "side": hidden.side,
            "horizon_s": hidden.horizon_s,
            "salt": "0x" + hidden.salt.hex(),
        }
        return Draft(hidden.reveal_ms, self.address, self.private_key, "arena.reveal", body)


def accounts(seed: int, deployment: Deployment, views: MarketViews) -> list[ArenaAccount]:
    """Return one account of each habit."""
    return [ArenaAccount(seed, habit, deployment, views) for habit in HABITS.values()]
