"""Whatever a link or a file of settings asks for: the page opens, with a sentence where it cannot be served."""

from __future__ import annotations

import json
from urllib.parse import unquote

import pytest
import yaml

from tests.pages.tables import app_on, open_blobs, sound, text_of

GOOD = {
    **{"dpviz": "trade-off study", "version": 1, "algorithms": [{"algorithm": "eugkm", "params": {}}]},
    **{"epsilon_from": 0.1, "epsilon_to": 10.0, "k": 3, "delta": 1e-6, "repeats": 2},
}
LONG = "9" * 400


@pytest.mark.slow
@pytest.mark.parametrize(
    "link",
    [
        {"epsilon": ".inf", "k": "nan", "delta": "-0"},
        {"epsilon": LONG, "k": LONG, "delta": f"0.{LONG}"},
        {"epsilon": "1_0", "k": "1e2", "delta": "1e-320"},
        {"k": "2.5", "epsilon": "[1]"},
        {"algorithm": "nobody"},
        {"algorithm": "x" * 5000},
        {"algorithm": "<img src=http://x.invalid>"},
        {"algorithm": "dplloyd", "dplloyd.rounds": "nan", "dplloyd.preset": "nobody"},
        {"algorithm": "dplloyd", "dplloyd.rounds": LONG},
        {"algorithm": "eugkm", "eugkm.theta": "inf", "eugkm.starts": "-1"},
        {"explore": "x", "nobody.knows": "1", "": ""},
        {"epsilons": "nan,inf", "ks": LONG},
    ],
    ids=lambda link: unquote(" ".join(link))[:30],
)
@pytest.mark.parametrize("page", ["explore.py", "tradeoff.py"])
def test_no_link_brings_a_page_down(page: str, link: dict[str, str]) -> None:
    app = app_on(page, open_blobs(), **link)
    assert "x.invalid" not in text_of(app)


@pytest.mark.parametrize("link", [{"algorithm": "nobody", "epsilon": "nan", "k": LONG}, {"study": "{", "delta": "x"}])
def test_no_link_brings_a_visit_down_that_has_no_table_yet(link: dict[str, str]) -> None:
    app = app_on("home.py", None, **link)
    app.session_state["visit:table"] = open_blobs()
    app.switch_page("explore.py")
    sound(app.run())


@pytest.mark.some(4)
@pytest.mark.parametrize(
    "study",
    [
        "{",
        "[" * 4000,
        "a: &a [*a]",
        yaml.safe_dump(GOOD | {"epsilon_from": float("inf")}),
        yaml.safe_dump(GOOD | {"k": float("nan")}),
        json.dumps(GOOD | {"k": 10**400}),
        json.dumps(GOOD | {"delta": 0.5}),
        json.dumps(GOOD | {"repeats": 51}),
        json.dumps(GOOD | {"k": 1_001}),
        json.dumps(GOOD | {"epsilon_to": 36.0}),
        json.dumps(GOOD | {"algorithms": [{"algorithm": ["eugkm"]}]}),
        json.dumps(GOOD | {"algorithms": [{"algorithm": "kmeans++"}]}),
        json.dumps(GOOD | {"algorithms": [{"algorithm": "![i](http://x.invalid/y.png)"}]}),
        json.dumps(GOOD | {"![i](http://x.invalid/y.png)": 1}),
    ],
)
def test_settings_that_cannot_be_used_are_refused_in_one_sentence(study: str) -> None:
    app = app_on("tradeoff.py", open_blobs(), study=study)
    (said,) = app.error
    assert "settings of this link cannot be used" in said.proto.title
    assert "](http" not in said.value and len(said.value) < 1_000


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "link",
    [
        {"epsilons": "0.1,x"},
        {"epsilons": "36"},
        {"ks": "3,5"},
        {"ks": "1001"},
        {"ns": "100"},
        {"deltas": "0.5"},
        {"repeats": "51"},
        {"seed": "7"},
        {"algorithms": "nobody"},
        {"algorithms": "kmeans++"},
        {"algorithms": "eugkm:theta=3"},
        {"algorithms": "![i](http://x.invalid/y.png)"},
        {"algorithms": ",".join(["eugkm"] * 5000)},
    ],
)
def test_a_study_that_the_form_cannot_show_is_refused_in_one_sentence(link: dict[str, str]) -> None:
    app = app_on("tradeoff.py", open_blobs(), **link)
    (said,) = app.error
    assert "settings of this link cannot be used" in said.proto.title
    assert "](http" not in said.value and len(said.value) < 1_000


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon_from": 1.0, "epsilon_to": 1.0},
        {"epsilon_from": 0.01, "epsilon_to": 35.0},
        {"epsilon_from": 0.123456789, "epsilon_to": 0.1234567891},
        {"algorithms": []},
        {"algorithms": [{"algorithm": "eugkm"}, {"algorithm": "eugkm", "params": {}}]},
        {"k": 1_000, "repeats": 50, "delta": 0.1},
    ],
)
def test_settings_at_the_edge_of_what_is_allowed_open_the_form(change: dict[str, object]) -> None:
    app = app_on("tradeoff.py", open_blobs(), study=json.dumps(GOOD | change))
    assert "settings of this link" not in text_of(app)
    sound(app.run())
