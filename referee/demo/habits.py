"""Five ways to predict: which side a sample agent takes, how far its levels stand and how it sets its probability."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from rules.floor.constants import PROBABILITY_MAX, PROBABILITY_MIN

SLIP_RATE = 0.05


@dataclass(frozen=True, slots=True)
class Habit:
    """How an agent with this habit acts.

    `up` picks the side from the recent move; `reach` scales how far levels stand, in σ√T; `opinion` turns the agent's
    own estimate of the baseline into its probability.
    """

    name: str
    coins: tuple[str, ...]
    up: Callable[[Random, float], bool]
    reach: float
    opinion: Callable[[Random, float], float]


def shifted(estimate: float, logits: float) -> float:
    """Return a probability moved by so many logits, within what a call may state (Rule F1), to three decimals."""
    held = min(max(estimate, 0.01), 0.99)
    moved = 1 / (1 + math.exp(-(math.log(held / (1 - held)) + logits)))
    return round(min(max(moved, PROBABILITY_MIN), PROBABILITY_MAX), 3)


def noisy(rng: Random, estimate: float) -> float:
    """Return any opinion around the estimate, and now and then one that Rule F1 refuses."""
    return 0.99 if rng.random() < SLIP_RATE else shifted(estimate, rng.gauss(0, 1.0))


MAJORS = ("BTC", "ETH", "SOL")

HABITS: Mapping[str, Habit] = {
    habit.name: habit
    for habit in (
        Habit("momentum", MAJORS, lambda _, move: move >= 0, 0.7, lambda _, b: shifted(b, 0.35)),
        Habit("reversal", MAJORS, lambda _, move: move < 0, 0.8, lambda _, b: shifted(b, 0.25)),
        Habit(
            "baseline", MAJORS, lambda rng, _: rng.random() < 0.5, 1.0, lambda rng, b: shifted(b, rng.gauss(0, 0.08))
        ),
        Habit(
            "bold", ("BTC", "ETH", "SOL", "HYPE"), lambda rng, _: rng.random() < 0.5, 0.5, lambda _, b: shifted(b, 1.2)
        ),
        Habit("noise", MAJORS, lambda rng, _: rng.random() < 0.5, 1.2, noisy),
    )
}
