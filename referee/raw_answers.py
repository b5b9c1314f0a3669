"""The raw answers of venues inside a bundle: what their bytes show, and whether the bundle's rows show the same."""

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import orjson

from rules.floor.bundle.fields import BundleError, Fields
from rules.floor.sources import parse_source
from rules.market import FIVE_MINUTES_MS
from streams.venues.base import VenueCandle, VenueError
from streams.venues.bybit import bybit_symbol, parse_bybit_kline
from streams.venues.hyperliquid import parse_candle_snapshot, parse_listed

ANSWERS = "answers"
PINNED = "hyperliquid"
SECOND = "bybit"

Row = list[float]


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """One answer of a venue as it was stored, and the name under which errors speak of it."""

    venue: str
    request: str
    raw: bytes
    name: str


@dataclass(slots=True)
class Shown:
    """What answers show together: 5-minute rows by (venue, the venue's symbol), ascending, and the listed coins."""

    rows: dict[tuple[str, str], list[Row]] = field(default_factory=dict)
    listed: frozenset[str] | None = None


def shown_by(answers: Sequence[RawAnswer]) -> Shown:
    """Return what the answers show; raises BundleError for one that cannot be read."""
    shown = Shown()
    for answer in answers:
        try:
            symbol = _symbol_of(answer)
            if symbol is None:
                shown.listed = frozenset(parse_listed(answer.raw))
                continue
            parse = parse_candle_snapshot if answer.venue == PINNED else parse_bybit_kline
            candles = parse(answer.raw)
        except (VenueError, KeyError, TypeError, ValueError) as error:
            raise BundleError(f"{answer.name}: is no answer that a settlement asks for ({error})") from error
        known = {int(row[0]): row for row in shown.rows.get((answer.venue, symbol), [])}
        known |= {candle.open_time_ms: row_of(candle) for candle in candles}
        shown.rows[answer.venue, symbol] = [known[time_ms] for time_ms in sorted(known)]
    return shown


def row_of(candle: VenueCandle) -> Row:
    """Return a candle as a bundle's row `[open_time, open, high, low, close, volume]`."""
    return [candle.open_time_ms, candle.open, candle.high, candle.low, candle.close, candle.volume]


def venue_symbol(venue: str, coin: str) -> str:
    """Return the venue's own name of a coin of the pinned venue."""
    return bybit_symbol(coin) if venue == SECOND else coin


def read_answers(document: Mapping[str, object]) -> list[RawAnswer]:
    """Return the bundle's raw answers, each with the sha256 that is written beside it; raises BundleError."""
    answers: list[RawAnswer] = []
    for fields in Fields(document).objects(ANSWERS):
        venue = fields.choice("venue", (PINNED, SECOND))
        try:
            raw = base64.b64decode(fields.text("body"), validate=True)
        except (binascii.Error, ValueError) as error:
            raise BundleError(f"{fields.at('body')}: is not base64 ({error})") from error
        actual, stated = hashlib.sha256(raw).hexdigest(), fields.text("sha256")
        if actual != stated:
            raise BundleError(f"{fields.at('body')}: its bytes have sha256 {actual}, not {stated}")
        answers.append(RawAnswer(venue, fields.text("request"), raw, fields.path))
    return answers


def check_rows(document: Mapping[str, object], shown: Shown) -> None:
    """Hold a bundle's rows after the post, and what it says of a delisting, to what its raw answers show.

    Raises BundleError naming the row that is not what they show.
    """
    bundle = Fields(document)
    posted_at_ms = bundle.time_ms("posted_at")
    market = bundle.fields("market")
    unused = dict(shown.rows)
    for venue in market.raw:
        symbols = market.fields(venue)
        for coin in symbols.raw:
            symbol = symbols.fields(coin)
            # What closed before the post came by the feed: the seal vouches for it, through S, σ and b.
            known_after_ms = posted_at_ms if venue == PINNED else 0
            stated = _rows_after(symbol.raw.get("5m", []), known_after_ms)
            seen = _rows_after(unused.pop((venue, venue_symbol(venue, coin)), []), known_after_ms)
            _check_same(symbol.at("5m"), stated, seen)
    if unused:
        venue, name = next(iter(unused))
        raise BundleError(f"market.{venue}: has no rows of {name}, of which there is a raw answer")
    _check_listed(bundle, shown.listed)


def _rows_after(rows: object, time_ms: int) -> list[Row]:
    assert isinstance(rows, list)
    return [row for row in rows if row[0] + FIVE_MINUTES_MS > time_ms]


def _check_same(path: str, stated: list[Row], seen: list[Row]) -> None:
    by_time = {row[0]: row for row in seen}
    for row in stated:
        if by_time.pop(row[0], None) != row:
            raise BundleError(f"{path}: the row at {row[0]} is not what the raw answers show")
    if by_time:
        raise BundleError(f"{path}: the row at {min(by_time)} is missing, the raw answers show it")


def _check_listed(bundle: Fields, listed: frozenset[str] | None) -> None:
    source = parse_source(bundle.fields("call").text("source"))
    if source is None:
        return
    pinned = bundle.fields("market").raw.get(PINNED)
    stated = isinstance(pinned, Mapping) and Fields(pinned.get(source.symbol, {})).has("delisted_at")
    if stated != (listed is not None and source.symbol not in listed):
        raise BundleError(f"market.{PINNED}.{source.symbol}.delisted_at: is not what the raw answers show")


def _symbol_of(answer: RawAnswer) -> str | None:
    """Return the venue's symbol whose 5-minute candles were asked for, None for the universe."""
    if answer.venue == SECOND:
        query = parse_qs(urlsplit(answer.request).query)
        if query["interval"] != ["5"]:
            raise ValueError(f"interval {query['interval']}")
        return query["symbol"][0]
    asked = orjson.loads(answer.request)
    if asked["type"] == "meta":
        return None
    if asked["type"] != "candleSnapshot" or asked["req"]["interval"] != "5m":
        raise ValueError(f"request {answer.request}")
    return str(asked["req"]["coin"])
