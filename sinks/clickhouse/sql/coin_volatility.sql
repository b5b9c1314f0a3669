-- σ per √hour of one coin after each hour between two times (ms).
SELECT at, sigma
FROM volatility FINAL
WHERE coin = {coin:String} AND venue = {venue:String}
    AND at >= fromUnixTimestamp64Milli({from_ms:Int64}) AND at <= fromUnixTimestamp64Milli({to_ms:Int64})
ORDER BY at
