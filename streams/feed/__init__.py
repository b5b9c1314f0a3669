"""The market feed: a venue's candles, settled funding and listings as events."""
