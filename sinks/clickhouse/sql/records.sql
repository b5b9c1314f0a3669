-- Arena records with their latest score and curve; records without a score come last.
SELECT * FROM
(
    SELECT record, owner, value, level, beta, calls, revealed, withheld, unscorable, pending, days, hit_rate,
        total_return, max_drawdown, arrayMap(v -> v - 1, curve.v) AS curve, as_of_s
    FROM current_scores
    UNION ALL
    SELECT record, owner, NULL, NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, [], NULL
    FROM records FINAL WHERE record NOT IN (SELECT record FROM scores)
)
ORDER BY value DESC NULLS LAST, total_return DESC NULLS LAST, record
