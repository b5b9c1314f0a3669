"""What a message on the bus becomes in ClickHouse: one pure function, message → rows."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from topics import arena, floor, ingress, market, operations, registry


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table; `values` stand in the order of `COLUMNS[table]`, times are integer ms UTC."""

    table: str
    values: tuple[Any, ...]


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


COLUMNS: dict[str, tuple[str, ...]] = {
    "candles": _names("venue coin interval open_time open high low close volume trades"),
    "funding": _names("venue coin time rate"),
    "listings": _names("venue coin at day_notional_usd delisted"),
    "volatility": _names("venue coin at sigma returns"),
    "calls": _names(
        "id post agent operator coin kind source claim invalidation terms deadline p posted_at s sigma b"
        " baseline_version side baseline_hugging copy_of correlated_with"
    ),
    "settlements": _names(
        "id call attempt agent operator coin kind source claim terms side posted_at deadline p b baseline_version rules"
        " status reason value value_upper second_value raw_score weight score settled_at final_at state fetched"
        " version"
    ),
    "evidence": _names("sha256 venue request status body at"),
    "touches": _names("call coin level side candle_open_time reached at"),
    "standings": _names("agent operator at standing settled voids brier provisional"),
    "records": _names("record post book_id owner coins any_coin min_horizon_s max_horizon_s at"),
    "outcomes": _names(
        "id record owner call_id status horizon_s locked_at_s entry_at_s exit_at_s coin side candles entry exit move"
        " gross fee net resolved_at_s at version"
    ),
    "scores": _names(
        "id record owner as_of_s value level beta t_stat profit_t profit edge risk calls revealed withheld unscorable"
        " pending coverage days hit_rate mean_return total_return max_drawdown curve"
    ),
    "receipts": _names("id kind agent status code detail ref at"),
    "ledger": _names("seq id kind unit at body prev hash"),
    "heads": _names("at size head root"),
    "alerts": _names("id kind severity subject coin agent reason text at"),
    "dead_letters": _names("id agent topic partition offset cause detail key value at"),
}


def rows_of(topic_name: str, message: bytes) -> list[Row]:
    """Return the rows that a message of a topic (its name without a prefix) becomes; none for what tables do not keep.

    Raises `KeyError` for a topic outside `TOPIC_NAMES`, `pydantic.ValidationError` for a message that is not of it.
    """
    return _ROWS[topic_name](message)


def _json(value: object) -> str:
    # Terms may hold integers beyond 64 bits, which faster writers refuse.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _row(table: str, message: object, /, **derived: object) -> Row:
    return Row(table, tuple(derived[name] if name in derived else getattr(message, name) for name in COLUMNS[table]))


_candle_topic: TypeAdapter[market.Candle | market.Complete] = TypeAdapter(
    Annotated[market.Candle | market.Complete, Field(discriminator="type")]
)
_commit_topic: TypeAdapter[arena.Opened | arena.Commit] = TypeAdapter(
    Annotated[arena.Opened | arena.Commit, Field(discriminator="type")]
)


def _candles(raw: bytes) -> list[Row]:
    message = _candle_topic.validate_json(raw)
    if isinstance(message, market.Candle) and message.closed:
        return [_row("candles", message)]
    return []


def _listings(raw: bytes) -> list[Row]:
    message = market.Listings.decode(raw)
    return [_row("listings", coin, venue=message.venue, at=message.at) for coin in message.coins]


def _calls(raw: bytes) -> list[Row]:
    call = floor.Call.decode(raw)
    fields, labels = call.fields, call.labels
    return [
        _row(
            "calls", call, source=fields.source, claim=fields.claim, invalidation=fields.invalidation,
            terms=_json(fields.terms), deadline=fields.deadline, p=fields.p, baseline_hugging=labels.baseline_hugging,
            copy_of=labels.copy_of, correlated_with=list(labels.correlated_with),
        )
    ]  # fmt: skip


def _settlements(raw: bytes) -> list[Row]:
    settlement = floor.Settlement.decode(raw)
    value, upper = settlement.value, None
    if isinstance(value, tuple):
        value, upper = value
    fetched = [(one.venue, one.request, one.status, one.sha256, one.at) for one in settlement.fetched]
    # An attempt only moves from provisional to final: a late repeat of the first must not hide the second.
    version = int(settlement.state == "final")
    return [
        _row("settlements", settlement, terms=_json(settlement.terms), value=value, value_upper=upper, fetched=fetched,
             version=version)
    ]  # fmt: skip


def _evidence(raw: bytes) -> list[Row]:
    message = floor.Evidence.decode(raw)
    return [_row("evidence", message, body=base64.b64decode(message.body))]


def _commits(raw: bytes) -> list[Row]:
    message = _commit_topic.validate_json(raw)
    if isinstance(message, arena.Opened):
        return [_row("records", message, coins=list(message.coins or ()), any_coin=message.coins is None)]
    return []


def _outcomes(raw: bytes) -> list[Row]:
    outcome = arena.Outcome.decode(raw)
    # Two changes of one millisecond: a known state stands over a pending one, a resolved one over both.
    progress = (outcome.status != "pending") + 2 * (outcome.resolved_at_s is not None)
    return [_row("outcomes", outcome, version=outcome.at * 4 + progress)]


def _scores(raw: bytes) -> list[Row]:
    score = arena.Score.decode(raw)
    return [_row("scores", score, curve=[(point.t, point.v) for point in score.curve])]


def _ledger(raw: bytes) -> list[Row]:
    entry = operations.LedgerEntry.decode(raw)
    return [_row("ledger", entry, body=_json(entry.body))]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _dead_letters(raw: bytes) -> list[Row]:
    letter = operations.DeadLetter.decode(raw)
    return [_row("dead_letters", letter, key=_bytes(letter.key), value=_bytes(letter.value))]


_ROWS: dict[str, Callable[[bytes], list[Row]]] = {
    registry.CANDLES.name: _candles,
    registry.FUNDING.name: lambda raw: [_row("funding", market.Funding.decode(raw))],
    registry.LISTINGS.name: _listings,
    registry.VOLATILITY.name: lambda raw: [_row("volatility", market.Volatility.decode(raw))],
    registry.CALLS.name: _calls,
    registry.SETTLEMENTS.name: _settlements,
    registry.EVIDENCE.name: _evidence,
    registry.TOUCHES.name: lambda raw: [_row("touches", floor.Touch.decode(raw))],
    registry.STANDINGS.name: lambda raw: [_row("standings", floor.Standing.decode(raw))],
    registry.COMMITS.name: _commits,
    registry.OUTCOMES.name: _outcomes,
    registry.SCORES.name: _scores,
    registry.RECEIPTS.name: lambda raw: [_row("receipts", ingress.Receipt.decode(raw))],
    registry.LEDGER.name: _ledger,
    registry.HEADS.name: lambda raw: [_row("heads", operations.Head.decode(raw))],
    registry.ALERTS.name: lambda raw: [_row("alerts", operations.Alert.decode(raw))],
    registry.DEAD_LETTERS.name: _dead_letters,
}

TOPIC_NAMES: tuple[str, ...] = tuple(_ROWS)
"""The topics that ClickHouse keeps; a sink subscribes to these."""
