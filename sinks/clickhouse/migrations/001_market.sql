CREATE TABLE IF NOT EXISTS candles
(
    venue LowCardinality(String),
    coin LowCardinality(String),
    `interval` LowCardinality(String),
    open_time DateTime64(3, 'UTC'),
    open Float64,
    high Float64,
    low Float64,
    close Float64,
    volume Float64,
    trades Nullable(Int64)
)
ENGINE = ReplacingMergeTree
ORDER BY (coin, `interval`, venue, open_time);

CREATE TABLE IF NOT EXISTS funding
(
    venue LowCardinality(String),
    coin LowCardinality(String),
    time DateTime64(3, 'UTC'),
    rate Float64
)
ENGINE = ReplacingMergeTree
ORDER BY (coin, venue, time);

CREATE TABLE IF NOT EXISTS listings
(
    venue LowCardinality(String),
    coin LowCardinality(String),
    at DateTime64(3, 'UTC'),
    day_notional_usd Float64,
    delisted Bool
)
ENGINE = ReplacingMergeTree
ORDER BY (coin, venue, at);

CREATE TABLE IF NOT EXISTS volatility
(
    venue LowCardinality(String),
    coin LowCardinality(String),
    at DateTime64(3, 'UTC'),
    sigma Nullable(Float64),
    returns Int64
)
ENGINE = ReplacingMergeTree
ORDER BY (coin, venue, at);
