CREATE TABLE IF NOT EXISTS receipts
(
    id String,
    kind LowCardinality(String),
    agent String,
    status LowCardinality(String),
    code LowCardinality(Nullable(String)),
    detail String,
    ref Nullable(String),
    at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (agent, id);

CREATE TABLE IF NOT EXISTS ledger
(
    seq Int64,
    id String,
    kind LowCardinality(String),
    unit LowCardinality(String),
    at DateTime64(3, 'UTC'),
    body String CODEC(ZSTD(3)),
    prev String,
    hash String
)
ENGINE = ReplacingMergeTree
ORDER BY seq;

CREATE TABLE IF NOT EXISTS heads
(
    at DateTime64(3, 'UTC'),
    size Int64,
    head String,
    root String
)
ENGINE = ReplacingMergeTree
ORDER BY at;

CREATE TABLE IF NOT EXISTS alerts
(
    id String,
    kind LowCardinality(String),
    severity LowCardinality(String),
    subject String,
    coin LowCardinality(Nullable(String)),
    agent Nullable(String),
    reason Nullable(String),
    text String,
    at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY id;

CREATE TABLE IF NOT EXISTS dead_letters
(
    id String,
    agent LowCardinality(String),
    topic LowCardinality(String),
    partition Int64,
    offset Int64,
    cause LowCardinality(String),
    detail String,
    key Nullable(String) CODEC(ZSTD(3)),
    value Nullable(String) CODEC(ZSTD(3)),
    at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY id;
