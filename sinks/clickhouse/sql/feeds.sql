-- How old the newest closed 5-minute candle of each coin is, against the newest time that anything is known of.
SELECT venue, coin, max(open_time) + INTERVAL 5 MINUTE AS through,
    dateDiff('second', through, (SELECT at FROM known_time)) AS age_s, age_s > {stale_s:UInt32} AS stale
FROM candles
WHERE `interval` = '5m'
GROUP BY venue, coin
ORDER BY age_s DESC, coin, venue
