"""The command line and where everything is put together."""
