"""Pictures of many runs."""
