"""Addresses and links: each leads to what it asks for; what cannot be served is a sentence, and nothing breaks."""

import json
import runpy
from collections.abc import Callable

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from dpviz.app.ui.addresses import MOVED
from dpviz.tables import FileKind
from tests import waiting
from tests.cases import for_each
from tests.pages.site import ROUTER, everything_shown, fine, sample_table, visit
from tests.pages.tables import app_on, board_in, open_blobs, run_again, truth_switch

STUDY = {"algorithms": "eugkm", "epsilons": "0.25,4", "ks": "4", "table": "fifteen"}


def follows_a_study(at: AppTest) -> bool:
    asked = (at.multiselect(key="compare:contenders").value, at.number_input(key="k").value)
    return asked == (["EUGkM"], 4) and at.select_slider(key="sweep:range:1").value == (0.25, 4.0)


def shows_outlier(at: AppTest) -> bool:
    return at.session_state["visit:table"].title == "One rich person"


EXPLORED = {"table": "outlier", "algorithm": "dplloyd", "epsilon": "3", "k": "2"}
ADDRESSES: dict[str, tuple[dict[str, str], Callable[[AppTest], bool]]] = {
    "tradeoff": (STUDY, follows_a_study),
    "glossary": ({"term": "delta"}, lambda at: at.main.get("page_link")[0].proto.query_string == "term=delta"),
    "ledger": ({}, lambda at: "Fifteen clusters: 1 run spent" in everything_shown(at)),
    "compare": (STUDY, lambda at: at.multiselect(key="compare:contenders").value == ["EUGkM"]),
    "lessons": ({"lesson": "rich-person", "scene": "3"}, lambda at: "3 of 5" in at.get("progress")[0].proto.text),
    "playground": ({}, lambda at: bool(board_in(at))),
    "meaning": ({"epsilon": "3", "part": "odds"}, lambda at: at.title[0].value.startswith("At ε = 3, ")),
    "papers": ({}, lambda at: bool(at.get("plotly_chart"))),
    "read": ({}, lambda at: bool(at.file_uploader(key="read:one"))),
    "learn": ({}, lambda at: at.title[0].value == "Predict, then see"),
    "data": ({"table": "outlier"}, shows_outlier),
    "explore": (
        EXPLORED,
        lambda at: (at.session_state["run:result"].run.k, at.session_state["algorithm"]) == (2, "dplloyd"),
    ),
    "release": ({"table": "outlier"}, shows_outlier),
}
"""Every address that a page has or had, a link to it, and what is to be seen there."""


@for_each(("path", "asked"), ADDRESSES.items())
def test_every_address_and_its_link_lead_to_what_they_ask_for(path: str, asked: tuple[dict, Callable]) -> None:
    link, shows = asked
    at = AppTest.from_file(str(ROUTER), default_timeout=waiting.SECONDS)
    at._page_hash = calc_hash(path)  # those of pages that are no more have no file
    at.query_params.update(link)
    assert shows(fine(at.run())), (at.query_params, [title.value for title in at.title])


def test_every_page_has_an_address_that_is_tried_and_old_ones_have_no_page() -> None:
    pages = {page.stem for page in ROUTER.parent.glob("*.py")} - {"_router", "home"}
    assert pages | set(MOVED) == set(ADDRESSES) and not pages & set(MOVED)
    runpy.run_path(str(ROUTER), run_name="__mp_main__")  # a spawned process that imports it draws nothing


def test_truth_is_off_for_private_files_and_each_look_is_counted_at_once() -> None:
    at = run_again(visit(table=sample_table(kind=FileKind.PRIVATE)))
    assert truth_switch(at).value is False and "0 looks at private rows" in everything_shown(at)
    truth_switch(at).set_value(True)
    for _ in range(2):  # rows under the picture, the loss, and k-means++ beside it; a rerun is not another look
        assert "3 looks at private rows" in everything_shown(fine(at.run()))


GOOD = {
    **{"dpviz": "trade-off study", "version": 1, "algorithms": [{"algorithm": "eugkm", "params": {}}]},
    **{"epsilon_from": 0.1, "epsilon_to": 10.0, "k": 3, "delta": 1e-6, "repeats": 2},
}
PICTURE = "![i](http://x.invalid/y.png)"


@for_each(
    "link",
    [
        {"study": "[" * 4000},
        {"study": json.dumps(GOOD | {"algorithms": [{"algorithm": PICTURE}]})},
        {"study": json.dumps(GOOD | {PICTURE: 1})},
        *({"algorithms": PICTURE, "ks": "3,5"}, {"epsilons": "36"}, {"ks": "3,5"}, {"algorithms": "kmeans++"}),
        {"algorithms": ",".join(["eugkm"] * 5000)},
    ],
)
def test_settings_that_cannot_be_used_are_refused_in_one_sentence(link: dict[str, str]) -> None:
    (said,) = app_on("compare.py", open_blobs(), **link).error
    assert "settings of this link cannot be used" in said.proto.title
    assert "](http" not in said.value and len(said.value) < 1_000
