"""The README's pictures, and that they are fit to be shown: drawn, small, nothing wider than the window.

``DPVIZ_PICTURES=1 python -m pytest -m slow tests/browser -k picture`` renews ``docs/``; otherwise they are
thrown away.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.conftest import NARROW
from tests.browser.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TALL: ViewportSize = {"width": 1440, "height": 900}
MOST_BYTES = 300_000
# Of docs/findings.md: a claim, the title of its figure, the name of the picture.
FINDINGS = (
    ("Su et al. 2016, Fig. 2", "Loss above k-means++ by d and k", "grid"),
    ("Chang & Kamath 2021", "Loss against k at ε = 1", "coreset"),
    ("Cohen et al. 2021, Test 1", "Samples needed against R", "far"),
)


def test_runs_in_light(visitor: Callable[..., Visitor], pictures: Path) -> None:
    visit = _on_explore(visitor(viewport=TALL))
    visit.sees_run("Auto")
    _taken(visit, "At ε = 1", pictures / "explore.png")
    visit.chooses("Algorithm", "Tree: Balcan et al.")
    visit.sees_run("Balcan")
    visit.steps_to("Home")
    for _ in range(5):
        visit.steps_to("ArrowRight")
    _taken(visit, "At level 6", pictures / "tree.png")


def test_the_grid_in_dark(visitor: Callable[..., Visitor], pictures: Path) -> None:
    visit = _on_explore(visitor(viewport=TALL, color_scheme="dark"))
    visit.chooses("Algorithm", "Grid: EUGkM")
    visit.sees_run("EUGkM")
    visit.steps_to("Home")
    _taken(visit, "cells", pictures / "explore-dark.png")


def test_a_run_on_a_telephone(visitor: Callable[..., Visitor], pictures: Path) -> None:
    visit = _on_explore(visitor(viewport=NARROW))
    _taken(visit, "At ε = 1", pictures / "narrow.png")


def test_studies_in_light(visitor: Callable[..., Visitor], pictures: Path) -> None:
    visit = _on_explore(visitor(viewport=TALL))
    visit.turns_to("Compare")
    _computed(visit)
    _taken(visit, "comes first", pictures / "compare.png")
    visit.turns_to("Trade-off")
    _computed(visit)
    _taken(visit, "target: 1.1×", pictures / "tradeoff.png")


def test_figures_of_the_findings(visitor: Callable[..., Visitor], pictures: Path) -> None:
    visit = visitor(viewport=TALL)
    visit.goes_to("/papers")
    for paper, title, name in FINDINGS:
        visit.chooses("Claim", paper)
        figure = visit.sees_figure(title)
        path = pictures / f"findings-{name}.png"
        visit.photographs(path, of=figure)
        assert 10_000 < path.stat().st_size < MOST_BYTES


def _on_explore(visit: Visitor) -> Visitor:
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    expect(visit.page.locator(".film[data-whole]")).to_be_visible(timeout=PATIENCE)
    visit.waits()
    return visit


def _computed(visit: Visitor) -> None:
    visit.presses("Compute")
    expect(visit.button("Cancel")).to_be_hidden(timeout=PATIENCE)
    visit.waits()


def _taken(visit: Visitor, words: str, path: Path) -> None:
    """The first screen at ``path`` shows ``words``, is not cut at the right, and is small enough for a repository."""
    visit.sees(words)
    visit.page.wait_for_timeout(1_500)  # what stands beside a picture comes a moment later
    assert visit.is_as_wide_as_its_window(), "something reaches beyond the right edge"
    visit.photographs(path)
    assert 10_000 < path.stat().st_size < MOST_BYTES
