"""The local model: each row answers by itself."""
