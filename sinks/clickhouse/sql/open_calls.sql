-- Sealed calls that have not been settled, in the ledger's columns.
SELECT id AS call, kind, NULL AS settled_at, agent, coin, claim, 'open' AS status, NULL AS reason, p, b, NULL AS score,
    NULL AS value, NULL AS value_upper, 0 AS answers, '' AS fetched_venue, NULL AS fetched_at, 'open' AS state,
    NULL AS final_at, deadline
FROM open_calls
WHERE ({kind:String} = '' OR kind = {kind:String})
    AND ({agent:String} = '' OR agent = {agent:String})
    AND ({coin:String} = '' OR coin = {coin:String})
    AND ({text:String} = '' OR positionCaseInsensitiveUTF8(claim, {text:String}) > 0)
