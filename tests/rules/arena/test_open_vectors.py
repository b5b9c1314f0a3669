"""Every open-record vector without exits comes out exactly, double for double."""

import json
from bisect import bisect_left, bisect_right
from dataclasses import replace

import pytest
from eth_hash.auto import keccak

from rules.arena.contract import RevealRequest, revealed_hash
from rules.arena.loading import Load, required_loads
from rules.arena.open_record import score_open
from rules.arena.reference_set import REFERENCE_SET
from rules.arena.types import CoinRows, Funding, Interval, Status
from tests.rules.arena.bundles import (
    Bundle,
    curve_json,
    exits_in_play,
    load_bundles,
    metrics_json,
    prediction_json,
    score_json,
)

BUNDLES = load_bundles()
WITHOUT_EXITS = [bundle for bundle in BUNDLES if not exits_in_play(bundle.raw)]
WITH_EXITS = [bundle for bundle in BUNDLES if exits_in_play(bundle.raw)]


def named(bundle: Bundle) -> str:
    return bundle.name


def test_no_vector_drops_out_of_the_selection() -> None:
    assert (len(BUNDLES), len(WITHOUT_EXITS), len(WITH_EXITS)) == (76, 45, 31)
    assert sum("predictions" in bundle.expected for bundle in WITHOUT_EXITS) == 42


@pytest.mark.parametrize("bundle", WITHOUT_EXITS, ids=named)
def test_an_open_record_without_exits_settles_exactly(bundle: Bundle) -> None:
    result = bundle.settle()
    expected = bundle.expected
    if "predictions" in expected:
        wanted = [{key: row[key] for key in row if key != "note"} for row in expected["predictions"]]
        assert [prediction_json(row) for row in result.predictions] == wanted
    assert metrics_json(result.metrics) == expected["metrics"]
    assert score_json(result.score) == expected["score"]
    assert curve_json(result.curve) == expected["curve"]
    assert result.truncated == expected["truncated"]
    assert result.exits_unread == ()


@pytest.mark.parametrize("bundle", WITHOUT_EXITS, ids=named)
def test_the_required_loads_are_all_that_a_score_reads(bundle: Bundle) -> None:
    loads = required_loads(bundle.record, bundle.commits, bundle.reveals, bundle.listed, bundle.as_of_s)
    fetched = {coin: only_loaded(rows, coin, loads) for coin, rows in bundle.market.items()}
    again = score_open(bundle.record, bundle.commits, bundle.reveals, fetched, bundle.listed, bundle.as_of_s)
    assert again == bundle.settle()


@pytest.mark.parametrize("bundle", WITH_EXITS, ids=named)
def test_a_prediction_with_exits_stays_pending_and_is_named(bundle: Bundle) -> None:
    with_exits = exits_in_play(bundle.raw)
    result = bundle.settle()
    unsettled = {row.call_id for row in result.predictions if row.status is Status.PENDING and row.net is None}
    assert with_exits <= unsettled
    with_calldata = {reveal["callId"] for reveal in bundle.raw["reveals"] if "input" in reveal}
    assert set(result.exits_unread) == with_exits - with_calldata


def test_the_reference_set_is_the_one_that_reports_print() -> None:
    printed = {
        tuple(json.loads(bundle.expected["report"]["text"])["prices"]["referenceSet"])
        for bundle in BUNDLES
        if bundle.record.coins is None and "text" in bundle.expected["report"]
    }
    assert printed == {REFERENCE_SET}


def test_every_salt_of_a_composed_vector_rebuilds_its_commitment() -> None:
    # the vectors of recorded days (`real-…`) hold hashes that no preimage made
    checked = 0
    for bundle in (bundle for bundle in BUNDLES if not bundle.name.startswith("real-")):
        commits = {commit.call_id: commit for commit in bundle.commits}
        for reveal in bundle.reveals:
            commit = commits[reveal.call_id]
            if not isinstance(reveal.salt, bytes) or not commit.call_hash:
                continue
            request = RevealRequest(reveal.call_id, reveal.side, reveal.coin, reveal.salt)
            assert revealed_hash(keccak, bundle.deployment, bundle.record, commit, request) == commit.call_hash
            checked += 1
    assert checked == 105


def only_loaded(rows: CoinRows, coin: str, loads: list[Load]) -> CoinRows:
    """Keep of a coin's rows what a caller would have fetched, its funding as one list."""
    kept = CoinRows()
    funding: dict[int, Funding] = {}
    for load in loads:
        if load.coin != coin:
            continue
        candles = rows.candles(load.interval)
        times = [candle.time_s for candle in candles]
        cut = candles[bisect_left(times, load.from_s) : bisect_right(times, load.to_s)]
        kept = replace(kept, fine=cut) if load.interval is Interval.FINE else replace(kept, hourly=cut)
        funding |= {row.time_s: row for row in rows.funding if load.funding_from_s <= row.time_s <= load.to_s}
    return replace(kept, funding=[funding[time_s] for time_s in sorted(funding)])
