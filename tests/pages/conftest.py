"""For all tests of pages."""

from tests.pages.components import _components_are_looked_for_once

__all__ = ["_components_are_looked_for_once"]
