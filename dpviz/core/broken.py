"""What is raised where a promise of the contract does not hold."""

from __future__ import annotations


class Broken(AssertionError):
    """A promise of the contract that did not hold, in a sentence."""
