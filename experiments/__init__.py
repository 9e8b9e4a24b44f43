"""The papers' experiments as claims: the data, the runs, and a verdict computed from their table."""
