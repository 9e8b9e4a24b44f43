"""Many visitors of one server, each a tab that speaks the page library's own protocol, and what to watch meanwhile."""
