"""The Floor's sample agents: eight of each habit, each posting six signed calls a day, as many as Rule F1 allows."""

import hashlib
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Literal

from referee.demo.habits import HABITS, Habit
from referee.demo.market import MarketViews, View
from rules.canonical import number_text
from rules.floor.baseline import Calibration, baseline
from rules.floor.constants import DAILY_CAP
from rules.floor.terms import Close, Range, Touch
from rules.market import DAY_MS, FIVE_MINUTES_MS, HOUR_MS, MINUTE_MS

AGENTS_A_HABIT = 8
SLOT_MS = DAY_MS // DAILY_CAP
HORIZONS_MS = (HOUR_MS, 90 * MINUTE_MS, 2 * HOUR_MS, 3 * HOUR_MS)
KINDS = ("touch", "close", "range")


def private_key(seed: int, name: str) -> str:
    """Return the key of a sample agent: a function of the demo's seed and the agent's name."""
    return "0x" + hashlib.sha256(f"referee demo {seed} {name}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Draft:
    """An envelope to be signed: who sends what when; `key` is the record's key."""

    at_ms: int
    key: str
    private_key: str
    kind: str
    body: dict[str, object]


@dataclass(frozen=True, slots=True)
class Slot:
    """A post that an agent will make, before it has looked at the market."""

    at_ms: int
    coin: str
    kind: str
    horizon_ms: int


class FloorAgent:
    """One sample agent: its name, key and habit."""

    def __init__(self, seed: int, habit: Habit, number: int) -> None:
        self.name = f"{habit.name}-{number}"
        self.operator = f"desk-{number}"
        self.habit = habit
        self.private_key = private_key(seed, self.name)
        self._seed = seed
        self._number = number

    def registration(self, at_ms: int) -> Draft:
        """Return the envelope that binds the agent's id to its wallet."""
        body: dict[str, object] = {"agent": self.name, "operator": self.operator}
        return Draft(at_ms, self.name, self.private_key, "floor.register", body)

    def day(self, day_ms: int) -> list[Slot]:
        """Return the day's posts: one in each four-hour slot, kinds in turn."""
        rng = Random(f"{self._seed}/{self.name}/{day_ms}")
        return [
            Slot(
                at_ms=day_ms + index * SLOT_MS + rng.randrange(MINUTE_MS, SLOT_MS - MINUTE_MS),
                coin=rng.choice(self.habit.coins),
                kind=KINDS[(index + self._number) % len(KINDS)],
                horizon_ms=rng.choice(HORIZONS_MS),
            )
            for index in range(DAILY_CAP)
        ]

    def draft(self, slot: Slot, view: View) -> Draft:
        """Return the call that the agent makes of a slot and what it sees."""
        rng = Random(f"{self._seed}/{self.name}/{slot.at_ms}")
        deadline_ms = -(-(slot.at_ms + slot.horizon_ms) // FIVE_MINUTES_MS) * FIVE_MINUTES_MS
        deviation = view.sigma * math.sqrt((deadline_ms - slot.at_ms) / HOUR_MS)
        reach = self.habit.reach * deviation * rng.uniform(0.6, 1.4)
        up = self.habit.up(rng, view.move)
        terms, claim = self._terms(slot, view.price, reach if up else -reach)
        moment = datetime.fromtimestamp(deadline_ms / 1000, UTC).strftime("%H:%M")
        estimate = baseline(terms, view.price, view.sigma, slot.at_ms, deadline_ms, Calibration())
        body: dict[str, object] = {
            "agent": self.name,
            "claim": f"{claim} {moment} UTC",
            "source": f"hyperliquid:{slot.coin}:price",
            "terms": terms.as_json(),
            "deadline": deadline_ms,
            "p": self.habit.opinion(rng, estimate),
            "invalidation": f"a {self.habit.name} call; void where the venue is silent",
        }
        return Draft(slot.at_ms, self.name, self.private_key, "floor.call", body)

    def _terms(self, slot: Slot, price: float, log_distance: float) -> tuple[Touch | Close | Range, str]:
        level = five_digits(price * math.exp(log_distance))
        if slot.kind == "touch":
            return Touch(level), f"{slot.coin} trades at {number_text(level)} before"
        if slot.kind == "close":
            direction: Literal["above", "below"] = "above" if log_distance > 0 else "below"
            return Close(level, direction), f"{slot.coin} closes {direction} {number_text(level)} at"
        width = abs(log_distance) + 1e-3
        low, high = five_digits(price * math.exp(-1.4 * width)), five_digits(price * math.exp(1.4 * width))
        edges = f"{number_text(low)} and {number_text(high)}"
        return Range(low, high), f"{slot.coin} stays between {edges} until"


def five_digits(price: float) -> float:
    """Return a price with five significant digits, as the venue quotes it."""
    return float(f"{price:.5g}")


class FloorDesk:
    """All sample agents of the Floor and what they will post."""

    def __init__(self, seed: int, views: MarketViews) -> None:
        self.agents = [
            FloorAgent(seed, habit, number) for habit in HABITS.values() for number in range(1, AGENTS_A_HABIT + 1)
        ]
        self._views = views
        self._slots: list[tuple[Slot, FloorAgent]] = []

    def start(self, start_ms: int, end_ms: int) -> list[Draft]:
        """Plan the days and return the registrations, a millisecond apart."""
        days = range(start_ms // DAY_MS * DAY_MS, end_ms, DAY_MS)
        self._slots = sorted(
            (
                (slot, agent)
                for agent in self.agents
                for day_ms in days
                for slot in agent.day(day_ms)
                if start_ms + MINUTE_MS <= slot.at_ms < end_ms
            ),
            key=lambda planned: (planned[0].at_ms, planned[1].name),
            reverse=True,
        )
        return [agent.registration(start_ms + 1 + index) for index, agent in enumerate(self.agents)]

    async def drafts(self, seen_ms: int, before_ms: int) -> list[Draft]:
        """Return the posts made before `before_ms` by agents who know the market up to `seen_ms`."""
        drafts: list[Draft] = []
        while self._slots and self._slots[-1][0].at_ms < before_ms:
            slot, agent = self._slots.pop()
            drafts.append(agent.draft(slot, await self._views.of(slot.coin, seen_ms)))
        return drafts
