"""The picture of every kind of step, and what stands beside it, as plain data in both themes."""

from collections.abc import Iterator
from dataclasses import replace

from dpviz.algorithms.steps import Step
from dpviz.app.charts.picture import Chart, RenderContext
from dpviz.app.charts.plot import pack
from dpviz.app.charts.registry import draw_picture, list_companions
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
    for context in (released, looked):
        beside = list_companions(step, [step], context)
        for chart in (draw_picture(step, context), *(companion.chart for companion in beside)):
            yield from tell(chart) if words else [pack(chart.draw().plot.to_data())]


def tell(chart: Chart) -> Iterator[str]:
    drawn, table = chart.draw(), chart.table()
    yield from (drawn.title, drawn.subtitle, chart.words)
    yield table.to_csv() if len(table.columns) else ""


def test_pictures_are_what_they_were() -> None:
    compare("pictures", (item for table in TABLES for item in list_pictures(*table)))
