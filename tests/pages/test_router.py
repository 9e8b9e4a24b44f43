"""Navigation, the sidebar, and what pages say while no table is open."""

from __future__ import annotations

import runpy

from dpviz.tables.declarations import FileKind
from tests.pages.site import ROUTER, everything_shown, fine, sample_table, visit
from tests.pages.tables import players, truth_switch


def test_pages_that_need_a_table_say_so_and_lead_to_data():
    for page in ("tradeoff.py", "release.py"):
        at = visit(page)
        assert "No table is open yet" in everything_shown(at), page
        assert not players(at), page
        fine(at.button(key="open_a_table").click().run())
        assert at.title[0].value == "Data", page


def test_explore_and_compare_open_a_public_sample_at_once():
    at = visit("explore.py")
    assert at.session_state["visit:table"].title == "Fifteen clusters" and players(at)
    at = visit("compare.py")
    assert at.session_state["visit:table"].title == "Fifteen clusters" and at.button(key="compare:compute")
    assert "An example: stored runs of Su et al. 2016, Fig. 1" in everything_shown(at)
    assert at.get("plotly_chart")[0].proto.alt.startswith("Median loss")


def test_a_spawned_process_that_imports_the_router_draws_nothing():
    runpy.run_path(str(ROUTER), run_name="__mp_main__")


def test_the_rail_says_what_is_open_and_what_it_promises():
    at = visit(table=sample_table())
    shown = " ".join(element.value for element in [*at.sidebar.markdown, *at.sidebar.caption])
    for fact in (
        "Fifteen clusters",
        "public file",
        "5,000 rows × 2 columns",
        "1 row",
        "added or removed",
    ):
        assert fact in shown
    assert truth_switch(at).value is True


def test_truth_is_off_for_private_files_and_each_look_is_counted_at_once():
    at = visit("data.py", table=sample_table(kind=FileKind.PRIVATE))
    assert truth_switch(at).value is False
    assert "0 looks at private rows" in everything_shown(at)
    fine(truth_switch(at).set_value(True).run())
    assert "1 look at private rows" in everything_shown(at)
    fine(at.run())
    assert "1 look at private rows" in everything_shown(at), "a rerun is not another look"
