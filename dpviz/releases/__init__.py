"""A release as files: the registry's card, the page that a reader holds in hand, and what finds a row's segment."""
