"""What `referee evidence` asks ClickHouse; every time comes as whole ms since the epoch."""

from sinks.clickhouse.queries import Query

_CALL = """
SELECT id, agent, operator, coin, source, claim, invalidation, terms, p, s, sigma, b, baseline_version, side,
    baseline_hugging, copy_of, correlated_with,
    toUnixTimestamp64Milli(deadline) AS deadline_ms, toUnixTimestamp64Milli(posted_at) AS posted_at_ms
FROM calls FINAL
WHERE startsWith(id, {call:String})
ORDER BY id
LIMIT 2
"""

_SETTLEMENT = """
SELECT id, rules, status, reason, value, value_upper, second_value, raw_score, weight, score, state,
    toUnixTimestamp64Milli(settled_at) AS settled_at_ms, toUnixTimestamp64Milli(final_at) AS final_at_ms
FROM settlements FINAL
WHERE call = {call:String}
ORDER BY attempt DESC
LIMIT 1
"""

_ANSWERS = """
SELECT one.1 AS venue, one.2 AS request, one.3 AS status, toUnixTimestamp64Milli(one.5) AS at, one.4 AS sha256
FROM (SELECT arrayJoin(fetched) AS one FROM settlements FINAL WHERE id = {settlement:String})
"""

_BODIES = """
SELECT sha256, base64Encode(body) AS body FROM evidence FINAL WHERE sha256 IN {hashes:Array(String)}
"""

_PAST_CALLS = """
SELECT toUnixTimestamp64Milli(calls.posted_at) AS posted_at_ms, first.status AS status,
    toUnixTimestamp64Milli(first.settled_at) AS settled_at_ms
FROM (SELECT id, posted_at FROM calls FINAL WHERE agent = {agent:String}) AS calls
LEFT JOIN (SELECT call, status, settled_at FROM settlements FINAL WHERE attempt = 0 AND agent = {agent:String}) AS first
ON first.call = calls.id
WHERE calls.posted_at < fromUnixTimestamp64Milli({before_ms:Int64}, 'UTC')
"""

_RECEIPTS = """
SELECT countIf(kind = 'floor.register') AS registrations,
    countIf(kind = 'floor.call' AND ref = {call:String}) AS seals
FROM receipts FINAL
WHERE agent = {agent:String} AND status = 'accepted' AND at <= fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')
"""

_LISTINGS = """
SELECT coin, day_notional_usd, delisted
FROM listings FINAL
WHERE venue = {venue:String} AND at =
    (
        SELECT max(at) FROM listings
        WHERE venue = {venue:String} AND at <= fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')
    )
ORDER BY coin
"""

_CANDLES = """
SELECT toUnixTimestamp64Milli(open_time) AS at_ms, open, high, low, close, volume
FROM candles FINAL
WHERE venue = {venue:String} AND coin = {coin:String} AND `interval` = {interval:String}
    AND open_time >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
    AND open_time <= fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
ORDER BY open_time
"""

_LEDGER = """
SELECT seq, kind, unit, toUnixTimestamp64Milli(at) AS at, body, prev, hash
FROM (SELECT * FROM ledger FINAL WHERE id IN {ids:Array(String)})
ORDER BY seq
"""

CALL = Query("evidence call", _CALL)
SETTLEMENT = Query("evidence settlement", _SETTLEMENT)
ANSWERS = Query("evidence answers", _ANSWERS)
BODIES = Query("evidence bodies", _BODIES)
PAST_CALLS = Query("evidence past calls", _PAST_CALLS)
RECEIPTS = Query("evidence receipts", _RECEIPTS)
LISTINGS = Query("evidence listings", _LISTINGS)
CANDLES = Query("evidence candles", _CANDLES)
LEDGER = Query("evidence ledger", _LEDGER)
