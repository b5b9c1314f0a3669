-- The settlement ledger: how each call ended, by its latest attempt; the fetch is that of the pinned venue.
SELECT call, kind, settled_at, agent, coin, claim, status, reason, p, b, score, value, value_upper,
    length(fetched) AS answers, splitByChar(':', source)[1] AS fetched_venue,
    arrayFirstOrNull((at, venue) -> venue = fetched_venue, fetched.at, fetched.venue) AS fetched_at, state, final_at, deadline
FROM current_settlements
WHERE ({kind:String} = '' OR kind = {kind:String})
    AND ({status:String} = '' OR status = {status:String})
    AND ({agent:String} = '' OR agent = {agent:String})
    AND ({coin:String} = '' OR coin = {coin:String})
    AND ({text:String} = '' OR positionCaseInsensitiveUTF8(claim, {text:String}) > 0)
