-- The Board (Rule F9): Standing as of the newest known time; provisional agents come last and have no rank.
WITH
    (SELECT at FROM known_time) AS now_at,
    standing_now AS
    (
        SELECT agent, operator, settled, voids, provisional, brier, at AS last_at,
            standing * exp2(-greatest(0, dateDiff('millisecond', at, now_at)) / 2592000000) AS standing
        FROM current_standings
        UNION ALL
        SELECT agent, any(operator), 0, 0, true, NULL, NULL, 0
        FROM calls WHERE agent NOT IN (SELECT agent FROM standings) GROUP BY agent
    )
SELECT if(provisional, NULL, row_number() OVER (
        ORDER BY provisional, floor(standing * 1e6 + 0.5001) DESC, floor(brier * 1e6 + 0.5001), settled DESC, agent
    )) AS rank, agent, operator, standing, brier, settled, voids, provisional, last_at
FROM standing_now
ORDER BY provisional, floor(standing * 1e6 + 0.5001) DESC, floor(brier * 1e6 + 0.5001), settled DESC, agent
