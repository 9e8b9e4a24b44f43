"""The Trade-off page."""
