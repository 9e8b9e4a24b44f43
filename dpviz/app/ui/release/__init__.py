"""A release, and what its reader sees: public and released values only, and one button."""
