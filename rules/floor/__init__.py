"""The Floor rulebook: sealed probability calls, settled from the venue's own numbers."""
