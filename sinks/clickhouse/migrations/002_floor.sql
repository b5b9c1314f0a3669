CREATE TABLE IF NOT EXISTS calls
(
    id String,
    post String,
    agent String,
    operator String,
    coin LowCardinality(String),
    kind LowCardinality(String),
    source LowCardinality(String),
    claim String,
    invalidation String,
    terms String,
    deadline DateTime64(3, 'UTC'),
    p Float64,
    posted_at DateTime64(3, 'UTC'),
    s Nullable(Float64),
    sigma Nullable(Float64),
    b Float64,
    baseline_version LowCardinality(String),
    side LowCardinality(Nullable(String)),
    baseline_hugging Bool,
    copy_of Nullable(String),
    correlated_with Array(String)
)
ENGINE = ReplacingMergeTree
ORDER BY id;

CREATE TABLE IF NOT EXISTS settlements
(
    id String,
    call String,
    attempt Int64,
    agent String,
    operator String,
    coin LowCardinality(String),
    kind LowCardinality(String),
    source LowCardinality(String),
    claim String,
    terms String,
    side LowCardinality(Nullable(String)),
    posted_at DateTime64(3, 'UTC'),
    deadline DateTime64(3, 'UTC'),
    p Float64,
    b Float64,
    baseline_version LowCardinality(String),
    rules LowCardinality(String),
    status LowCardinality(String),
    reason LowCardinality(Nullable(String)),
    value Nullable(Float64),
    value_upper Nullable(Float64),
    second_value Nullable(Float64),
    raw_score Nullable(Float64),
    weight Nullable(Float64),
    score Nullable(Float64),
    settled_at DateTime64(3, 'UTC'),
    final_at DateTime64(3, 'UTC'),
    state LowCardinality(String),
    fetched Array(Tuple(venue String, request String, status Int64, sha256 String, at DateTime64(3, 'UTC'))),
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (call, attempt);

CREATE TABLE IF NOT EXISTS evidence
(
    sha256 String,
    venue LowCardinality(String),
    request String,
    status Int64,
    body String CODEC(ZSTD(3)),
    at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY sha256;

CREATE TABLE IF NOT EXISTS touches
(
    call String,
    coin LowCardinality(String),
    level Float64,
    side LowCardinality(String),
    candle_open_time DateTime64(3, 'UTC'),
    reached Float64,
    at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (call, candle_open_time);

CREATE TABLE IF NOT EXISTS standings
(
    agent String,
    operator String,
    at DateTime64(3, 'UTC'),
    standing Float64,
    settled Int64,
    voids Int64,
    brier Nullable(Float64),
    provisional Bool
)
ENGINE = ReplacingMergeTree
ORDER BY (agent, at, settled, voids);
