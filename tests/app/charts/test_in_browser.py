"""Every kind of figure in Chromium, on a phone: no text is cut, and titles stay clear of plots."""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import plotly
import plotly.graph_objects as go
import pytest
from playwright.sync_api import Browser

from dpviz.algorithms import SwapStep
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.pictures.segment_profiles import ProfilePicture, draw_overview
from dpviz.app.charts.pictures.tree import draw_swap_trace
from dpviz.app.charts.result_charts import draw_spent
from dpviz.app.charts.studies.compare import Typical, draw_compare, draw_scores
from dpviz.app.charts.studies.curves import Curves, draw_curves
from dpviz.app.charts.view import make_view
from dpviz.words import choose_palette
from tests.app.charts.gallery import beside, draw, exhibit, grid_step, steps_of
from tests.app.charts.pictures.test_segment_profiles import SIZES, made_profile

pytestmark = [pytest.mark.slow, pytest.mark.browser]

_SCRIPT = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
_DRAW = """async ([spec, widths]) => {
  const plot = document.getElementById("plot"), found = [];
  for (const width of widths) {
    Plotly.purge(plot);
    plot.style.width = width + "px";
    plot.style.height = spec.layout.height + "px";
    await Plotly.newPlot(plot, structuredClone(spec.data), structuredClone(spec.layout), {staticPlot: true});
    const frame = plot.querySelector(".svg-container").getBoundingClientRect();
    const top = frame.top + plot._fullLayout._size.t, seen = [];
    const title = plot.querySelector(".g-gtitle");
    for (const text of plot.querySelectorAll("svg text")) {
      const box = text.getBoundingClientRect(), words = text.textContent.trim();
      if (!words || !box.width) continue;
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
          || box.bottom > frame.bottom + 1) found.push(`cut: ${words} (${width})`);
      if (text.closest(".textpoint")) continue; // numbers on markers may touch; all other words must not
      if (title && title.contains(text) && box.bottom > top + 1) found.push(`over the plot: ${words} (${width})`);
      for (const [other, theirs] of seen)
        if (Math.min(box.right, theirs.right) - Math.max(box.left, theirs.left) > 3
            && Math.min(box.bottom, theirs.bottom) - Math.max(box.top, theirs.top) > 3)
          found.push(`on each other: ${words} / ${other} (${width})`);
      seen.push([words, box]);
    }
  }
  return found;
}"""


def figures() -> Iterator[tuple[str, go.Figure]]:
    """One of each kind, dealt to tables of one, six and two columns, with the owner's look, in the longest wording."""
    shown, name = exhibit(2, 5, n=600), "axis 2 of the view, mostly ward = Internal Medicine and all that belongs to it"
    long = make_view(shown.table.domain).with_space(shown.table.domain.region, (name, name))
    yield "long names", draw(grid_step(shown, 5), view=long)
    for turn, (dim, k, scaling, cells) in enumerate(((1, 3, "unit", 200), (6, 5, "unit", 5), (2, 15, "common", 40))):
        shown = exhibit(dim, k, n=1500, scaling=scaling)
        view = make_view(shown.table.domain)
        for place, (kind, step) in enumerate(steps_of(shown, cells=cells)):
            if place % 3 != turn:
                continue
            look = {"view": view, "reveal": shown.reveal, "reference": shown.reference, "epsilon": 0.05}
            yield f"{kind} {dim}-d", draw(step, **look)
            for name, chart in beside([step], **look).items():
                yield f"{kind} {name} {dim}-d", chart.draw().headed(chart.context.palette)
            if isinstance(step, SwapStep):
                yield f"{kind} trace {dim}-d", draw(partial(draw_swap_trace, [step] * 12, [step] * 12))
    yield from studies()


def studies() -> Iterator[tuple[str, go.Figure]]:
    light, shown, rng = choose_palette("light"), exhibit(2, 5, n=600), np.random.default_rng(0)
    names = [f"Some algorithm {letter} (k-median)" for letter in "ABCDEFGHIJKLMNOPQR"]
    rows = [
        {"contender": name, "epsilon": e, "ratio": 1 + 0.1 * i / e * rng.lognormal(), "matched_error": 0.01, "ari": 0.5}
        for (i, name), e, _ in product(enumerate(names), (0.1, 0.3, 1.0, 3.0, 10.0), range(5))
    ]
    table = pd.DataFrame(rows)
    baselines = {"one centre": 9.1, "data-independent centres": 4.2, "k-means++": 1.0}
    charts = {"spent": draw_spent({"number of rows": 0.02, "tree": 0.4, "swap": 0.58}, 0.05)}
    charts["trade-off"] = draw_curves(Curves(table, baselines=baselines))
    for measure in ("ratio", "matched_error", "ari"):
        charts[measure] = draw_scores(table[table.epsilon == 1.0], measure)
    releases = dict.fromkeys(names, Typical(shown.reference.centers, 1.0))
    made = draw_compare(releases, RenderContext(make_view(shown.table.domain), light, reference=shown.reference))
    yield "compare", made.panels[-1].plot.figure()
    yield from ((name, chart.draw(light).headed(light)) for name, chart in charts.items())


def profiles() -> Iterator[tuple[str, int, go.Figure]]:
    """Profiles of few and many segments and columns, as wide as the page that each is made for."""
    light = choose_palette("light")
    for (k, dim), narrow in product(SIZES[::4], (False, True)):
        picture = ProfilePicture(made_profile(k, dim), narrow=narrow)
        yield f"{k} segments, {dim} columns", 390 - 32 if narrow else 1080, picture.draw(light).figure()
        if dim > 12 and not narrow:
            yield f"{k} segments, all {dim} columns", 1080, draw_overview(picture, light).figure()


def find_faults(browser: Browser, figures: Iterable[tuple[str, tuple[int, ...], go.Figure]]) -> dict[str, list[str]]:
    """What is wrong with figures at these widths: they are laid out as on a page, and not painted."""
    page, wrong = browser.new_page(), {}
    page.set_content('<body style="margin:0"><div id="plot" style="visibility:hidden"></div></body>')
    page.add_script_tag(path=str(_SCRIPT))
    for name, widths, figure in figures:
        if found := page.evaluate(_DRAW, [json.loads(figure.to_json()), widths]):  # type: ignore[arg-type]
            wrong[name] = found
    page.close()
    return wrong


def test_no_text_of_a_profile_is_cut(browser: Browser) -> None:
    assert find_faults(browser, ((f"{name} at {width}", (width,), figure) for name, width, figure in profiles())) == {}


def test_no_text_is_cut(browser: Browser) -> None:
    """On a telephone: on a wide page the same words have more room."""
    assert find_faults(browser, ((name, (360,), figure) for name, figure in figures())) == {}


def test_what_is_cut_or_lies_on_each_other_is_seen(browser: Browser) -> None:
    """The negative twin: a word that leaves the figure, and two at one place."""
    words = {"a word that is longer than the figure": 0, "one word": 1, "another": 1}
    marks = [{"text": word, "x": x, "y": 0.5, "xref": "paper", "yref": "paper"} for word, x in words.items()]
    drawn = go.Figure(layout={"height": 200, "annotations": [{**mark, "showarrow": False} for mark in marks]})
    (found,) = find_faults(browser, [("planted", (120,), drawn)]).values()
    assert any(fault.startswith("cut: a word") for fault in found)
    assert any(fault.startswith("on each other: another / one word") for fault in found)
