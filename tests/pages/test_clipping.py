"""What the bounds cut off is shown of rows that are nobody's secret, and not of a private file."""

import numpy as np
from streamlit.testing.v1 import AppTest

from dpviz.runs import OpenTable, declare
from dpviz.tables import Declaration, FileKind, make_numeric_table
from tests.contract.tables import make_blobs
from tests.pages.tables import app_on, open_below, run_again, sound, text_of, truth_switch


def heavy_table(kind: FileKind) -> OpenTable:
    """Three clusters inside the bounds, and one row in twenty far outside them."""
    values, bounds = make_blobs(600, 2), {"lower": (-1.0, -1.0), "upper": (1.0, 1.0)}
    values[:30] = 1 + np.random.default_rng(0).pareto(1.0, (30, 2)) * 4
    declared = Declaration(columns=("x", "y"), **bounds, n_public=600, kind=kind, title="tail")
    return declare(make_numeric_table(values, ["x", "y"], name="tail"), declared)


def preview_of(kind: FileKind, tab: str) -> AppTest:
    """The bench with truth shown and one tab of its preview open."""
    app = app_on("home.py", heavy_table(kind))
    if not kind.may_be_shown:
        run_again(app)
    truth_switch(app).set_value(True)
    sound(app.run())
    app.session_state["bench:table"], app.session_state["preview"] = True, tab
    return sound(app.run())


def test_what_the_bounds_cut_off_a_private_file_is_not_shown_and_the_tab_says_why_and_where_to_look() -> None:
    app = preview_of(FileKind.PRIVATE, "Bounds")
    (said,) = (info for info in app.info if "they cut off" in info.value)
    assert "public data" in said.value and "synthetic table" in said.value
    for tab, words in (("Bounds", "The bounds move"), ("Dots", "lie outside this picture")):
        assert words in text_of(preview_of(FileKind.SIMULATED, tab)), "of rows that are nobody's secret"
        assert words not in text_of(preview_of(FileKind.PRIVATE, tab))
    assert not [table for table in app.dataframe if "above" in table.value.columns]
    assert app.session_state["visit:table"].private.accesses.count("rows and dots under the picture") <= 1
    said_of_run = text_of(open_below(app, "What was found"))
    assert "that of k-means++ (" in said_of_run and "bounds alone move" not in said_of_run
