"""ClickHouse: the schema, what a message becomes in it, the writer and the queries that pages read."""
