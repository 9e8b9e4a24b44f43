"""Pictures that no common run has, and charts of made-up results: each keeps all laws, and is what it was.

Hashes of numbers hold for the processors of ``tests/proof``.
"""

from pathlib import Path

import numpy as np
import pytest

from dpviz.app.charts.canvas import Diagram
from dpviz.app.charts.picture import Chart
from dpviz.words import choose_palette
from tests.app.charts.gallery import tell
from tests.app.charts.laws import is_sound, shows_kinds
from tests.app.charts.pictures import special as pictures
from tests.app.charts.studies import special as studies
from tests.cases import about
from tests.stored import compare_texts

LIGHT = choose_palette("light")


@pytest.mark.slow
@pytest.mark.parametrize("cases", [*pictures.SPECIAL, *studies.SPECIAL], ids=lambda cases: cases.__name__)
def test_special_charts_keep_all_laws_and_are_drawn_as_they_were(cases) -> None:
    told = []
    for name, chart in cases():
        with about(name):
            drawn = draw(chart)
            if drawn.plot.title:
                keeps_laws(chart, drawn)
            assert len(drawn.words.split()) > 4 and "nan" not in drawn.words
        told.append((name, tell(*drawn)))
    folder = Path(__file__).parent / cases.__module__.split(".")[-2] / "stored"
    compare_texts(folder / f"{cases.__name__.removeprefix('list_')}.txt", told)


def draw(chart: Chart | Diagram | studies.Drawn) -> studies.Drawn:
    if isinstance(chart, studies.Drawn):
        return chart
    return studies.Drawn(chart.draw(LIGHT) if isinstance(chart, Diagram) else chart.draw(), chart.words, chart.table())


def keeps_laws(chart: Chart | Diagram | studies.Drawn, drawn: studies.Drawn) -> None:
    """But for maps, whose cells are blank where nothing has run yet."""
    figure = drawn.plot.headed(LIGHT)
    if any(trace.meta in ("cells", "iso", "numbers") for trace in figure.data):
        lines = [trace for trace in figure.data if trace.meta != "cells"]
        assert all(np.isfinite(np.asarray(trace.x, dtype=float)).all() for trace in lines)
    else:
        is_sound(figure)
    if isinstance(chart, Chart):
        shows_kinds(figure, LIGHT, {"public", "released", "revealed"})
