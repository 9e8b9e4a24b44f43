"""Questions and mechanisms about rows that are tuples of points."""
