"""For all proofs: visits of pages are cheap here, too."""

from tests.pages.components import _visits_are_cheap

__all__ = ["_visits_are_cheap"]
