-- The predictions of one Arena record in their latest state.
SELECT id, call_id, status, coin, side, horizon_s, locked_at_s, entry_at_s, exit_at_s, candles, entry, exit, move,
    gross, fee, net, resolved_at_s
FROM outcomes FINAL
WHERE record = {record:String} AND ({status:String} = '' OR status = {status:String})
