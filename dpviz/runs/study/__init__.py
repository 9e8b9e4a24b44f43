"""Studies: many runs, and what they lose."""
