"""Navigation, the sidebar, and what pages say while no table is open."""

from __future__ import annotations

import runpy
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from dpviz.app.ui.addresses import MOVED
from dpviz.tables.declarations import FileKind
from tests import waiting
from tests.pages.site import ROUTER, everything_shown, fine, sample_table, visit
from tests.pages.tables import board_in, players, run_again, truth_switch


def at_address(path: str, **link: str) -> AppTest:
    """A visit that begins at an address: those of pages that are no more have no file."""
    at = AppTest.from_file(str(ROUTER), default_timeout=waiting.SECONDS)
    at._page_hash = calc_hash(path)
    at.query_params.update(link)
    return fine(at.run())


STUDY = {"algorithms": "eugkm", "epsilons": "0.25,4", "ks": "4", "table": "fifteen"}


def follows_a_study(at: AppTest) -> bool:
    asked = (at.multiselect(key="compare:contenders").value, at.number_input(key="k").value)
    return asked == (["EUGkM"], 4) and at.select_slider(key="sweep:range:1").value == (0.25, 4.0)


ADDRESSES: dict[str, tuple[dict[str, str], Callable[[AppTest], bool]]] = {
    "tradeoff": (STUDY, follows_a_study),
    "glossary": ({"term": "delta"}, lambda at: at.main.get("page_link")[0].proto.query_string == "term=delta"),
    "ledger": ({}, lambda at: "Nothing is booked yet" in everything_shown(at)),
    "compare": (STUDY, lambda at: at.multiselect(key="compare:contenders").value == ["EUGkM"]),
    "lessons": ({"lesson": "rich-person", "scene": "3"}, lambda at: "3 of 5" in at.get("progress")[0].proto.text),
    "playground": ({}, lambda at: bool(board_in(at))),
    "meaning": ({"epsilon": "3", "part": "odds"}, lambda at: at.title[0].value.startswith("At ε = 3, ")),
    "papers": ({}, lambda at: bool(at.get("plotly_chart"))),
    "read": ({}, lambda at: bool(at.file_uploader(key="read:one"))),
    "learn": ({}, lambda at: at.title[0].value == "Predict, then see"),
    "data": ({"table": "outlier"}, lambda at: at.session_state["visit:table"].title == "One rich person"),
    "explore": (
        {"table": "outlier", "algorithm": "dplloyd", "epsilon": "3", "k": "2"},
        lambda at: [at.session_state["run:result"].run.k, at.session_state["algorithm"]] == [2, "dplloyd"],
    ),
    "release": ({"table": "outlier"}, lambda at: at.session_state["visit:table"].title == "One rich person"),
}
"""Every address that a page has or had, a link to it, and what is to be seen there."""


@pytest.mark.parametrize("path", ADDRESSES)
def test_every_address_and_its_link_lead_to_what_they_ask_for(path: str):
    link, shows = ADDRESSES[path]
    at = at_address(path, **link)
    assert shows(at), (path, at.query_params, [title.value for title in at.title])


def test_every_page_has_an_address_that_is_tried_and_old_ones_have_no_page():
    pages = {page.stem for page in ROUTER.parent.glob("*.py")} - {"_router", "home"}
    assert pages | set(MOVED) == set(ADDRESSES) and not pages & set(MOVED)


def test_explore_and_compare_open_a_public_sample_at_once():
    at = visit("home.py")
    assert at.session_state["visit:table"].title == "Fifteen clusters" and players(at)
    at = visit("compare.py")
    assert at.session_state["visit:table"].title == "Fifteen clusters" and at.button(key="compare:compute")
    assert "An example: stored runs of Su et al. 2016, Fig. 1" in everything_shown(at)
    assert at.get("plotly_chart")[0].proto.alt.startswith("Median loss")


def test_a_spawned_process_that_imports_the_router_draws_nothing():
    runpy.run_path(str(ROUTER), run_name="__mp_main__")


def test_truth_is_off_for_private_files_and_each_look_is_counted_at_once():
    at = run_again(visit(table=sample_table(kind=FileKind.PRIVATE)))
    assert truth_switch(at).value is False
    assert "0 looks at private rows" in everything_shown(at)
    fine(truth_switch(at).set_value(True).run())
    # Rows under the picture, the loss, and k-means++ beside it.
    assert "3 looks at private rows" in everything_shown(fine(at.run()))
    assert "3 looks at private rows" in everything_shown(fine(at.run())), "a rerun is not another look"
