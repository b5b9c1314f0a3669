"""Random open records with holes in their candles, hidden predictions and coins nobody lists."""

from dataclasses import dataclass, replace
from random import Random

from hypothesis import strategies as st

from rules.arena.contract import entry_at
from rules.arena.open_record import OpenResult, score_open
from rules.arena.types import Candle, CoinRows, Commit, Funding, OpenRecord, Reveal

START_S = 1_749_340_800
HOUR_S = 3600
DAY_S = 86_400
LISTED = ["BTC", "ETH", "kPEPE"]
NAMES = ["BTC", "eth", "KPEPE", "NOPE"]


@dataclass(frozen=True)
class Example:
    """What `score_open` takes."""

    record: OpenRecord
    commits: list[Commit]
    reveals: list[Reveal]
    market: dict[str, CoinRows]
    as_of_s: int

    def settle(self) -> OpenResult:
        """Score the record as of its moment."""
        return score_open(self.record, self.commits, self.reveals, self.market, LISTED, self.as_of_s)

    def shuffled(self, seed: int) -> "Example":
        """Return the same facts in another order of arrival."""
        random = Random(seed)
        return replace(
            self,
            commits=random.sample(self.commits, len(self.commits)),
            reveals=random.sample(self.reveals, len(self.reveals)),
            market=dict(random.sample(sorted(self.market.items()), len(self.market))),
        )


def candles(random: Random, step_s: int, from_s: int, to_s: int) -> list[Candle]:
    """Return a random walk with about one candle in twenty missing."""
    rows = []
    price = random.uniform(0.5, 50_000)
    for time_s in range(from_s, to_s, step_s):
        close = price * random.uniform(0.99, 1.01)
        if random.random() > 0.05:
            rows.append(Candle(time_s, price, max(price, close), min(price, close), close))
        price = close
    return rows


def funding(random: Random, from_s: int, to_s: int) -> list[Funding]:
    """Return hourly rates of either sign."""
    return [Funding(time_s, random.uniform(-1e-4, 1e-4)) for time_s in range(from_s, to_s, HOUR_S)]


@st.composite
def examples(draw: st.DrawFn) -> Example:
    """Draw a record of up to 12 predictions over two days, as of up to twelve days after it began."""
    random = Random(draw(st.integers(0, 2**32)))
    coins = draw(st.none() | st.just(tuple(NAMES)))
    record = OpenRecord(1, "0x" + "11" * 20, coins, 300, 2_592_000, START_S)
    commits: list[Commit] = []
    reveals: list[Reveal] = []
    for call_id in range(draw(st.integers(0, 12))):
        locked_at_s = START_S + random.randrange(2 * DAY_S)
        horizon_s = random.choice([300, 1800, 3600, 3660, 7200, DAY_S])
        commit = Commit(call_id, bytes(32), locked_at_s, entry_at(locked_at_s), horizon_s, call_id)
        commits.append(commit)
        if random.random() < 0.8:
            place = random.randrange(len(NAMES))
            coin: str | int = NAMES[place] if coins is None else place
            at_s = commit.entry_at_s + horizon_s + random.randrange(DAY_S)
            reveals.append(Reveal(call_id, at_s, random.choice([1, -1]), coin, bytes(32)))
    span = (START_S - 3 * DAY_S, START_S + 4 * DAY_S)
    market = {
        coin: CoinRows(candles(random, HOUR_S, *span), candles(random, 300, *span), funding(random, *span))
        for coin in LISTED
    }
    return Example(record, commits, reveals, market, START_S + draw(st.integers(0, 12 * DAY_S)))
