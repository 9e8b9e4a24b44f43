"""One file a picture of a step."""
