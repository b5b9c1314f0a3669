"""One kind of page a file: the questions it asks ClickHouse and what it makes of the answers."""
