"""Questions whose answers are sums over rows."""
