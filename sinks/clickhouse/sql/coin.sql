-- What is known of one coin: newest closed candle, σ per √hour, last settled funding rate, 24-hour volume.
SELECT
    (SELECT max(open_time) + INTERVAL 5 MINUTE FROM candles
        WHERE coin = {coin:String} AND `interval` = '5m' AND venue = {venue:String}) AS through,
    (SELECT argMax(close, open_time) FROM candles
        WHERE coin = {coin:String} AND `interval` = '5m' AND venue = {venue:String}) AS price,
    (SELECT argMax(tuple(sigma), at).1 FROM volatility WHERE coin = {coin:String} AND venue = {venue:String}) AS sigma,
    (SELECT argMax(returns, at) FROM volatility WHERE coin = {coin:String} AND venue = {venue:String}) AS returns,
    (SELECT max(at) FROM volatility WHERE coin = {coin:String} AND venue = {venue:String}) AS sigma_at,
    (SELECT argMax(rate, time) FROM funding WHERE coin = {coin:String} AND venue = {venue:String}) AS funding,
    (SELECT argMax(day_notional_usd, at) FROM listings
        WHERE coin = {coin:String} AND venue = {venue:String}) AS day_notional_usd
