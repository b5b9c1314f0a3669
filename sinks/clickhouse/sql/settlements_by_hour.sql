-- Settlements by hour and result.
SELECT toStartOfHour(settled_at) AS at, countIf(status = 'hit') AS hit, countIf(status = 'miss') AS miss,
    countIf(status = 'void') AS void
FROM current_settlements
GROUP BY at
ORDER BY at
