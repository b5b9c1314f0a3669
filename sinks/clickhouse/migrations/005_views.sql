CREATE VIEW IF NOT EXISTS current_settlements AS
SELECT * FROM settlements FINAL ORDER BY attempt DESC LIMIT 1 BY call;

CREATE VIEW IF NOT EXISTS open_calls AS
SELECT * FROM calls FINAL WHERE id NOT IN (SELECT call FROM settlements);

CREATE VIEW IF NOT EXISTS current_standings AS
SELECT * FROM standings FINAL ORDER BY at DESC, settled + voids DESC LIMIT 1 BY agent;

CREATE VIEW IF NOT EXISTS current_scores AS
SELECT * FROM scores FINAL ORDER BY as_of_s DESC LIMIT 1 BY record;

CREATE VIEW IF NOT EXISTS known_time AS
SELECT max(at) AS at FROM
(
    SELECT max(open_time) + INTERVAL 5 MINUTE AS at FROM candles WHERE `interval` = '5m'
    UNION ALL SELECT max(at) FROM heads
    UNION ALL SELECT max(at) FROM standings
    UNION ALL SELECT max(settled_at) FROM settlements
);
