"""Fills a database with many calls and settlements by SQL, for tests of paging and speed."""

from clickhouse_connect.driver.client import Client

from tests.sinks.examples import HOUR_MS, T0

COINS = "['BTC', 'ETH', 'SOL', 'HYPE', 'FARTCOIN']"

_CALLS = f"""
INSERT INTO calls SELECT
    lower(hex(SHA256(toString(number)))) AS id, lower(hex(SHA256(concat('post', toString(number))))),
    concat('agent-', toString(number % 37)), 'house', {COINS}[number % 5 + 1] AS coin,
    ['touch', 'close', 'range'][number % 3 + 1] AS kind, concat('hyperliquid:', coin, ':price'),
    concat(coin, ' claim number ', toString(number)), '',
    multiIf(kind = 'range', '{{"kind":"range","low":90,"high":110}}',
            kind = 'touch', '{{"kind":"touch","level":105.5}}',
            '{{"kind":"close","level":101.5,"direction":"above"}}'),
    fromUnixTimestamp64Milli(toInt64({T0} + intDiv(number, 100) * 300000)) AS deadline, 0.4 + (number % 50) / 100,
    deadline - toIntervalHour(6), 100., 0.005, 0.3 + (number % 40) / 100, 'b-1',
    if(kind = 'touch', 'up', NULL), number % 9 = 0, NULL, []
FROM numbers({{count:UInt64}})
"""

_SETTLEMENTS = """
INSERT INTO settlements SELECT
    concat(id, '/1'), id, 1, agent, operator, coin, kind, source, claim, terms, side, posted_at, deadline, p, b,
    baseline_version, 'floor-1.0',
    ['hit', 'miss', 'hit', 'miss', 'void'][cityHash64(id) % 5 + 1] AS status,
    if(status = 'void', 'venue_halt', NULL), if(status = 'void', NULL, 103.25), NULL, 103.3,
    if(status = 'void', NULL, if(status = 'hit', 100 * log2(p / b), 100 * log2((1 - p) / (1 - b)))) AS raw,
    if(status = 'void', NULL, 1.), raw, deadline + toIntervalMinute(2) AS settled, settled + toIntervalDay(1),
    'provisional', [('hyperliquid', concat('candleSnapshot ', coin, ' 5m'), 200, repeat('e', 64), settled)], 0
FROM calls WHERE cityHash64(id) % 100 < {settled_percent:UInt8}
"""

_STANDINGS = """
INSERT INTO standings SELECT agent, any(operator), max(settled_at), sum(ifNull(score, 0)), countIf(status != 'void'),
    countIf(status = 'void'), avgIf(pow(p - (status = 'hit'), 2), status != 'void'), false
FROM settlements GROUP BY agent
"""

_CANDLES = f"""
INSERT INTO candles SELECT 'hyperliquid', {COINS}[number % 5 + 1], '5m',
    fromUnixTimestamp64Milli(toInt64({T0 - 24 * HOUR_MS} + intDiv(number, 5) * 300000)),
    100 + sin(number / 50) * 4 AS opened, opened + 0.6, opened - 0.5, opened + 0.2, 10 + number % 7, 5
FROM numbers({{candles:UInt64}})
"""


def fill(client: Client, count: int, settled_percent: int = 100, candles: int = 2880) -> None:
    """Insert `count` calls over 100 an interval, settle a share of them, and add Standings and candles."""
    client.command(_CALLS, parameters={"count": count})
    client.command(_SETTLEMENTS, parameters={"settled_percent": settled_percent})
    client.command(_STANDINGS)
    client.command(_CANDLES, parameters={"candles": candles})
