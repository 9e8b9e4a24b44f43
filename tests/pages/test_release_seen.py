"""What was done on the other pages, in this visit or another, stands on the page Release, and so on the card."""

from __future__ import annotations

from dpviz.core.private_session import ACCESS_LOG, AccessKind
from tests.pages.site import turn_to
from tests.pages.tables import app_on, computed, open_below, run_again, sound, text_of, truth_switch
from tests.releases.people import open_people


def test_runs_and_a_k_that_was_read_on_explore_stand_on_the_page(tmp_path) -> None:
    app = app_on("home.py", open_people(tmp_path), workers=False, algorithm="auto", k="3")
    open_below(run_again(app), "What was found")
    app.toggle(key="explore:read_k").set_value(True)
    sound(app.run())
    for page in (turn_to(app, "release.py"), app_on("release.py", open_people(tmp_path), k="3")):
        told = text_of(sound(page.run()))
        assert "one run on the rows with study noise, ε = 0.8 in all, which no account has paid for" in told
        assert "one reading of k from the grid of such a run" in told and "no row, no true count" not in told


def test_each_visit_to_this_process_counts_its_looks_once_and_all_visits_are_told_of_them(tmp_path) -> None:
    table = open_people(tmp_path)
    assert "None that the releasing process counted" in text_of(app_on("release.py", table, k="3"))
    for visits, number in ((1, "one"), (2, "two")):
        app = app_on("home.py", open_people(tmp_path), algorithm="dplloyd", k="3")
        run_again(app)
        sound(truth_switch(app).set_value(True).run())
        sound(app.run())
        shown = {AccessKind.ROWS: visits, AccessKind.LOSS: visits, AccessKind.REFERENCE: visits}
        assert ACCESS_LOG.count(table.source_key).looks == shown
        told = text_of(app_on("release.py", open_people(tmp_path), k="3"))
        assert f"{number} look{'s' * (visits > 1)} at losses on the rows" in told
    sound(app.switch_page("compare.py").run())
    app.segmented_control(key="compare:judged").set_value("the rows themselves")
    app.multiselect(key="compare:contenders").set_value(["DPLloyd"])
    app.slider(key="compare:repeats").set_value(1)
    sound(app.run())
    computed(app, "compare")
    told = text_of(app_on("release.py", open_people(tmp_path), k="3"))
    assert "three looks at losses on the rows" in told and "one study on them" in told
