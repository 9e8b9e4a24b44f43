"""A genuine release verifies, whatever was done before it in the same visit, in whichever order, by whichever door.

A visit is a walk over two tables: looks, fits and studies, shuffled, with a release of each table somewhere among them.
Its number decides all of it but the noise.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpviz
from tests.pages.components import _visits_are_cheap
from tests.releases.people import unrehearsed
from tests.releases.visits import PageVisit, PythonVisit, ShellVisit

__all__ = ["_visits_are_cheap"]

VISITS = 11
"""With two releases each."""
DOORS = (PageVisit, PythonVisit, ShellVisit, PythonVisit, ShellVisit)


@pytest.mark.some(7)
@pytest.mark.parametrize("number", range(VISITS))
def test_whatever_was_done_before_a_genuine_release_verifies(number: int, tmp_path: Path) -> None:
    visit = DOORS[number % len(DOORS)](tmp_path, np.random.default_rng([46, number]))
    with unrehearsed():
        made = visit.walk()
    assert len(made) == 2
    for zipped in made:
        found = dpviz.verify(zipped)
        assert found.holds, found
