"""The two rulebooks as pure functions and frozen types."""
