-- What is known of one coin: newest closed candle, σ per √hour, last settled funding rate, 24-hour volume.
SELECT
    (SELECT maxOrNull(open_time) + INTERVAL 5 MINUTE FROM candles
        WHERE coin = {coin:String} AND `interval` = '5m' AND venue = {venue:String}) AS through,
    (SELECT argMaxOrNull(close, open_time) FROM candles
        WHERE coin = {coin:String} AND `interval` = '5m' AND venue = {venue:String}) AS price,
    (SELECT sigma FROM volatility
        WHERE coin = {coin:String} AND venue = {venue:String} ORDER BY at DESC LIMIT 1) AS sigma,
    (SELECT argMaxOrNull(returns, at) FROM volatility WHERE coin = {coin:String} AND venue = {venue:String}) AS returns,
    (SELECT maxOrNull(at) FROM volatility WHERE coin = {coin:String} AND venue = {venue:String}) AS sigma_at,
    (SELECT argMaxOrNull(rate, time) FROM funding WHERE coin = {coin:String} AND venue = {venue:String}) AS funding,
    (SELECT argMaxOrNull(day_notional_usd, at) FROM listings
        WHERE coin = {coin:String} AND venue = {venue:String}) AS day_notional_usd
