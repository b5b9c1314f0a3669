"""The shape of a `floor-call` bundle, read into rule types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rules.floor.baseline import Calibration, CalibrationMap
from rules.floor.bundle.fields import BundleError, Fields, as_number
from rules.floor.bundle.series import read_candles, read_values
from rules.floor.constants import RULES_VERSION
from rules.floor.disputes import FINAL_STATUSES, Dispute, PublishedResult
from rules.floor.labels import PostedCall
from rules.floor.metric import MetricReading, funding_reading, metric_reading
from rules.floor.sources import SettleableList, Source
from rules.floor.terms import Side, TermsInvalidError, parse_terms
from rules.market import FIVE_MINUTES_MS, HOUR_MS, Candle, FundingRate

_SIDES: tuple[Side, ...] = ("up", "down", "above", "below")


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """What the Floor knew of the posting agent, its counts before this post."""

    id: str
    operator: str
    known: bool
    signature_ok: bool
    paused: bool
    provisional: bool
    ranked: bool
    sealed_today: int
    open_calls: int


@dataclass(frozen=True, slots=True)
class SymbolMarket:
    """What one venue showed of one symbol."""

    candles_5m: Sequence[Candle] = ()
    candles_1h: Sequence[Candle] = ()
    funding: MetricReading | None = None
    delisted_at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class CallBundle:
    """A `floor-call` bundle; `call` is still what the agent sent."""

    now_ms: int
    agent: AgentRecord
    call: object
    posted_at_ms: int
    settleable: SettleableList
    earlier_calls: tuple[PostedCall, ...]
    calibration: Calibration
    market: Mapping[str, Mapping[str, SymbolMarket]]
    second_venue: str | None
    metrics: Mapping[str, MetricReading]
    recorded: PublishedResult | None
    disputes: tuple[Dispute, ...]

    def symbol(self, venue: str, symbol: str) -> SymbolMarket:
        """Return what a venue showed of a symbol, empty when the bundle has nothing of it."""
        return self.market.get(venue, {}).get(symbol, SymbolMarket())

    def metric(self, source: Source) -> MetricReading:
        """Return the series of a funding, chain or floor source, empty when the bundle has nothing of it."""
        found = self.symbol(source.venue, source.symbol).funding if source.is_funding else self.metrics.get(source.text)
        return funding_reading(()) if found is None else found


def read_call_bundle(document: Mapping[str, object]) -> CallBundle:
    """Read a `floor-call` bundle; raises BundleError naming the field that is malformed."""
    bundle = Fields(document)
    bundle.choice("rules", (RULES_VERSION,))
    try:
        settleable = SettleableList.of(bundle.texts("settleable"))
    except ValueError as error:
        raise error if isinstance(error, BundleError) else BundleError(f"settleable: {error}") from error
    return CallBundle(
        now_ms=bundle.time_ms("now"),
        agent=_agent(bundle.fields("agent")),
        call=bundle.get("call"),
        posted_at_ms=bundle.time_ms("posted_at"),
        settleable=settleable,
        earlier_calls=tuple(_earlier_call(fields) for fields in bundle.objects("earlier_calls")),
        calibration=_calibration(bundle.fields("calibration")),
        market=_market(bundle.fields("market")),
        second_venue=bundle.optional_text("second_venue"),
        metrics=_metrics(bundle.fields("metrics")),
        recorded=None if bundle.get("recorded") is None else _recorded(bundle.fields("recorded")),
        disputes=tuple(
            Dispute(fields.time_ms("at"), fields.text("by"), fields.flag("ranked"), fields.text("evidence"))
            for fields in bundle.objects("disputes")
        ),
    )


def _agent(fields: Fields) -> AgentRecord:
    return AgentRecord(
        id=fields.text("id"),
        operator=fields.text("operator"),
        known=fields.flag("known"),
        signature_ok=fields.flag("signature_ok"),
        paused=fields.flag("paused"),
        provisional=fields.flag("provisional"),
        ranked=fields.flag("ranked"),
        sealed_today=fields.count("sealed_today"),
        open_calls=fields.count("open"),
    )


def _earlier_call(fields: Fields) -> PostedCall:
    try:
        terms = parse_terms(fields.fields("terms").raw)
    except TermsInvalidError as error:
        raise BundleError(f"{fields.at('terms')}: {error}") from error
    return PostedCall(
        call=fields.text("id"),
        agent=fields.text("agent"),
        operator=fields.text("operator"),
        ranked=fields.flag("ranked"),
        source=fields.text("source"),
        terms=terms,
        side=None if fields.get("side") is None else fields.choice("side", _SIDES),
        posted_at_ms=fields.time_ms("posted_at"),
    )


def _calibration(fields: Fields) -> Calibration:
    return Calibration(
        fields.text("version"), *(_calibration_map(fields, kind) for kind in ("touch", "close", "range"))
    )


def _calibration_map(fields: Fields, kind: str) -> CalibrationMap:
    items = fields.items(kind)
    if len(items) != 2:
        raise BundleError(f"{fields.at(kind)}: must be [alpha, gamma], has {len(items)} items")
    return CalibrationMap(*(as_number(item, path) for item, path in items))


def _market(fields: Fields) -> dict[str, dict[str, SymbolMarket]]:
    return {
        venue: {symbol: _symbol(symbols.fields(symbol)) for symbol in symbols.raw}
        for venue, symbols in ((venue, fields.fields(venue)) for venue in fields.raw)
    }


def _symbol(fields: Fields) -> SymbolMarket:
    rates = (FundingRate(time_ms, rate) for time_ms, rate in read_values(fields, "funding"))
    return SymbolMarket(
        candles_5m=read_candles(fields, "5m", FIVE_MINUTES_MS),
        candles_1h=read_candles(fields, "1h", HOUR_MS),
        funding=funding_reading(rates),
        delisted_at_ms=fields.time_ms("delisted_at") if fields.has("delisted_at") else None,
    )


def _metrics(fields: Fields) -> dict[str, MetricReading]:
    metrics: dict[str, MetricReading] = {}
    for name in fields.raw:
        metric = fields.fields(name)
        period_ms = metric.time_ms("period")
        if period_ms == 0:
            raise BundleError(f"{metric.at('period')}: is 0 ms; it must be above 0")
        metrics[name] = metric_reading(read_values(metric, "values"), period_ms)
    return metrics


def _recorded(fields: Fields) -> PublishedResult:
    status = fields.choice("status", FINAL_STATUSES)
    score = None if fields.get("score") is None else fields.number("score")
    if (score is None) != (status == "void"):
        raise BundleError(f"{fields.at('score')}: must be null exactly when the status is void, which is {status}")
    return PublishedResult(status, score)
