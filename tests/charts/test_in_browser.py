"""Every kind of figure in Chromium, on a phone and on a wide page: no text is cut, and titles stay clear of plots."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import plotly
import plotly.graph_objects as go
import pytest
from playwright.sync_api import Browser

from dpviz.algorithms.balcan2017.candidate_centers import TreeStep
from dpviz.algorithms.balcan2017.local_swap import SwapStep
from dpviz.algorithms.steps import GridStep
from dpviz.charts.clipping import draw_clipping
from dpviz.charts.pictures.activation import draw_activation
from dpviz.charts.pictures.draw import draw
from dpviz.charts.pictures.grid import draw_true_grid
from dpviz.charts.pictures.swaps import draw_swap_trace
from dpviz.charts.pictures.tree_diagram import draw_tree_diagram
from dpviz.charts.points import draw_points
from dpviz.charts.spent import draw_spent
from dpviz.charts.studies.compare import draw_compare
from dpviz.charts.studies.scores import draw_scores
from dpviz.charts.studies.tradeoff import draw_tradeoff
from dpviz.charts.theme import palette
from dpviz.charts.view import view_of
from dpviz.ui.explore.auto_companions import companions
from tests.charts.gallery import exhibit, steps_of

pytestmark = [pytest.mark.slow, pytest.mark.browser]

_SCRIPT = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
_DRAW = """async (spec) => {
  const plot = document.getElementById("plot");
  Plotly.purge(plot);
  plot.style.height = spec.layout.height + "px";
  await Plotly.newPlot(plot, spec.data, spec.layout, {responsive: true, displayModeBar: false});
  const frame = plot.querySelector(".svg-container").getBoundingClientRect();
  const top = frame.top + plot._fullLayout._size.t;
  const found = [], seen = [];
  const title = plot.querySelector(".g-gtitle");
  for (const text of plot.querySelectorAll("svg text")) {
    const box = text.getBoundingClientRect(), words = text.textContent.trim();
    // Numbers on markers may touch; all other words must not.
    if (!words || !box.width || text.closest(".textpoint")) continue;
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
        || box.bottom > frame.bottom + 1) found.push("cut: " + words);
    if (title && title.contains(text) && box.bottom > top + 1) found.push("over the plot: " + words);
    for (const [other, theirs] of seen)
      if (Math.min(box.right, theirs.right) - Math.max(box.left, theirs.left) > 3
          && Math.min(box.bottom, theirs.bottom) - Math.max(box.top, theirs.top) > 3)
        found.push("on each other: " + words + " / " + other);
    seen.push([words, box]);
  }
  return found;
}"""


def figures() -> Iterator[tuple[str, go.Figure]]:
    """One of each kind, with the owner's look, in the longest wording."""
    light = palette("light")
    for dim, k, scaling, cells in ((1, 3, "unit", 200), (2, 15, "common", 40), (6, 5, "unit", 5)):
        shown = exhibit(dim, k, n=1500, scaling=scaling)
        view = view_of(shown.table.domain)
        for kind, step in steps_of(shown, cells=cells):
            look = {"reveal": shown.reveal, "reference": shown.reference, "epsilon": 0.05}
            yield f"{kind} {dim}-d", draw(step, view=view, palette=light, **look)
            if type(step) is GridStep and not view.flat:
                yield f"{kind} truth {dim}-d", draw_true_grid(step, shown.reveal.points, view=view, palette=light)
            if isinstance(step, TreeStep):
                yield f"{kind} diagram {dim}-d", draw_tree_diagram(step, palette=light)
                yield f"{kind} activation {dim}-d", draw_activation(step, palette=light)
            seen = {"view": view, "palette": light, "reveal": shown.reveal}
            for name, found in companions([step], 0, **seen).items():
                yield f"{kind} {name} {dim}-d", found.make()
            if isinstance(step, SwapStep):
                yield f"{kind} trace {dim}-d", draw_swap_trace([step] * 12, palette=light, true_losses=[0.1] * 12)
    yield from studies()


def studies() -> Iterator[tuple[str, go.Figure]]:
    light, shown, rng = palette("light"), exhibit(2, 5, n=600), np.random.default_rng(0)
    names = [f"Some algorithm {letter} (k-median)" for letter in "ABCDEFGHIJKLMNOPQR"]
    rows = [
        {"contender": name, "epsilon": e, "ratio": 1 + 0.1 * i / e * rng.lognormal(), "matched_error": 0.01, "ari": 0.5}
        for i, name in enumerate(names)
        for e in (0.1, 0.3, 1.0, 3.0, 10.0)
        for _ in range(5)
    ]
    table = pd.DataFrame(rows)
    baselines = {"one centre": 9.1, "data-independent centres": 4.2, "k-means++": 1.0}
    for number in (5, 18):
        some = table[table.contender.isin(names[:number])]
        yield f"trade-off {number}", draw_tradeoff(some, palette=light, baselines=baselines)
        for measure in ("ratio", "matched_error", "ari"):
            yield f"{measure} {number}", draw_scores(some[some.epsilon == 1.0], measure, palette=light)
        results = dict.fromkeys(names[:number], shown.reference.centers)
        made = draw_compare(results, view=view_of(shown.table.domain), palette=light, reference=shown.reference)
        yield f"compare {number}", made.panels[-1].figure
    yield "spent", draw_spent({"number of rows": 0.02, "tree": 0.4, "swap": 0.58}, palette=light, epsilon=0.05)
    cut = pd.DataFrame({"column": ["a rather long column name", "b"], "below": [0.1, 0.0], "above": [0.02, 0.0]})
    yield "clipping", draw_clipping(cut, palette=light)
    yield "points", draw_points(shown.reveal.points, view_of(shown.table.domain), palette=light)


@pytest.mark.parametrize("width", [360, 1100])
def test_no_text_is_cut(browser: Browser, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    try:
        page.set_content('<body style="margin:0"><div id="plot"></div></body>')
        page.add_script_tag(path=str(_SCRIPT))
        wrong = {
            name: found
            for name, figure in figures()
            if (found := page.evaluate(_DRAW, json.loads(figure.to_json())))  # type: ignore[arg-type]
        }
    finally:
        page.close()
    assert wrong == {}
