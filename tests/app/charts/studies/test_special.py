"""Charts of made-up results: each keeps the laws of all figures, and is what it was.

Hashes of numbers hold for the processors of ``tests/proof``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dpviz.app.charts.canvas import Diagram
from tests.app.charts.gallery import tell
from tests.app.charts.laws import is_sound
from tests.app.charts.studies.special import LIGHT, SPECIAL, Drawn
from tests.cases import about
from tests.stored import compare_texts

STORED = Path(__file__).parent / "stored"


@pytest.mark.slow
@pytest.mark.parametrize("cases", SPECIAL, ids=lambda cases: cases.__name__.removeprefix("list_"))
def test_charts_keep_all_laws_and_are_drawn_as_they_were(cases) -> None:
    told = []
    for name, chart in cases():
        drawn = Drawn(chart.draw(LIGHT), chart.words, chart.table()) if isinstance(chart, Diagram) else chart
        with about(name):
            if drawn.plot.title:
                keeps_laws(drawn)
            assert len(drawn.words.split()) > 4 and "nan" not in drawn.words
        told.append((name, tell(*drawn)))
    compare_texts(STORED / f"{cases.__name__.removeprefix('list_')}.txt", told)


def keeps_laws(drawn: Drawn) -> None:
    """But for maps, whose cells are blank where nothing has run yet."""
    figure = drawn.plot.headed(LIGHT)
    if any(trace.meta in ("cells", "iso", "numbers") for trace in figure.data):
        lines = [trace for trace in figure.data if trace.meta != "cells"]
        assert all(np.isfinite(np.asarray(trace.x, dtype=float)).all() for trace in lines)
    else:
        is_sound(figure)
