CREATE TABLE IF NOT EXISTS records
(
    record String,
    post String,
    book_id Int64,
    owner String,
    coins Array(String),
    any_coin Bool,
    min_horizon_s Int64,
    max_horizon_s Int64,
    at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY record;

CREATE TABLE IF NOT EXISTS outcomes
(
    id String,
    record String,
    owner String,
    call_id Int64,
    status LowCardinality(String),
    horizon_s Int64,
    locked_at_s Int64,
    entry_at_s Int64,
    exit_at_s Int64,
    coin LowCardinality(Nullable(String)),
    side Nullable(Int8),
    candles LowCardinality(Nullable(String)),
    entry Nullable(Float64),
    exit Nullable(Float64),
    move Nullable(Float64),
    gross Nullable(Float64),
    fee Nullable(Float64),
    net Nullable(Float64),
    resolved_at_s Nullable(Int64),
    at DateTime64(3, 'UTC'),
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (record, id);

CREATE TABLE IF NOT EXISTS scores
(
    id String,
    record String,
    owner String,
    as_of_s Int64,
    value Int64,
    level LowCardinality(String),
    beta Float64,
    t_stat Float64,
    profit_t Float64,
    profit Float64,
    edge Float64,
    risk Float64,
    calls Int64,
    revealed Int64,
    withheld Int64,
    unscorable Int64,
    pending Int64,
    coverage Nullable(Float64),
    days Float64,
    hit_rate Nullable(Float64),
    mean_return Nullable(Float64),
    total_return Float64,
    max_drawdown Float64,
    curve Array(Tuple(t Int64, v Float64)) CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
ORDER BY (record, as_of_s);
