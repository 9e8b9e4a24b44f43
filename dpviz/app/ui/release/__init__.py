"""The page *Release*: public and released values only, and one button."""
