"""Standing: scores that halve every 30 days, as a plain sum and kept incrementally (Rule F9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rules.floor.constants import HALF_LIFE_MS, RANKED_SETTLED_MIN


def decay(age_ms: int) -> float:
    """Return the weight of a score settled `age_ms` ago. Rule F9."""
    return float(0.5 ** (age_ms / HALF_LIFE_MS))


def plain_standing(settled: Iterable[tuple[float, int]], now_ms: int) -> float:
    """Sum (score, settled_at in ms) pairs in their order, decayed to `now_ms`, without later ones. Rule F9."""
    total = 0.0
    for score, settled_at_ms in settled:
        if settled_at_ms <= now_ms:
            total += score * decay(now_ms - settled_at_ms)
    return total


def is_provisional(settled_count: int) -> bool:
    """Tell whether an agent with so many settled calls (no voids, hidden ones too) is not ranked yet. Rule F9."""
    return settled_count < RANKED_SETTLED_MIN


@dataclass(frozen=True, slots=True)
class StandingSum:
    """An agent's Standing as of its last settlement, kept without its history.

    `lost` carries the rounding errors of the sum, so that many additions agree with the plain sum.
    """

    value: float = 0.0
    as_of_ms: int = 0
    settled: int = 0
    squared_errors: float = 0.0
    lost: float = 0.0

    def add(self, score: float, p: float, hit: bool, settled_at_ms: int) -> StandingSum:
        """Take in a non-void settlement; one older than the last is decayed to it. Rule F9."""
        error = (p - (1.0 if hit else 0.0)) ** 2
        return self._shift(score, settled_at_ms, 1, error)

    def remove(self, score: float, p: float, hit: bool, settled_at_ms: int) -> StandingSum:
        """Take out a settlement that was added, as a correction does before it adds the new one. Rule F11."""
        error = (p - (1.0 if hit else 0.0)) ** 2
        return self._shift(-score, settled_at_ms, -1, -error)

    def at(self, now_ms: int) -> float:
        """Return Standing at a time; raises ValueError before the last settlement taken in. Rule F9."""
        if now_ms < self.as_of_ms:
            raise ValueError(f"now_ms is {now_ms}; the sum is as of {self.as_of_ms} and cannot look back")
        return (self.value + self.lost) * decay(now_ms - self.as_of_ms)

    @property
    def brier(self) -> float | None:
        """Return the mean of (p − h)² over settled calls, None without any. Rule F9."""
        return self.squared_errors / self.settled if self.settled else None

    @property
    def provisional(self) -> bool:
        """Tell whether the agent is not ranked yet. Rule F9."""
        return is_provisional(self.settled)

    def _shift(self, score: float, settled_at_ms: int, count: int, error: float) -> StandingSum:
        as_of_ms = max(self.as_of_ms, settled_at_ms)
        fade = decay(as_of_ms - self.as_of_ms)
        kept = self.value * fade
        added = score * decay(as_of_ms - settled_at_ms)
        total = kept + added
        rest = (kept - total) + added if abs(kept) >= abs(added) else (added - total) + kept
        return StandingSum(total, as_of_ms, self.settled + count, self.squared_errors + error, self.lost * fade + rest)
