"""Compare: every algorithm, one set of axes, and folds that each compute what they show.

On a private file nothing is read until its owner says so.
"""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest
import yaml
from streamlit.testing.v1 import AppTest

from dpviz.algorithms import CARDS, list_private_cards
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.studies.compare_page import find_median_runs
from dpviz.runs import Contender, StudyGrid
from dpviz.tables import FileKind
from dpviz.words import format_ratio
from tests.cases import for_each
from tests.pages import tables
from tests.pages.site import press
from tests.pages.tables import ArrivingJob, app_on, computed, open_blobs, sound, study_in, text_of


def asking(kind: FileKind = FileKind.PUBLIC, labels: tuple[str, ...] | None = None, repeats: int = 3) -> AppTest:
    """The page with some contenders chosen, as many runs each, and k = 3."""
    app = app_on("compare.py", open_blobs(kind))
    if labels is not None:
        app.multiselect(key="compare:contenders").set_value(list(labels))
    app.slider(key="compare:repeats").set_value(repeats)
    app.number_input(key="k").set_value(3)
    return sound(app.run())


def compared(kind: FileKind = FileKind.PUBLIC, *labels: str, repeats: int = 3) -> AppTest:
    return computed(asking(kind, labels, repeats), "compare")


def cannot_run(app: AppTest) -> bool:
    return app.button(key="compare:compute").disabled


def accesses(app: AppTest) -> list[str]:
    return app.session_state["visit:table"].private.accesses


def tabled(app: AppTest):
    app.session_state["compare:below"] = "Table"
    return sound(app.run()).dataframe[0].value


@pytest.mark.slow
def test_every_algorithm_is_compared_with_its_defaults_and_each_has_its_picture() -> None:
    app = asking(repeats=1)
    few = app.multiselect(key="compare:contenders").value
    assert 2 <= len(few) < 7 and len({card.family for card in CARDS.values() if card.title in few}) > 1
    press(app, "Add all that can run")
    assert "Too few records for" in text_of(app)
    study = study_in(computed(app, "compare"), "compare")
    shown = {card.title for card in list_private_cards()}
    assert {row["contender"] for row in study.rows} == shown and len(study.rows) == len(shown)
    scores, *pictures = (json.loads(chart.proto.spec) for chart in app.get("plotly_chart"))
    assert len(pictures) == len(shown)
    assert all(name.split()[0] in json.dumps(scores["layout"]) for name in shown)
    ordered = sorted(study.rows, key=lambda row: row["ratio"])
    places = [text_of(app).index(f"**{escape_markdown(row['contender'])}**") for row in ordered]
    assert places == sorted(places)
    table = tabled(app)
    assert sorted(table["algorithm"]) == sorted(shown)
    assert all("×]" in cell for cell in table["ratio"]) and "[" not in "".join(table["nicv"])
    app.pills(key="compare:measure").set_value("nicv")
    table = sound(app.run()).dataframe[0].value
    assert all("[" in cell for cell in table["nicv"]) and "[" not in "".join(table["ratio"])


@pytest.mark.slow
def test_a_result_is_kept_and_marked_when_the_form_changes_and_not_disturbed_by_runs_that_arrive() -> None:
    app = compared(FileKind.PUBLIC, "DPLloyd", "EUGkM")
    study = study_in(app, "compare")
    one_by_one = sorted(study.rows, key=lambda row: str(row["contender"]))
    for begun in range(len(one_by_one)):
        app.session_state["compare:job"] = replace(study, job=ArrivingJob(one_by_one[begun:]))
        assert sound(app.run()).get("plotly_chart")
    app.session_state["compare:job"] = study
    app.number_input(key="epsilon").set_value(5.0)
    assert "older settings" in text_of(sound(app.run()))
    for page in ("home.py", "compare.py"):
        sound(app.switch_page(page).run())
    assert len(study_in(app, "compare").rows) == 6 and app.get("plotly_chart")


def test_a_private_file_is_judged_on_a_stand_in_and_no_row_is_read() -> None:
    app = compared(FileKind.PRIVATE, "DPLloyd")
    source = study_in(app, "compare").source
    assert study_in(app, "compare").rows and source.kind is FileKind.SIMULATED
    assert source.domain.columns == app.session_state["visit:table"].domain.columns
    assert not accesses(app) and app.button(key="compare:compute")


def test_judging_a_private_file_on_its_own_rows_is_asked_for_counted_and_never_a_file() -> None:
    app = asking(FileKind.PRIVATE, ("DPLloyd",), repeats=2)
    app.segmented_control(key="compare:judged").set_value("the rows themselves")
    assert cannot_run(sound(app.run())) and not accesses(app)
    app.button(key="compare:allow").click()
    computed(sound(app.run()), "compare")
    assert any("study runs" in look for look in accesses(app)) and not app.get("download_button")


def test_without_truth_without_an_algorithm_or_with_k_above_n_it_cannot_run() -> None:
    app = app_on("home.py", open_blobs())
    tables.truth_switch(app).set_value(False)
    sound(app.run())
    assert cannot_run(sound(app.switch_page("compare.py").run()))
    assert "Choose at least one" in text_of(looking_at("sweep", labels=()))
    app = asking(labels=())
    assert cannot_run(app) and "cannot run" in text_of(app)
    app.multiselect(key="compare:contenders").set_value(["DPLloyd"])
    app.number_input(key="k").set_value(401)
    assert cannot_run(sound(app.run())) and "cannot run" in text_of(app)


@pytest.mark.slow
def test_the_chart_the_pictures_and_the_table_say_one_number_of_an_algorithm() -> None:
    app = compared(FileKind.PUBLIC, "DPLloyd", "EUGkM", repeats=4)  # an even number: no run has the median loss
    rows = study_in(app, "compare").rows
    chart, said = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"], text_of(app)
    table = tabled(app).set_index("algorithm")["ratio"]
    for name in ("DPLloyd", "EUGkM"):
        losses = [row["ratio"] for row in rows if row["contender"] == name]
        median = format_ratio(float(np.median(losses)))
        assert f":small[**{name}**  \n{median}]" in said and table[name].split()[0] == median
        assert f"<b>{median}</b>" in next(label for label in chart["yaxis"]["ticktext"] if name in label)
        drawn = find_median_runs(rows)[name]["ratio"]
        nearest = min(abs(loss - np.median(losses)) for loss in losses)
        assert abs(drawn - np.median(losses)) == pytest.approx(nearest)
    assert "nearest to its median" in said


@pytest.mark.slow
def test_who_cannot_run_is_named_and_left_out_at_one_press() -> None:
    app = asking(labels=("DPLloyd", "SuLQ k-means", "k-averages"))
    app.number_input(key="delta").set_value(0.0)
    said = text_of(sound(app.run()))
    assert cannot_run(app) and "cannot run here" in said
    assert "SuLQ k-means needs delta > 0" in said and "One other cannot run either" in said
    press(app, "Leave out what cannot run")
    assert app.multiselect(key="compare:contenders").value == ["DPLloyd"] and not cannot_run(app)
    press(app, "Add all that can run")
    able = [card for card in list_private_cards() if len(card.guarantees) > 1 or card.guarantees[0].value == "pure"]
    assert sorted(app.multiselect(key="compare:contenders").value) == sorted(card.title for card in able)


def looking_at(fold: str, kind: FileKind = FileKind.PUBLIC, *, labels: tuple[str, ...] = ("DPLloyd",)) -> AppTest:
    """The page with one of its folds open, as a link asks for it."""
    app = app_on("compare.py", open_blobs(kind, n=300), drawer=fold)
    app.multiselect(key="compare:contenders").set_value(list(labels))
    app.slider(key="compare:repeats").set_value(2)
    app.number_input(key="k").set_value(3)
    if fold in ("sweep", "map"):
        app.select_slider(key=f"{fold}:range").set_value((0.3, 3.0))
    least = {"sweep": 2, "causes": 3, "payers": 5, "draws": 6}
    if fold in least:
        app.slider(key=f"{fold}:repeats").set_value(least[fold])
    return sound(app.run())


def unfold(app: AppTest, name: str) -> AppTest:
    app.session_state[f"compare:fold:{name}"] = True
    return sound(app.run())


def pressed(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click()
    return sound(sound(app.run()).run())


def job_in(app: AppTest, key: str):
    return app.session_state[f"{key}:job"]


def drawn(app: AppTest) -> list[dict]:
    """The pictures in folds: above them stands an example of a comparison."""
    charts = [chart for chart in app.get("plotly_chart") if "compare:example" not in chart.proto.id]
    return [json.loads(chart.proto.spec) for chart in charts]


@pytest.mark.slow
@for_each("fold", ["causes", "payers"])
def test_parts_of_a_private_file_come_from_a_stand_in_and_what_cannot_be_taken_apart_says_why(fold: str) -> None:
    app = pressed(looking_at(fold, FileKind.PRIVATE), f"{fold}:compute")
    assert job_in(app, fold).source.kind is FileKind.SIMULATED and not accesses(app)
    if fold == "causes":
        app.multiselect(key="compare:contenders").set_value([Contender("lsh-local").label])
        assert "random message" in text_of(sound(app.run())) and app.button(key="causes:compute").disabled


@pytest.mark.slow
def test_the_smallest_epsilon_follows_the_target() -> None:
    app = pressed(looking_at("sweep", labels=("DPLloyd", "EUGkM")), "sweep:compute")
    app.number_input(key="sweep:above").set_value(900.0)
    said = text_of(sound(app.run()))
    # Runs at 0.3 were enough: they give all of it to the centres, a release four fifths of its own.
    assert "**Choose ε = 0.375 or more with" in said and "the 0.375 of one is 0.3 of the runs below" in said
    app.number_input(key="sweep:above").set_value(0.1)
    app.selectbox(key="sweep:share").set_value(0.9)
    said = text_of(sound(app.run()))
    assert "within 0.1 % of k-means" in said.replace("\\", "") and "9 of 10 runs" in said
    (figure,) = drawn(app)
    assert any(trace.get("meta") == "answer" for trace in figure["data"])


_WHO, _WHERE = (Contender("eugkm"), Contender("dplloyd", {"preset": "su"})), StudyGrid.list_epsilons(0.25, 4.0)
WANTED = StudyGrid(_WHO, (4,), _WHERE, (1e-7,), repeats=3)


def asks_for_what_was_wanted(app: AppTest) -> None:
    assert app.multiselect(key="compare:contenders").value == [each.label for each in WANTED.contenders]
    assert app.select_slider(key="sweep:range:1").value == (0.25, 4.0)
    assert app.slider(key="sweep:repeats").value == 3
    assert (app.number_input(key="k").value, app.number_input(key="delta").value) == (4, 1e-7)


def test_a_link_sets_the_form_and_the_link_of_the_settings_keeps_every_epsilon() -> None:
    for link in (dict(parse_qsl(WANTED.to_query())), {"study": WANTED.to_yaml()}):
        asks_for_what_was_wanted(app_on("compare.py", open_blobs(), drawer="sweep", **link))
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
