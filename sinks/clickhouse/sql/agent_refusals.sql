-- The newest refusals that an agent or account was given.
SELECT at, kind, code, detail, id
FROM receipts FINAL
WHERE agent = {agent:String} AND status = 'rejected'
ORDER BY at DESC, id
LIMIT {limit:UInt32}
