"""From one run to thousands."""
