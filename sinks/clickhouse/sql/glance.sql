-- The header of every overview: counts of calls by how they stand, the ledger's size and its last published head.
SELECT
    (SELECT at FROM known_time) AS at,
    (SELECT count() FROM open_calls) AS open,
    (SELECT countIf(status != 'void') FROM current_settlements) AS settled,
    (SELECT countIf(status = 'void') FROM current_settlements) AS void,
    (SELECT uniqExact(subject) FROM alerts WHERE kind = 'dispute') AS disputed,
    (SELECT count() FROM ledger FINAL) AS ledger_size,
    (SELECT hash FROM ledger FINAL ORDER BY seq DESC LIMIT 1) AS ledger_hash,
    (SELECT max(at) FROM heads) AS head_at
