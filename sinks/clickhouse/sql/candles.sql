-- Closed candles of one coin between two times (ms), oldest first.
SELECT open_time, open, high, low, close, volume
FROM candles FINAL
WHERE coin = {coin:String} AND `interval` = {interval:String} AND venue = {venue:String}
    AND open_time >= fromUnixTimestamp64Milli({from_ms:Int64}) AND open_time < fromUnixTimestamp64Milli({to_ms:Int64})
ORDER BY open_time
