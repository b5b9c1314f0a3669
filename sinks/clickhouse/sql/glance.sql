-- The header of every overview: counts of calls by how they stand, the ledger's size and its last published head.
WITH (SELECT tuple(countIf(status != 'void'), countIf(status = 'void')) FROM current_settlements) AS ended
SELECT
    (SELECT at FROM known_time) AS at,
    (SELECT count() FROM open_calls) AS open,
    ended.1 AS settled,
    ended.2 AS void,
    (SELECT uniqExact(subject) FROM alerts WHERE kind = 'dispute') AS disputed,
    (SELECT count() FROM ledger FINAL) AS ledger_size,
    (SELECT hash FROM ledger FINAL ORDER BY seq DESC LIMIT 1) AS ledger_hash,
    (SELECT max(at) FROM heads) AS head_at
