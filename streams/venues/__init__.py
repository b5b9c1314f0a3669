"""What market venues send: one venue's HTTP or websocket a file."""
