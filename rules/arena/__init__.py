"""The Arena rulebook: commit-reveal positions, priced and scored from the venue's own numbers."""
