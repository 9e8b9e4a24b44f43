"""For all tests of pages."""

from tests.pages.components import _visits_are_cheap

__all__ = ["_visits_are_cheap"]
