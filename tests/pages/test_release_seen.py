"""What was done on the other pages of a visit stands on the page Release, and so on the card."""

from __future__ import annotations

from dpviz.runs.open_table import declare
from dpviz.tables.declarations import apply_declaration_file
from dpviz.tables.named import open_file
from tests.pages.tables import app_on, sound, text_of
from tests.releases.people import write_people


def test_runs_and_a_k_that_was_read_on_explore_stand_on_the_page(tmp_path) -> None:
    data, declaration = write_people(tmp_path)
    table = declare(open_file(data), apply_declaration_file(declaration).validate())
    app = app_on("explore.py", table, workers=False, algorithm="auto", k="3")
    sound(app.button(key="run").click().run())
    app.toggle(key="explore:read_k").set_value(True)
    sound(app.run())
    sound(app.switch_page("release.py").run())
    told = text_of(app)
    assert "one run on the rows with study noise, ε = 1 in all, which no account has paid for" in told
    assert "one reading of k from the grid of such a run" in told and "no row, no true count" not in told
