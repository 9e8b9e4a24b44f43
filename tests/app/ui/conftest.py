"""For all tests of widgets."""

from tests.pages.components import _visits_are_cheap

__all__ = ["_visits_are_cheap"]
