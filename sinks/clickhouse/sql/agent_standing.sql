-- One agent's Standing after each settlement, at most {limit} of the newest, oldest first.
SELECT at, standing, settled, brier FROM
(
    SELECT at, standing, settled, brier
    FROM standings FINAL
    WHERE agent = {agent:String}
    ORDER BY at DESC, settled + voids DESC
    LIMIT 1 BY at
    LIMIT {limit:UInt32}
)
ORDER BY at
