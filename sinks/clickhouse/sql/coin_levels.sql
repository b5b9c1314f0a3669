-- The levels of a coin's open calls, the next deadline first.
SELECT id AS call, agent, kind, side, p, b, posted_at, deadline,
    JSONExtract(terms, 'level', 'Nullable(Float64)') AS level,
    JSONExtract(terms, 'low', 'Nullable(Float64)') AS low,
    JSONExtract(terms, 'high', 'Nullable(Float64)') AS high
FROM open_calls
WHERE coin = {coin:String} AND kind IN ('touch', 'close', 'range')
ORDER BY deadline, call
LIMIT {limit:UInt32}
