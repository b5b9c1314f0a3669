"""The Floor recomputed in one pass over the posts: no stream, no table, every look-up in the recorded rows."""

import hashlib
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

import rfc8785

from rules.floor.baseline import Calibration, baseline
from rules.floor.call import CheckedCall, check_call, check_caps, check_shape
from rules.floor.labels import is_hugging
from rules.floor.refusal import Refusal
from rules.floor.settle import CallFacts, VenueReading, decide, score
from rules.floor.sources import SettleableList
from rules.floor.standing import plain_standing
from rules.floor.terms import Close, Range, Touch
from rules.floor.volatility import volatility
from rules.market import DAY_MS, FIVE_MINUTES_MS, HOUR_MS, MINUTE_MS, Candle
from tests.demo.envelopes import Request
from tests.demo.recorded import Recorded

Json = dict[str, Any]

GRACE_MS = 2 * MINUTE_MS
REFERENCES = ("BTC", "ETH", "SOL")
FINALITY_MS = DAY_MS


@dataclass
class Agent:
    """What a plain list remembers of an agent: its wallet, its calls and how each ended."""

    wallet: str
    operator: str
    calls: list[tuple[Json, Json]] = field(default_factory=list)

    def refuse_beyond_caps(self, at_ms: int) -> Refusal | None:
        """Count what stands before a post (Rule F1)."""
        today = sum(call["posted_at"] // DAY_MS == at_ms // DAY_MS for call, _ in self.calls)
        still_open = sum(end["settled_at"] > at_ms for _, end in self.calls)
        settled = sum(end["settled_at"] <= at_ms and end["status"] != "void" for _, end in self.calls)
        return check_caps(today, still_open, settled < 20)


@dataclass
class Floor:
    """Everything that the Floor's topics must hold at the end of a run, as JSON objects."""

    recorded: Recorded
    read_list_at_ms: list[int]
    end_ms: int
    agents: dict[str, Agent] = field(default_factory=dict)
    receipts: list[Json] = field(default_factory=list)
    calls: list[Json] = field(default_factory=list)
    settlements: list[Json] = field(default_factory=list)
    touches: list[Json] = field(default_factory=list)
    seals: dict[str, Json] = field(default_factory=dict)

    def take(self, request: Request) -> None:
        """Answer one request, in its turn."""
        name = request.body["agent"]
        if request.kind == "floor.register":
            self.agents[name] = Agent(request.signer, request.body["operator"])
            self._receipt(request, name, None, name)
            return
        agent = self.agents[name]
        if agent.wallet != request.signer:
            raise ValueError(f"a call of {name} is signed by {request.signer}, registered with {agent.wallet}")
        checked, refusal, market = self._check(request)
        # no_baseline stands behind the caps in Rule F1's order
        if refusal is None or refusal.code == "no_baseline":
            refusal = agent.refuse_beyond_caps(request.at_ms) or refusal
        if refusal is not None or checked is None or market is None:
            self._receipt(request, name, refusal, None)
            return
        call = self._seal(request, agent, checked, *market)
        settlement = self._settle(call, checked)
        agent.calls.append((call, settlement))
        self.calls.append(call)
        self._receipt(request, name, None, call["id"])
        if settlement["settled_at"] <= self.end_ms:
            self.settlements.append(settlement)
        self._touch(call, checked)

    def standings(self) -> list[Json]:
        """Return every agent's Standing after each of its settlements, each as a sum of its own (Rule F9)."""
        rows: list[Json] = []
        for name, agent in self.agents.items():
            ends = [end for _, end in agent.calls if end["settled_at"] <= self.end_ms]
            ends.sort(key=lambda end: (end["settled_at"], end["call"]))
            for count, last in enumerate(ends, start=1):
                settled = [end for end in ends[:count] if end["status"] != "void"]
                errors = [(end["p"] - (end["status"] == "hit")) ** 2 for end in settled]
                scores = [(end["score"], end["settled_at"]) for end in settled]
                rows.append(
                    {
                        "agent": name,
                        "operator": agent.operator,
                        "at": last["settled_at"],
                        "standing": plain_standing(scores, last["settled_at"]),
                        "settled": len(settled),
                        "voids": count - len(settled),
                        "brier": sum(errors) / len(errors) if errors else None,
                        "provisional": len(settled) < 20,
                    }
                )
        return rows

    def _check(self, request: Request) -> tuple[CheckedCall | None, Refusal | None, tuple[float, float] | None]:
        shaped = check_shape(request.body)
        if isinstance(shaped, Refusal):
            raise ValueError(f"a sample agent sent a malformed call: {shaped.detail}")
        at_ms = request.at_ms
        in_force = self._settleable(at_ms)
        source = in_force.find(shaped.source)
        price = None if source is None else self._price(source.symbol, at_ms)
        checked = check_call(shaped, at_ms, in_force, price)
        if isinstance(checked, Refusal):
            return None, checked, None
        sigma = volatility(self.recorded.hourly[checked.source.symbol], at_ms)
        if price is None or sigma is None:
            return checked, Refusal("no_baseline", ""), None
        return checked, None, (price, sigma)

    def _settleable(self, at_ms: int) -> SettleableList:
        place = bisect_right(self.read_list_at_ms, at_ms) - 1
        hour_ms = self.read_list_at_ms[place] // HOUR_MS * HOUR_MS
        return SettleableList.of(
            f"hyperliquid:{coin}:price"
            for coin in self.recorded.listed
            if coin not in self.recorded.delisted and self.recorded.day_notional_usd(coin, hour_ms) > 50_000_000
        )

    def _price(self, coin: str, at_ms: int) -> float | None:
        closed = [one for one in self.recorded.fine[coin] if at_ms - HOUR_MS < one.open_time_ms + 300_000 <= at_ms]
        prints = [candle for candle in closed if candle.volume > 0]
        if not prints or at_ms - (prints[-1].open_time_ms + 300_000) > 600_000:
            return None
        return prints[-1].close

    def _seal(self, request: Request, agent: Agent, checked: CheckedCall, price: float, sigma: float) -> Json:
        body, at_ms, terms = request.body, request.at_ms, checked.terms
        if not isinstance(terms, Touch | Close | Range):
            raise TypeError(f"a sample agent called a {terms.kind}")
        b = baseline(terms, price, sigma, at_ms, body["deadline"], Calibration())
        fields = {
            "claim": body["claim"],
            "deadline": body["deadline"],
            "invalidation": body["invalidation"],
            "p": body["p"],
            "source": checked.source.text,
            "terms": terms.as_json(),
        }
        document = {
            "agent": body["agent"],
            "baseline": {"b": b, "version": "b-1"},
            "fields": fields,
            "posted_at": at_ms,
        }
        seal = hashlib.sha256(rfc8785.dumps(document)).hexdigest()
        self.seals[seal] = document
        return {
            "id": seal,
            "post": request.id,
            "agent": body["agent"],
            "operator": agent.operator,
            "coin": checked.source.symbol,
            "kind": terms.kind,
            "fields": fields,
            "posted_at": at_ms,
            "s": price,
            "sigma": sigma,
            "b": b,
            "baseline_version": "b-1",
            "side": checked.side,
            "labels": {"baseline_hugging": is_hugging(body["p"], b), "copy_of": None, "correlated_with": []},
        }

    def _settle(self, call: Json, checked: CheckedCall) -> Json:
        coin, fields = call["coin"], call["fields"]
        facts = CallFacts(coin, checked.terms, checked.side, call["posted_at"], fields["deadline"])
        # recorded days do not change: every attempt of the hour reads the same rows
        reading = VenueReading(
            candles={symbol: self.recorded.fine[symbol] for symbol in {coin, *REFERENCES}},
            second=self.recorded.second.get(coin),
        )
        attempt_ms = fields["deadline"] + GRACE_MS
        decision = decide(facts, reading, attempt_ms)
        while decision.status == "ask_again":
            attempt_ms += MINUTE_MS
            decision = decide(facts, reading, attempt_ms)
        points = None if decision.status == "void" else score(fields["p"], call["b"], decision.status == "hit")
        value = decision.value
        return {
            "id": f"{call['id']}/0",
            "call": call["id"],
            "attempt": 0,
            **{name: call[name] for name in ("agent", "operator", "coin", "kind", "side", "posted_at", "b")},
            **{name: fields[name] for name in ("source", "claim", "terms", "deadline", "p")},
            "baseline_version": "b-1",
            "rules": "floor-1.0",
            "status": decision.status,
            "reason": decision.reason,
            "value": list(value) if isinstance(value, tuple) else value,
            "second_value": decision.second_value,
            "raw_score": None if points is None else points.raw,
            "weight": None if points is None else points.weight,
            "score": None if points is None else points.score,
            "settled_at": attempt_ms,
            "final_at": attempt_ms + FINALITY_MS,
            "state": "provisional",
        }

    def _touch(self, call: Json, checked: CheckedCall) -> None:
        terms, posted_ms, last_ms = checked.terms, call["posted_at"], min(call["fields"]["deadline"], self.end_ms)
        if not isinstance(terms, Touch):
            return
        for candle in self.recorded.fine[call["coin"]]:
            inside = posted_ms <= candle.open_time_ms and candle.open_time_ms + FIVE_MINUTES_MS <= last_ms
            if inside and candle.volume > 0 and _reaches(candle, terms.level, call["side"]):
                self.touches.append(
                    {
                        "call": call["id"],
                        "coin": call["coin"],
                        "level": terms.level,
                        "side": call["side"],
                        "candle_open_time": candle.open_time_ms,
                        "reached": candle.high if call["side"] == "up" else candle.low,
                        "at": candle.open_time_ms + FIVE_MINUTES_MS,
                    }
                )
                return

    def _receipt(self, request: Request, agent: str, refusal: Refusal | None, ref: str | None) -> None:
        self.receipts.append(receipt(request, agent, None if refusal is None else refusal.code, ref))


def receipt(request: Request, agent: str, code: str | None, ref: str | None) -> Json:
    """Return the answer to a request, without its sentence."""
    status = "accepted" if code is None else "rejected"
    return {
        "id": request.id,
        "kind": request.kind,
        "agent": agent,
        "status": status,
        "code": code,
        "ref": ref,
        "at": request.at_ms,
    }


def _reaches(candle: Candle, level: float, side: str) -> bool:
    return candle.high >= level if side == "up" else candle.low <= level
