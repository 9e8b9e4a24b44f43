"""A sweep over ε: fills while it computes, can be cancelled, is kept across pages, draws baselines and predictions."""

from __future__ import annotations

import io
import json
from typing import Any

import pandas as pd
import pytest

from dpviz.app.charts.plot import Plot
from dpviz.app.ui.studies.study_job import bind_click
from dpviz.app.ui.studies.study_panel import draw_study_page, format_study
from dpviz.app.ui.studies.sweep_section import compute_baselines, list_predictions
from dpviz.core.check import RequestError
from dpviz.runs import jobs
from dpviz.runs.jobs import JobState
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.open_study import Study
from dpviz.runs.worker import Progress
from dpviz.tables.declarations import FileKind
from tests.cases import for_each
from tests.pages.tables import PromptRegistry, app_on, computed, job_of, open_blobs, players, sound, study_in, text_of

SMALL = ["DPLloyd", "EUGkM"]


def traded(
    kind: FileKind = FileKind.PUBLIC,
    *,
    labels: list[str] = SMALL,
    repeats: int = 2,
    n: int = 400,
    workers: bool = False,
):
    app = app_on("compare.py", open_blobs(kind, n=n), drawer="sweep", workers=workers)
    app.multiselect(key="compare:contenders").set_value(labels)
    app.slider(key="sweep:repeats").set_value(repeats)
    app.select_slider(key="sweep:range").set_value((0.3, 3.0))
    app.number_input(key="k").set_value(3)
    return sound(app.run())


def figure(app) -> dict:
    (chart,) = (chart for chart in app.get("plotly_chart") if "sweep:figure" in chart.proto.id)
    return json.loads(chart.proto.spec)


class HeldRegistry(PromptRegistry):
    """A registry on which ``arrived`` items of a study have come, and no more come until the test says so."""

    def __init__(self, arrived: int) -> None:
        self.arrived = arrived

    def start_study(self, *asked: Any, **how: Any) -> Study:
        study = Study(lambda _: None)
        for item in (Progress(0, 1), *super().start_study(*asked, **how).items[: self.arrived]):
            study.hear(item)
        return study


@pytest.mark.slow
def test_a_trade_off_is_drawn_in_every_measure_with_its_baselines_predictions_and_runs_and_kept() -> None:
    app = computed(traded(n=5_000), "sweep")
    study = study_in(app, "sweep")
    assert len(study.rows) == 2 * 2 * len(study.grid.epsilons)
    assert "one centre" not in json.dumps(figure(app)["layout"], ensure_ascii=False)
    app.toggle(key="sweep:dashed").set_value(True)
    sound(app.run())
    drawn = figure(app)
    words = json.dumps(drawn["layout"], ensure_ascii=False)
    assert "one centre" in words and "centres that saw" in words
    assert "2 runs each" in text_of(app) and "title" not in drawn["layout"]
    assert {trace["name"] for trace in drawn["data"] if trace.get("meta") == "median"} == set(SMALL)
    assert any(trace.get("meta") == "prediction" for trace in drawn["data"])
    assert compute_baselines(study, "ratio")["k-means++"] == 1.0
    assert compute_baselines(study, "ari") == {}
    curves = list_predictions(study, "ratio")
    assert set(curves) == set(SMALL)
    for curve in curves.values():
        losses = [loss for _, loss in sorted(curve)]
        assert losses[0] > losses[-1] > 1
    app.toggle(key="sweep:dashed").set_value(False)
    sound(app.run())
    assert not any(trace.get("meta") == "prediction" for trace in figure(app)["data"])
    for measure in ("nicv", "matched_error", "ari", "share_gap", "ratio"):
        app.pills(key="sweep:measure").set_value(measure)
        sound(app.run())
        assert figure(app)["data"]
    sound(app.switch_page("home.py").run())
    sound(app.switch_page("compare.py").run())
    assert len(study_in(app, "sweep").rows) == len(study.rows) and figure(app)["data"]
    assert "matches the settings" in text_of(app)


def test_it_fills_while_it_computes_what_arrived_stays_when_it_is_cancelled_and_is_gone_on_with() -> None:
    app = traded()
    app.session_state["job_panel:registry"] = HeldRegistry(4)
    app.button(key="sweep:compute").click()
    sound(app.run())
    arrived = study_in(app, "sweep").rows
    assert len(arrived) >= 2 and figure(app)["data"]
    app.button(key="sweep:cancel").click()
    sound(app.run())
    assert job_of(app, "sweep").state is JobState.CANCELLED
    assert study_in(app, "sweep").rows == arrived
    assert "cancelled" in " ".join(info.proto.title for info in app.info)
    assert "to go on where it stopped" in text_of(app)
    app.session_state["job_panel:registry"] = PromptRegistry()
    study = study_in(computed(app, "sweep"), "sweep")
    assert len(study.rows) == len(study.grid.list_trials())


@pytest.mark.slow
def test_workers_compute_a_study_and_another_visit_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_MORE_POLITE", 0)  # whoever tests something else at the same time need not come first
    first, other = (traded(workers=True, repeats=1) for _ in range(2))
    done = {row["trial"]: row["seconds"] for row in study_in(computed(first, "sweep"), "sweep").rows}
    assert "sweep:job" not in other.session_state and "Press **Try every ε**" in text_of(other)
    again = study_in(computed(other, "sweep"), "sweep")
    assert {row["trial"]: row["seconds"] for row in again.rows} == done
    runs = len(again.grid.list_trials())
    assert other.session_state["visit:table"].private.accesses == [f"sweep: losses of {runs} study runs, k = 3"]


def test_every_run_can_be_taken_away_as_csv_and_another_table_starts_without_the_old_study() -> None:
    app = computed(traded(), "sweep")
    page, download = app.get("download_button")
    assert page.proto.label == "See it anywhere (HTML)"
    study = study_in(app, "sweep")
    assert f"{len(study.rows)} runs" in download.proto.label
    frame = pd.read_csv(io.BytesIO(format_study(study)))
    assert len(frame) == len(study.rows)
    assert {"contender", "epsilon", "ratio"} <= set(frame.columns)
    app.session_state["visit:table"] = open_blobs(n=300)
    sound(app.run())
    assert "Press **Try every ε**" in text_of(app) and "matches the settings" not in text_of(app)
    assert not [chart for chart in app.get("plotly_chart") if "sweep:" in chart.proto.id]


@for_each("kind", [FileKind.PUBLIC, FileKind.SIMULATED])
def test_of_a_table_that_may_be_shown_the_verdict_is_read_off_its_own_runs(kind: FileKind) -> None:
    """A stored study of made-up tables said that no ε keeps both of a table whose groups were all found."""
    app = traded(kind)
    assert not [head.value for head in app.subheader] and "No row was read" not in text_of(app)
    assert not [button for button in app.button if button.key == "sweep:take"]
    app.number_input(key="sweep:above").set_value(900.0)
    computed(sound(app.run()), "sweep")
    frame = study_in(app, "sweep").make_frame()
    met = frame[frame["ratio"] <= 10].groupby("epsilon")["ratio"].count()
    assert len(met) and "**Choose ε" in text_of(app) and "runs" in text_of(app)


@pytest.mark.slow
def test_a_point_opens_its_settings_on_the_bench() -> None:
    label = Contender("eugkm", {"preset": "su"}).label
    app = computed(traded(labels=["DPLloyd", label], repeats=1), "sweep")
    app.selectbox(key="sweep:open:whom").set_value(label)
    app.select_slider(key="sweep:open:epsilon").set_value(0.5)
    sound(app.run())
    app.button(key="sweep:open").click()
    sound(app.run())
    assert players(app)
    asked = app.session_state["bench:hand"].request
    assert (asked.epsilon, asked.k, asked.contender) == (0.5, 3, Contender("eugkm", {"preset": "su"}))


def test_a_click_is_read_as_the_curve_that_was_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, object] = {}
    monkeypatch.setattr("dpviz.app.ui.studies.study_job.st.session_state", state)
    grid = StudyGrid((Contender("dplloyd"), Contender("eugkm")), (4,), (0.1, 0.3), (1e-6,), repeats=2)
    drawn = Plot({})
    drawn.add_trace({"type": "scatter", "meta": "band"})
    drawn.add_trace({"type": "scatter", "name": "EUGkM"})
    state["here"] = {"selection": {"points": [{"curve_number": 1, "x": 0.30000001, "y": 2.0}]}}
    bind_click(drawn, grid, "here")()
    assert (state["algorithm"], state["epsilon"], state["k"], state["delta"]) == ("eugkm", 0.3, 4, 1e-6)
    state.clear()
    state["here"] = {"selection": {"points": [{"curve_number": 0, "x": 0.3, "y": 2.0}]}}
    bind_click(drawn, grid, "here")()
    assert set(state) == {"here"}


@pytest.mark.slow
def test_a_private_file_is_judged_on_a_stand_in_by_default_and_offers_no_file_of_losses() -> None:
    app = computed(traded(FileKind.PRIVATE, repeats=1), "sweep")
    assert study_in(app, "sweep").source.kind is FileKind.SIMULATED
    assert not app.session_state["visit:table"].private.accesses
    assert app.get("download_button")  # nobody is in a synthetic table
    app.segmented_control(key="compare:judged").set_value("the rows themselves")
    sound(app.run())
    app.button(key="compare:allow").click()
    app = computed(sound(app.run()), "sweep")
    assert study_in(app, "sweep").source.kind is FileKind.PRIVATE
    assert not app.get("download_button")
    for file_of in (format_study, lambda study: draw_study_page(study, None)):  # refused before a picture is drawn
        with pytest.raises(RequestError, match="not exported"):
            file_of(study_in(app, "sweep"))
    assert any("study runs" in look for look in app.session_state["visit:table"].private.accesses)


def test_a_gaussian_preset_without_delta_cannot_start() -> None:
    label = Contender("dplloyd", {"preset": "gaussian"}).label
    app = traded(labels=[label])
    app.number_input(key="delta").set_value(0.0)
    sound(app.run())
    assert app.button(key="sweep:compute").disabled
    assert "delta" in text_of(app)
