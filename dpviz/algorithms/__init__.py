"""One file an algorithm, and what they share."""
