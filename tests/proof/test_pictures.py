"""The picture of every kind of step, and what stands beside it, as plain data in both themes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from dpviz.algorithms.steps import Step
from dpviz.app.charts.picture import Drawing, RenderContext
from dpviz.app.charts.plot import pack
from dpviz.app.charts.registry import find_picture
from dpviz.app.charts.view import make_view
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import Exhibit, exhibit, steps_of
from tests.proof.kept import Item, compare

# Columns, clusters, scaling and cells along an axis.
TABLES = ((1, 3, "unit", 200), (2, 15, "common", 40), (6, 5, "unit", 5))
THEMES = ("light", "dark")


def list_pictures(dim: int, k: int, scaling: str, cells: int) -> Iterator[Item]:
    shown = exhibit(dim, k, n=1500, scaling=scaling)
    for kind, step in steps_of(shown, cells=cells):
        about = f"{dim}d {scaling}, {kind}"
        for theme in THEMES:
            yield f"{about}: {theme}", "\n".join(draw_all(step, shown, theme, words=False))
        yield f"{about}: words", "\n".join(draw_all(step, shown, THEMES[0], words=True))


def draw_all(step: Step, shown: Exhibit, theme: str, *, words: bool) -> Iterator[str]:
    """Of released values alone on the first plane, and with the rows and k-means++ on a slanted one."""
    domain = shown.table.domain
    view = make_view(domain)
    released = RenderContext(view, choose_palette(theme))
    slanted = make_view(domain, projection_seed=0) if domain.dim > 2 else view
    looked = replace(released, view=slanted, reveal=shown.reveal, reference=shown.reference, epsilon=1.0)
    picture = find_picture(step)
    for context in (released, looked):
        for drawing in (picture, *(companion.drawing for companion in picture.companions(context, [step]))):
            yield from tell(drawing, context) if words else [pack(drawing.draw(context).plot.to_data())]


def tell(drawing: Drawing[Step], context: RenderContext) -> Iterator[str]:
    domain = context.view.domain
    drawn, table = drawing.draw(context), drawing.table(domain)
    yield from (drawn.title, drawn.subtitle, drawing.words(domain))
    yield "" if table is None else table.to_csv()


@pytest.mark.slow
def test_pictures_are_what_they_were() -> None:
    compare("pictures", (item for table in TABLES for item in list_pictures(*table)))
