"""Where results go: ClickHouse, Redis, alerts, pages."""
