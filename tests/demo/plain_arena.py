"""The Arena recomputed record by record: what was accepted, then every evaluation on rows straight from the files."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

from eth_hash.auto import keccak

from rules.arena.commitment import Deployment
from rules.arena.contract import (
    CommitRequest,
    Refusal,
    RevealRequest,
    accept_commit,
    accept_reveal,
    open_any_coin_record,
)
from rules.arena.open_record import OpenResult, score_open
from rules.arena.types import Commit, OpenRecord, Prediction, Reveal
from tests.demo.envelopes import Request
from tests.demo.plain_floor import Json, receipt
from tests.demo.plain_market import HOUR_S, STEP_S, Market, market_of
from tests.demo.recorded import Recorded

REVEAL_GRACE_S = 604_800


@dataclass
class Record:
    """An account's any-coin record: what it committed and revealed, in order."""

    owner: str
    terms: OpenRecord
    commits: list[Commit] = field(default_factory=list)
    reveals: list[Reveal] = field(default_factory=list)
    revealed_at_ms: dict[int, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the record's id."""
        return f"{self.owner}/0"

    def fingerprint(self, call_id: int) -> str:
        """Return the id of a prediction's outcome."""
        text = f"{self.name}/{call_id}/0x{self.commits[call_id].call_hash.hex()}"
        return hashlib.sha256(text.encode()).hexdigest()

    def due_s(self, last_s: int) -> set[int]:
        """Return the times of evaluation that are known from the start: hours, reveals, graces that ran out."""
        first_s = -(-self.commits[0].locked_at_s // HOUR_S) * HOUR_S
        due = set(range(first_s, last_s + 1, HOUR_S))
        due |= {(at_ms // (STEP_S * 1_000) + 1) * STEP_S for at_ms in self.revealed_at_ms.values()}
        for commit in self.commits:
            if commit.call_id not in self.revealed_at_ms:
                grace_s = commit.entry_at_s + commit.horizon_s + REVEAL_GRACE_S
                due.add((grace_s // STEP_S + 1) * STEP_S)
        return {at_s for at_s in due if at_s <= last_s}


@dataclass
class Arena:
    """Everything that the Arena's topics must hold at the end of a run, as JSON objects."""

    recorded: Recorded
    deployment: Deployment
    records: dict[str, Record] = field(default_factory=dict)
    receipts: list[Json] = field(default_factory=list)
    outcomes: list[Json] = field(default_factory=list)
    scores: list[Json] = field(default_factory=list)

    def take(self, request: Request) -> None:
        """Answer one request, in its turn."""
        if request.body["record"] is not None:
            raise ValueError(f"the sample accounts use their any-coin records, this is {request.body['record']}")
        answer = self._commit(request) if request.kind == "arena.commit" else self._reveal(request)
        refused = isinstance(answer, Refusal)
        code = answer.code if isinstance(answer, Refusal) else None
        ref = None if refused else f"{request.signer}/0/{answer.call_id}"  # type: ignore[union-attr]
        self.receipts.append(receipt(request, request.signer, code, ref))

    def _commit(self, request: Request) -> Commit | Refusal:
        body, now_s = request.body, request.at_ms // 1_000
        record = self.records.get(request.signer)
        if record is None:
            number = int.from_bytes(hashlib.sha256(f"{request.signer}/0".encode()).digest()[:6], "big")
            record = Record(request.signer, open_any_coin_record(number, request.signer, now_s))
        asked = CommitRequest(bytes.fromhex(body["hash"][2:]), body["horizon_s"], body["nonce"])
        answer = accept_commit(record.terms, asked, now_s, len(record.commits), len(record.commits))
        if isinstance(answer, Commit):
            self.records[request.signer] = record
            record.commits.append(answer)
        return answer

    def _reveal(self, request: Request) -> Reveal | Refusal:
        body, now_s = request.body, request.at_ms // 1_000
        record, call_id = self.records[request.signer], body["call_id"]
        asked = RevealRequest(call_id, body["side"], body["coin"], bytes.fromhex(body["salt"][2:]))
        known = call_id in record.revealed_at_ms
        commit = record.commits[call_id]
        answer = accept_reveal(keccak, self.deployment, record.terms, commit, asked, now_s, known)
        if isinstance(answer, Reveal):
            record.reveals.append(answer)
            record.revealed_at_ms[call_id] = request.at_ms
        return answer

    def evaluate(self, last_s: int) -> None:
        """Evaluate every record at each of its times up to `last_s`."""
        market = market_of(self.recorded)
        for record in self.records.values():
            self._evaluate(record, market, last_s)

    def _evaluate(self, record: Record, market: dict[str, Market], last_s: int) -> None:
        due = record.due_s(last_s)
        known: dict[int, Json] = {}
        for as_of_s in range(record.terms.opened_at_s // STEP_S * STEP_S, last_s + 1, STEP_S):
            if as_of_s not in due:
                continue
            # what was sent by then; a later reveal is a later evaluation's
            commits = [commit for commit in record.commits if commit.locked_at_s <= as_of_s]
            reveals = [reveal for reveal in record.reveals if reveal.at_s <= as_of_s]
            rows = {coin: series.as_of(as_of_s) for coin, series in market.items()}
            result = score_open(record.terms, commits, reveals, rows, self.recorded.listed, as_of_s)
            for row in result.predictions:
                outcome = outcome_of(record, row)
                if known.get(row.call_id) == outcome:
                    continue
                known[row.call_id] = outcome
                self.outcomes.append({**outcome, "at": as_of_s * 1_000})
                closes_s = (-(-row.exit_at_s // STEP_S) + 1) * STEP_S
                unpriced = row.side is not None and row.status in ("pending", "unscorable")
                if unpriced and row.horizon_s < HOUR_S and closes_s > as_of_s:
                    due.add(closes_s)
            self.scores.append(score_of(record, result, as_of_s))


def outcome_of(record: Record, row: Prediction) -> Json:
    """Return a prediction's state without the time at which it was found."""
    numbers: dict[str, Any] = {
        name: getattr(row, name)
        for name in ("horizon_s", "entry_at_s", "exit_at_s", "side", "entry", "exit", "move", "gross", "fee", "net")
    }
    return {
        "id": record.fingerprint(row.call_id),
        "record": record.name,
        "owner": record.owner,
        "call_id": row.call_id,
        "status": row.status.value,
        "locked_at_s": record.commits[row.call_id].locked_at_s,
        "coin": row.coin if row.coin is not None else row.symbol,
        "candles": None if row.interval is None else row.interval.value,
        "resolved_at_s": row.resolved_at_s,
        **numbers,
    }


def score_of(record: Record, result: OpenResult, as_of_s: int) -> Json:
    """Return a record's score as of a moment."""
    score, metrics = result.score, result.metrics
    own = ("value", "beta", "t_stat", "profit_t", "profit", "edge", "risk")
    counted = ("calls", "revealed", "withheld", "unscorable", "pending", "coverage", "days", "hit_rate", "mean_return")
    return {
        "id": f"{record.name}@{as_of_s}",
        "record": record.name,
        "owner": record.owner,
        "as_of_s": as_of_s,
        "level": score.level.value,
        **{name: getattr(score, name) for name in own},
        **{name: getattr(metrics, name) for name in (*counted, "total_return", "max_drawdown")},
        "curve": [{"t": point.time_s, "v": point.value} for point in result.curve],
    }
