"""The folds of the page Compare: each computes what it shows, says what it cannot, and shows its numbers."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl

import numpy as np
import pytest
import yaml
from streamlit.testing.v1 import AppTest

from dpviz.app.ui.studies.compare_page import FOLDS
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.study import Yardstick
from dpviz.tables.declarations import FileKind
from tests.pages.tables import app_on, open_blobs, read_animation, sound, study_in, text_of
from tests.pages.visible_words import visible_words


def looking_at(fold: str, kind: FileKind = FileKind.PUBLIC, *, labels: tuple[str, ...] = ("DPLloyd",)) -> AppTest:
    """The page with one of its folds open, as a link asks for it."""
    app = app_on("compare.py", open_blobs(kind, n=300), drawer=fold)
    app.multiselect(key="compare:contenders").set_value(list(labels))
    app.slider(key="compare:repeats").set_value(2)
    app.number_input(key="k").set_value(3)
    if fold in ("sweep", "map"):
        app.select_slider(key=f"{fold}:range").set_value((0.3, 3.0))
    if fold == "sweep":
        app.slider(key="sweep:repeats").set_value(2)
    return sound(app.run())


def unfold(app: AppTest, name: str) -> AppTest:
    app.session_state[f"compare:fold:{name}"] = True
    return sound(app.run())


def pressed(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click()
    sound(app.run())
    return sound(app.run())


def drawn(app: AppTest) -> list[dict]:
    """The pictures in folds: above them stands an example of a comparison."""
    charts = [chart for chart in app.get("plotly_chart") if "compare:example" not in chart.proto.id]
    return [json.loads(chart.proto.spec) for chart in charts]


@pytest.mark.slow
def test_the_error_of_a_grid_is_taken_apart() -> None:
    app = looking_at("causes", labels=("EUGkM", "DPLloyd"))
    app.slider(key="causes:repeats").set_value(3)
    app = pressed(sound(app.run()), "causes:compute")
    (figure,) = drawn(app)
    assert "private" in figure["layout"]["yaxis"]["ticktext"]
    assert "matches the settings" in text_of(app)
    app.selectbox(key="causes:whom").set_value("DPLloyd")
    assert "older settings" in text_of(sound(app.run()))
    (base, *runs) = app.session_state["causes:job"].items
    assert isinstance(base, Yardstick) and len(runs) == 3


@pytest.mark.slow
def test_parts_of_a_private_file_come_from_a_stand_in_and_what_cannot_be_taken_apart_says_why() -> None:
    app = looking_at("causes", FileKind.PRIVATE)
    app.slider(key="causes:repeats").set_value(3)
    app = pressed(sound(app.run()), "causes:compute")
    assert app.session_state["causes:job"].source.kind is FileKind.SIMULATED
    assert not app.session_state["visit:table"].private.accesses
    app.multiselect(key="compare:contenders").set_value([Contender("lsh-local").label])
    assert "random message" in text_of(sound(app.run()))
    assert app.button(key="causes:compute").disabled


@pytest.mark.slow
def test_who_pays_is_told_by_cluster_and_never_of_a_private_file() -> None:
    app = looking_at("payers", labels=("DPLloyd",))
    app.slider(key="payers:repeats").set_value(5)
    app = pressed(sound(app.run()), "payers:compute")
    (figure,) = drawn(app)
    assert "the smallest cluster loses" in text_of(app) and "eight of ten draws" in text_of(app)
    assert figure["data"][0]["name"] == "◉ clusters of k-means++"
    private = pressed(looking_at("payers", FileKind.PRIVATE, labels=("DPLloyd",)), "payers:compute")
    assert private.session_state["payers:job"].source.kind is FileKind.SIMULATED
    assert not private.session_state["visit:table"].private.accesses


@pytest.mark.slow
def test_the_smallest_epsilon_follows_the_target_and_is_sharpened() -> None:
    app = pressed(looking_at("sweep", labels=("DPLloyd", "EUGkM")), "sweep:compute")
    app.number_input(key="sweep:above").set_value(900.0)
    sound(app.run())
    # Runs at 0.3 were enough: they give all of it to the centres, a release four fifths of its own.
    assert "**Choose ε = 0.375 or more with" in text_of(app)
    assert "the 0.375 of one is 0.3 of the runs below" in text_of(app)
    app.number_input(key="sweep:above").set_value(0.1)
    app.selectbox(key="sweep:share").set_value(0.9)
    sound(app.run())
    assert "within 0.1 % of k-means" in text_of(app).replace("\\", "") and "9 of 10 runs" in text_of(app)
    (figure,) = drawn(app)
    assert any(trace.get("meta") == "answer" for trace in figure["data"])


@pytest.mark.slow
def test_a_bisection_adds_runs_to_the_answer() -> None:
    app = pressed(looking_at("sweep", labels=("DPLloyd",)), "sweep:compute")
    rows = app.session_state["sweep:job"].rows
    first, last = (np.median([row["ratio"] for row in rows if row["epsilon"] == e]) for e in (0.3, 3.0))
    app.number_input(key="sweep:above").set_value(float(100 * (np.sqrt(first * last) - 1)))
    app = pressed(sound(app.run()), "sweep:smallest:compute")
    more = app.session_state["sweep:smallest:job"].items
    assert more and {row["contender"] for row in more} == {"DPLloyd"}
    assert not {row["epsilon"] for row in more} & {row["epsilon"] for row in rows}


@pytest.mark.slow
def test_a_map_of_epsilon_and_n_marks_the_users_rows_and_may_go_beyond_them_on_a_stand_in() -> None:
    app = pressed(looking_at("map", labels=("DPLloyd", "EUGkM")), "map:compute")
    study = app.session_state["map:job"]
    assert {row["contender"] for row in study.rows} == {"DPLloyd"}
    (figure,) = drawn(app)
    (cells,) = [trace for trace in figure["data"] if trace.get("meta") == "cells"]
    assert len(study.grid.ns) == 3 and study.grid.ns[-1] is None
    assert "yours: n = 300" in json.dumps(figure["layout"], ensure_ascii=False)
    assert cells["type"] == "heatmap"
    app.segmented_control(key="map:whose").set_value("a larger synthetic table")
    app = pressed(sound(app.run()), "map:compute")
    study = app.session_state["map:job"]
    assert study.source.kind is FileKind.SIMULATED and study.source.n_public == 3000


@pytest.mark.slow
@pytest.mark.parametrize(("key", "over"), [("ks", "k"), ("ns", "n")])
def test_a_sweep_over_k_or_n(key: str, over: str) -> None:
    app = pressed(looking_at(key), f"{key}:compute")
    rows = app.session_state[f"{key}:job"].rows
    assert (
        len({row[over] for row in rows if row[over] == row[over]}) >= 2 and len({row["epsilon"] for row in rows}) == 1
    )
    assert drawn(app)


@pytest.mark.slow
def test_draws_are_played_beside_their_cloud() -> None:
    app = looking_at("draws")
    app.slider(key="draws:repeats").set_value(6)
    app = pressed(sound(app.run()), "draws:compute")
    assert len(app.session_state["draws:job"].rows) == 6
    animation, losses = read_animation(app), [row["ratio"] for row in study_in(app, "draws").rows]
    assert len(animation["steps"]) == 6 and not drawn(app)
    for place, (step, loss) in enumerate(zip(animation["steps"], losses, strict=True), start=1):
        assert step["told"].startswith(f"Draw {place} of 6: {loss:.2f}×")
        (cloud,) = step["sides"]
        assert "strays most" in cloud["title"] and cloud["alt"].startswith(cloud["title"])
    (told,) = animation["numbers"]
    ends = dict.fromkeys(f"{end:.2f}×" for end in (min(losses), max(losses)))
    assert told["kind"] == "revealed" and told["value"] == " to ".join(ends)


def test_without_an_algorithm_it_asks_for_one() -> None:
    app = looking_at("sweep", labels=())
    for place, name in enumerate(name for name in FOLDS if name not in ("sweep", "settings")):
        assert text_of(app).count("Choose at least one algorithm above.") == place, name
        unfold(app, name)


WANTED = StudyGrid(
    (Contender("eugkm"), Contender("dplloyd", {"preset": "su"})),
    (4,),
    StudyGrid.list_epsilons(0.25, 4.0),
    (1e-7,),
    repeats=3,
)


def asks_for_what_was_wanted(app: AppTest) -> None:
    assert app.multiselect(key="compare:contenders").value == [each.label for each in WANTED.contenders]
    assert app.select_slider(key="sweep:range:1").value == (0.25, 4.0)
    assert app.slider(key="sweep:repeats").value == 3
    assert (app.number_input(key="k").value, app.number_input(key="delta").value) == (4, 1e-7)


@pytest.mark.slow
def test_a_link_sets_the_form() -> None:
    asks_for_what_was_wanted(app_on("compare.py", open_blobs(), drawer="sweep", **dict(parse_qsl(WANTED.to_query()))))
    asks_for_what_was_wanted(app_on("compare.py", open_blobs(), drawer="sweep", study=WANTED.to_yaml()))


def test_the_link_of_the_settings_keeps_every_epsilon_of_the_link_that_was_followed() -> None:
    app = app_on("compare.py", open_blobs(), drawer="sweep", epsilons="0.1,0.4,1", algorithms="eugkm")
    unfold(app, "settings")
    assert "algorithms=eugkm&epsilons=0.1,0.4,1&" in sound(app.run()).code[0].value
    app.select_slider(key="sweep:range:1").set_value((0.1, 0.3))
    assert "&epsilons=0.1,0.2,0.3&" in sound(app.run()).code[0].value


def test_a_file_of_settings_loads_back_outlives_a_change_of_page_and_another_file_is_refused() -> None:
    app = looking_at("settings")
    assert yaml.safe_load(app.code[1].value)["ks"] == [3]
    app.file_uploader(key="sweep:settings:upload").upload("s.yaml", b"k: 7")
    assert "not the settings of a trade-off study" in text_of(sound(app.run()))
    assert app.number_input(key="k").value == 3
    app.file_uploader(key="sweep:settings:upload").upload("s.yaml", WANTED.to_yaml().encode())
    asks_for_what_was_wanted(unfold(app, "sweep"))
    sound(app.switch_page("home.py").run())
    asks_for_what_was_wanted(unfold(sound(app.switch_page("compare.py").run()), "sweep"))


@pytest.mark.slow
def test_a_sweep_of_a_private_file_is_of_made_up_rows_says_so_and_its_epsilon_is_taken_on() -> None:
    app = looking_at("sweep", FileKind.PRIVATE)
    app.number_input(key="sweep:above").set_value(900.0)
    app = pressed(sound(app.run()), "sweep:compute")
    assert app.session_state["sweep:job"].source.n_public == 300
    assert "A synthetic table has 3 clear groups; your rows may need more." in text_of(app)
    app.button(key="sweep:take").click()
    app.run()
    assert app.session_state["algorithm"] and 0 < app.session_state["epsilon"] < 100 and app.session_state["k"] == 3
    assert not app.session_state["visit:table"].private.accesses


@pytest.mark.slow
def test_no_section_is_a_wall_of_words() -> None:
    """Before any run; with nine sections it was 1,526 words in all, and 274 on the longest."""
    alone = len(visible_words(looking_at("")))
    assert alone <= 150, alone
    counts = {name: len(visible_words(looking_at(name))) - alone for name in FOLDS}
    assert sum(counts.values()) <= 0.27 * 1526 and max(counts.values()) <= 110, counts
