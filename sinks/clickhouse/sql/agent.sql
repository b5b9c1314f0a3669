-- One agent's counts: its calls by how they stand and its mean p and b over settled ones.
SELECT
    (SELECT any(operator) FROM calls WHERE agent = {agent:String}) AS operator,
    (SELECT count() FROM calls FINAL WHERE agent = {agent:String}) AS calls,
    (SELECT count() FROM open_calls WHERE agent = {agent:String}) AS open,
    (SELECT countIf(status = 'hit') FROM current_settlements WHERE agent = {agent:String}) AS hits,
    (SELECT countIf(status = 'miss') FROM current_settlements WHERE agent = {agent:String}) AS misses,
    (SELECT countIf(status = 'void') FROM current_settlements WHERE agent = {agent:String}) AS voids,
    (SELECT sum(score) FROM current_settlements WHERE agent = {agent:String}) AS score,
    (SELECT countIf(status = 'rejected') FROM receipts FINAL WHERE agent = {agent:String}) AS refused
