"""The pages: a live, read-only view of ClickHouse."""
