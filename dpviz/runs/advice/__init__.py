"""What can be said of a run before it: from the setting alone."""
