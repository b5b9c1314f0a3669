"""What flows in and what keeps it flowing."""
