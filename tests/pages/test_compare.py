"""Compare: every algorithm, one set of axes; on a private file nothing is read until its owner says so."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpviz.algorithms.registry import CARDS, list_private_cards
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.studies.compare_page import find_median_runs
from dpviz.app.ui.studies.study_job import list_contenders
from dpviz.runs.jobs import JobState
from dpviz.tables.declarations import FileKind
from dpviz.words.wording import format_ratio
from tests.pages.site import press
from tests.pages.tables import ArrivingJob, app_on, computed, open_blobs, sound, study_in, text_of, truth_switch


def compared(kind: FileKind = FileKind.PUBLIC, *, labels: list[str]):
    app = app_on("compare.py", open_blobs(kind))
    app.multiselect(key="compare:contenders").set_value(labels)
    app.slider(key="compare:repeats").set_value(3)
    app.number_input(key="k").set_value(3)
    return computed(sound(app.run()), "compare")


@pytest.mark.slow
def test_every_algorithm_is_compared_with_its_defaults_and_each_has_its_picture() -> None:
    app = app_on("compare.py", open_blobs())
    app.slider(key="compare:repeats").set_value(1)
    app.number_input(key="k").set_value(3)
    sound(app.run())
    few = app.multiselect(key="compare:contenders").value
    assert 2 <= len(few) < 7 and len({card.family for card in CARDS.values() if card.title in few}) > 1
    press(app, "Add all that can run")
    assert "Too few records for" in text_of(app)
    computed(app, "compare")
    study = study_in(app, "compare")
    shown = {card.title for card in list_private_cards()}
    assert {row["contender"] for row in study.rows} == shown and len(study.rows) == len(shown)
    scores, *pictures = (json.loads(chart.proto.spec) for chart in app.get("plotly_chart"))
    assert len(pictures) == len(shown)
    assert all(name.split()[0] in json.dumps(scores["layout"]) for name in shown)
    ordered = sorted(study.rows, key=lambda row: row["ratio"])
    places = [text_of(app).index(f"**{escape_markdown(row['contender'])}**") for row in ordered]
    assert places == sorted(places)
    app.session_state["compare:below"] = "Table"
    assert sorted(sound(app.run()).dataframe[0].value["algorithm"]) == sorted(shown)
    table = app.dataframe[0].value
    assert all("×]" in cell for cell in table["ratio"]) and "[" not in "".join(table["nicv"])
    app.pills(key="compare:measure").set_value("nicv")
    table = sound(app.run()).dataframe[0].value
    assert all("[" in cell for cell in table["nicv"]) and "[" not in "".join(table["ratio"])


def test_presets_can_compete() -> None:
    labels = [contender.label for contender in list_contenders() if contender.params][:3]
    app = compared(labels=labels)
    assert len(app.multiselect(key="compare:contenders").options) == len(list_contenders())
    assert {row["contender"] for row in study_in(app, "compare").rows} == set(labels)


@pytest.mark.slow
def test_a_result_is_kept_and_marked_when_the_form_changes_and_not_disturbed_by_runs_that_arrive() -> None:
    app = compared(labels=["DPLloyd", "EUGkM"])
    study = study_in(app, "compare")
    one_by_one = sorted(study.rows, key=lambda row: str(row["contender"]))
    for begun in range(len(one_by_one)):
        app.session_state["compare:job"] = replace(study, job=ArrivingJob(one_by_one[begun:]))
        assert sound(app.run()).get("plotly_chart")
    app.session_state["compare:job"] = study
    app.number_input(key="epsilon").set_value(5.0)
    sound(app.run())
    assert "older settings" in text_of(app)
    sound(app.switch_page("home.py").run())
    sound(app.switch_page("compare.py").run())
    assert len(study_in(app, "compare").rows) == 6 and app.get("plotly_chart")


class EndingJob(ArrivingJob):
    """A job that ends at the very moment at which someone looks at what has arrived."""

    @property
    def items(self) -> list[Any]:
        arrived = super().items
        self.state = JobState.DONE
        return arrived


def test_a_study_that_ends_while_it_is_looked_at_does_not_pass_for_whole() -> None:
    study = study_in(compared(labels=["DPLloyd"]), "compare")
    now = replace(study, job=EndingJob(study.job.items)).take_snapshot()
    assert now.running and len(now.items) == len(now.items) == 1


def test_a_private_file_is_judged_on_a_stand_in_and_no_row_is_read() -> None:
    app = compared(FileKind.PRIVATE, labels=["DPLloyd"])
    table = app.session_state["visit:table"]
    study = study_in(app, "compare")
    assert study.rows and study.source.kind is FileKind.SIMULATED
    assert study.source.domain.columns == table.domain.columns
    assert not table.private.accesses
    assert app.button(key="compare:compute")


def test_judging_a_private_file_on_its_own_rows_is_asked_for_counted_and_never_a_file() -> None:
    app = app_on("compare.py", open_blobs(FileKind.PRIVATE))
    app.segmented_control(key="compare:judged").set_value("the rows themselves")
    sound(app.run())
    assert app.button(key="compare:compute").disabled
    assert not app.session_state["visit:table"].private.accesses
    app.button(key="compare:allow").click()
    sound(app.run())
    app.multiselect(key="compare:contenders").set_value(["DPLloyd"])
    app.slider(key="compare:repeats").set_value(2)
    computed(sound(app.run()), "compare")
    looks = app.session_state["visit:table"].private.accesses
    assert any("study runs" in look for look in looks)
    assert not app.get("download_button")


def test_with_truth_switched_off_a_public_table_is_not_read_either() -> None:
    app = app_on("home.py", open_blobs())
    truth_switch(app).set_value(False)
    sound(app.run())
    sound(app.switch_page("compare.py").run())
    assert app.button(key="compare:compute").disabled


def test_without_an_algorithm_or_with_k_above_n_it_cannot_run() -> None:
    app = app_on("compare.py", open_blobs())
    app.multiselect(key="compare:contenders").set_value([])
    sound(app.run())
    assert app.button(key="compare:compute").disabled and "cannot run" in text_of(app)
    app.multiselect(key="compare:contenders").set_value(["DPLloyd"])
    app.number_input(key="k").set_value(401)
    sound(app.run())
    assert app.button(key="compare:compute").disabled and "cannot run" in text_of(app)


def test_the_drawn_run_is_the_one_of_median_loss() -> None:
    rows = [{"contender": "A", "nicv": loss, "centers": np.full((1, 1), loss)} for loss in (5.0, 1.0, 3.0)]
    rows += [{"contender": "B", "nicv": loss, "centers": np.full((1, 1), loss)} for loss in (4.0, 2.0)]
    found = find_median_runs(rows)
    assert (found["A"]["centers"].item(), found["B"]["centers"].item()) == (3.0, 2.0)


@pytest.mark.slow
def test_the_chart_the_pictures_and_the_table_say_one_number_of_an_algorithm() -> None:
    app = app_on("compare.py", open_blobs())
    app.multiselect(key="compare:contenders").set_value(["DPLloyd", "EUGkM"])
    app.slider(key="compare:repeats").set_value(4)  # an even number: no run has the median loss
    app.number_input(key="k").set_value(3)
    computed(sound(app.run()), "compare")
    rows = study_in(app, "compare").rows
    chart = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]
    said = text_of(app)
    app.session_state["compare:below"] = "Table"
    table = sound(app.run()).dataframe[0].value.set_index("algorithm")["ratio"]
    for name in ("DPLloyd", "EUGkM"):
        losses = [row["ratio"] for row in rows if row["contender"] == name]
        median = format_ratio(float(np.median(losses)))
        assert f":small[**{name}**  \n{median}]" in said
        assert f"<b>{median}</b>" in next(label for label in chart["yaxis"]["ticktext"] if name in label)
        assert table[name].split()[0] == median
        drawn = find_median_runs(rows)[name]["ratio"]
        nearest = min(abs(loss - np.median(losses)) for loss in losses)
        assert abs(drawn - np.median(losses)) == pytest.approx(nearest)
    assert "nearest to its median" in said


@pytest.mark.slow
def test_who_cannot_run_is_named_and_left_out_at_one_press() -> None:
    app = app_on("compare.py", open_blobs())
    app.multiselect(key="compare:contenders").set_value(["DPLloyd", "SuLQ k-means", "k-averages"])
    app.number_input(key="delta").set_value(0.0)
    sound(app.run())
    assert app.button(key="compare:compute").disabled
    said = text_of(app)
    assert "SuLQ k-means needs delta > 0" in said and "One other cannot run either" in said
    assert "cannot run here" in said
    press(app, "Leave out what cannot run")
    assert app.multiselect(key="compare:contenders").value == ["DPLloyd"]
    assert not app.button(key="compare:compute").disabled
    press(app, "Add all that can run")
    able = [
        card.title for card in list_private_cards() if len(card.guarantees) > 1 or card.guarantees[0].value == "pure"
    ]
    assert sorted(app.multiselect(key="compare:contenders").value) == sorted(able)
