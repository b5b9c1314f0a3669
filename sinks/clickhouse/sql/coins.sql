-- Every coin that has calls or candles.
SELECT DISTINCT coin FROM (SELECT coin FROM candles UNION ALL SELECT coin FROM calls) ORDER BY coin
