"""Algorithms on locality-sensitive hashes."""
