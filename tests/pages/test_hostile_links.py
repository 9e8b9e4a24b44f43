"""Whatever a link or a file of settings asks for: the page opens, with a sentence where it cannot be served."""

from __future__ import annotations

import json
from typing import Any

import pytest
import streamlit as st

from dpviz.app.ui.studies.compare_page import apply
from dpviz.core.check import RequestError
from dpviz.runs.study.grid import StudyGrid
from tests.cases import about
from tests.pages.tables import app_on, open_blobs, sound, text_of

GOOD = {
    **{"dpviz": "trade-off study", "version": 1, "algorithms": [{"algorithm": "eugkm", "params": {}}]},
    **{"epsilon_from": 0.1, "epsilon_to": 10.0, "k": 3, "delta": 1e-6, "repeats": 2},
}
LONG = "9" * 400
PICTURE = "![i](http://x.invalid/y.png)"
LINKS: tuple[dict[str, str], ...] = (
    {"epsilon": ".inf", "k": "nan", "delta": "-0"},
    {"epsilon": LONG, "k": LONG, "delta": f"0.{LONG}"},
    {"epsilon": "1_0", "k": "2.5", "delta": "1e-320"},
    {"algorithm": "nobody", "explore": "x", "nobody.knows": "1", "": ""},
    {"algorithm": "x" * 5000, "epsilon": "[1]", "k": "1e2"},
    {"algorithm": "<img src=http://x.invalid>"},
    {"algorithm": "dplloyd", "dplloyd.rounds": "nan", "dplloyd.preset": "nobody"},
    {"algorithm": "dplloyd", "dplloyd.rounds": LONG},
    {"algorithm": "eugkm", "eugkm.theta": "inf", "eugkm.starts": "-1"},
    {"epsilons": "nan,inf", "ks": LONG},
)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "links"), [("explore.py", LINKS), ("compare.py", (*LINKS[:3], *LINKS[-1:]))])
def test_no_link_brings_a_page_down(page: str, links: tuple[dict[str, str], ...]) -> None:
    for link in links:
        with about(link):
            assert "x.invalid" not in text_of(app_on(page, open_blobs(n=60), **link))


def test_no_link_brings_a_visit_down_that_has_no_table_yet() -> None:
    link = {"algorithm": "nobody", "epsilon": "nan", "k": LONG, "study": "{", "delta": "x"}
    app = app_on("home.py", None, **link)
    app.session_state["visit:table"] = open_blobs()
    app.switch_page("home.py")
    sound(app.run())


@pytest.mark.parametrize(
    "link",
    [
        {"study": "[" * 4000},
        {"study": json.dumps(GOOD | {"algorithms": [{"algorithm": PICTURE}]})},
        {"study": json.dumps(GOOD | {PICTURE: 1})},
        {"algorithms": PICTURE, "ks": "3,5"},
        {"algorithms": ",".join(["eugkm"] * 5000)},
    ],
    ids=["nested", "picture", "picture as a name", "link", "long"],
)
def test_settings_that_cannot_be_used_are_refused_in_one_sentence(link: dict[str, str]) -> None:
    (said,) = app_on("compare.py", open_blobs(), **link).error
    assert "settings of this link cannot be used" in said.proto.title
    assert "](http" not in said.value and len(said.value) < 1_000


@pytest.fixture
def form(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the widgets of the form would say, without a page."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state


def test_what_the_form_cannot_show_is_refused_and_changes_nothing(form: dict[str, Any]) -> None:
    too_much = ({"epsilons": "36"}, {"ks": "1001"}, {"deltas": "0.5"}, {"repeats": "51"})
    of_one = ({"ks": "3,5"}, {"ns": "100"}, {"seed": "7"})
    for query in (*too_much, *of_one, {"algorithms": "eugkm:theta=3"}, {"algorithms": "kmeans++"}):
        with about(query), pytest.raises(RequestError, match=r"This page|These forms|cannot be chosen"):
            apply(StudyGrid.from_query(query))
    assert form == {}


def test_settings_at_the_edge_of_what_is_allowed_set_the_form(form: dict[str, Any]) -> None:
    eugkm = {"algorithm": "eugkm"}
    for change in (
        {"epsilon_from": 1.0, "epsilon_to": 1.0},
        {"epsilon_from": 0.01, "epsilon_to": 35.0},
        {"epsilon_from": 0.123456789, "epsilon_to": 0.1234567891},
        {"algorithms": []},
        {"algorithms": [eugkm, {**eugkm, "params": {}}]},
        {"k": 1_000, "repeats": 50, "delta": 0.1},
    ):
        with about(change):
            grid = StudyGrid.from_yaml(json.dumps(GOOD | change))
            apply(grid)
            assert (form["k"], form["delta"], form["sweep:repeats"]) == (grid.ks[0], grid.deltas[0], grid.repeats)


def test_a_single_epsilon_and_no_algorithm_open_the_form() -> None:
    same = json.dumps(GOOD | {"epsilon_from": 1.0, "epsilon_to": 1.0})
    app = app_on("compare.py", open_blobs(), study=same, drawer="sweep")
    assert "settings of this link" not in text_of(app)
    app = app_on("compare.py", open_blobs(), drawer="sweep", study=json.dumps(GOOD | {"algorithms": []}))
    assert "settings of this link" not in text_of(sound(app.run()))
