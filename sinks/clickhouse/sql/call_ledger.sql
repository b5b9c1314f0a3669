-- The ledger entries that name one call.
SELECT seq, kind, at, hash FROM ledger FINAL WHERE position(body, {call:String}) > 0 ORDER BY seq
