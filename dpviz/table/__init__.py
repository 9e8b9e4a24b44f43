"""What comes in, before any privacy."""
