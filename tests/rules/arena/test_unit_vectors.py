"""Single rules by the reference's examples, exact to the last bit."""

from collections.abc import Callable
from typing import Any

import pytest
from eth_hash.auto import keccak

from rules.arena.commitment import Deployment, locked_hash, symbol_hash, tags
from rules.arena.contract import check_reveal_time, entry_at
from rules.arena.drift import expected_move
from rules.arena.lookups import build_book
from rules.arena.numbers import round_to
from rules.arena.pricing import return_of
from rules.arena.salts import carries_exits
from rules.arena.score import Outcome, caller_score, max_drop, record_level, t_statistic
from rules.arena.symbols import resolve, spellings
from rules.arena.types import Interval
from rules.arena.worst import worst_outcome
from tests.rules.arena.bundles import coin_rows, score_json, unit_calls

FAR_PAST_S, FAR_FUTURE_S = 0, 1 << 40


def net_of(side: int, move: float) -> dict[str, float]:
    result = return_of(side, move)
    return {"gross": result.gross, "fee": result.fee, "net": result.net}


def scored(request: dict[str, Any]) -> dict[str, Any]:
    outcomes = [Outcome(row["side"], row["ret"], row["expected"], row.get("move", 0)) for row in request["outcomes"]]
    return score_json(caller_score(outcomes, request["maxDrawdown"], request["days"]))


def worst_of(coins: list[str | None], moves: list[float | None]) -> dict[str, Any]:
    worst = worst_outcome(coins, moves)
    return {
        "coinIndex": worst.index,
        "side": worst.side,
        "move": worst.move,
        "coin": worst.coin,
        "gross": worst.gross,
    }


def looked_up(rows: dict[str, Any], options: dict[str, Any], queries: list[tuple[str, int]]) -> list[dict[str, Any]]:
    market = {
        coin: coin_rows({rows["interval"]: candles, "funding": rows["funding"].get(coin)})
        for coin, candles in rows["candles"].items()
    }
    # `openBy` is the moment, inclusive; `upTo` a bound that a candle must open before
    as_of_s = options["upTo"] - 1 if "upTo" in options else options.get("openBy", FAR_FUTURE_S)
    book = build_book(
        market,
        Interval(rows["interval"]),
        list(market),
        FAR_PAST_S,
        FAR_FUTURE_S,
        as_of_s,
        fold_funding=rows["fundingOk"] and options.get("useFunding", True),
    )
    return [
        {"coin": coin, "t": time_s, "price": book.price(coin, time_s), "index": book.index(coin, time_s)}
        for coin, time_s in queries
    ]


def reveal_verdict(now_s: int, exit_at_s: int) -> str:
    refusal = check_reveal_time(now_s, exit_at_s)
    return "ok" if refusal is None else "".join(part.capitalize() for part in refusal.code.split("_"))


def in_hex(value: bytes) -> str:
    return "0x" + value.hex()


def coin_list_hash(fields: dict[str, Any]) -> str:
    return in_hex(
        locked_hash(
            keccak,
            Deployment(fields["chainId"], fields["callbook"]),
            int(fields["bookId"]),
            int(fields["callId"]),
            fields["coinIndex"],
            fields["side"],
            fields["horizon"],
            bytes.fromhex(fields["salt"][2:]),
        )
    )


def any_coin_hash(fields: dict[str, Any]) -> str:
    return in_hex(
        symbol_hash(
            keccak,
            Deployment(fields["chainId"], fields["callbook"]),
            fields["account"],
            int(fields["nonce"]),
            fields["coin"],
            fields["side"],
            fields["horizon"],
            bytes.fromhex(fields["salt"][2:]),
        )
    )


def both_tags() -> dict[str, str]:
    locked, symbol = tags(keccak)
    return {"LOCKED_TAG": in_hex(locked), "SYMBOL_TAG": in_hex(symbol)}


FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "netOf": (6, net_of),
    "tStat": (7, t_statistic),
    "curveDrawdown": (5, max_drop),
    "expectedMove": (3, expected_move),
    "callerScore": (33, scored),
    "recordLevel": (7, record_level),
    "priceLookups": (5, looked_up),
    "worstOutcome": (5, worst_of),
    "entryAtOf": (4, entry_at),
    "revealCheck": (4, reveal_verdict),
    "lockedHash": (2, coin_list_hash),
    "symbolCallHash": (7, any_coin_hash),
    "tags": (1, both_tags),
    "resolveSymbol": (10, lambda text, listed: resolve(text, spellings(listed))),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_rule_gives_what_every_example_of_it_says(function: str) -> None:
    count, rule = FUNCTIONS[function]
    examples = unit_calls(function)
    assert [rule(*arguments) for arguments, _ in examples] == [result for _, result in examples]
    assert len(examples) == count


def test_six_decimals_are_rounded_half_toward_plus_infinity() -> None:
    [([values], results)] = unit_calls("reportRound")
    pairs = [(value, text) for value, text in zip(values, results, strict=True) if value is not None]
    assert [round_to(value, 6) for value, _ in pairs] == [float(text) for _, text in pairs]
    assert len(pairs) == 16


def test_a_salt_carries_exits_exactly_when_the_reference_reads_some() -> None:
    examples = [(text, exits) for [text], exits in unit_calls("exitsOf") if text is not None]
    assert [carries_exits(bytes.fromhex(text[2:])) for text, _ in examples] == [
        exits is not None for _, exits in examples
    ]
    assert len(examples) == 7
