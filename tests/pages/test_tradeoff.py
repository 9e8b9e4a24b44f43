"""Trade-off: fills while it computes, can be cancelled, is kept across pages, draws baselines and predictions."""

from __future__ import annotations

import io
import json

import pandas as pd
import plotly.graph_objects as go
import pytest

from dpviz.check import RequestError
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import Grid
from dpviz.table.declaration import FileKind
from dpviz.ui.studies.one_setting import on_click
from dpviz.ui.studies.study_page import study_page
from dpviz.ui.studies.study_panel import study_csv
from dpviz.ui.tradeoff.baselines import baselines_of, predictions_of
from tests.pages.tables import app_on, computed, job_of, open_blobs, players, sound, study_in, text_of

SMALL = ["DPLloyd", "EUGkM"]


def traded(
    kind: FileKind = FileKind.PUBLIC,
    *,
    labels: list[str] = SMALL,
    repeats: int = 2,
    n: int = 400,
    workers: bool = False,
):
    app = app_on("tradeoff.py", open_blobs(kind, n=n), workers=workers)
    app.multiselect(key="tradeoff:contenders").set_value(labels)
    app.slider(key="tradeoff:repeats").set_value(repeats)
    app.select_slider(key="tradeoff:range").set_value((0.3, 3.0))
    app.number_input(key="k").set_value(3)
    return sound(app.run())


def figure(app) -> dict:
    (chart,) = app.get("plotly_chart")
    return json.loads(chart.proto.spec)


@pytest.mark.slow
def test_a_trade_off_is_drawn_with_its_baselines_and_runs() -> None:
    app = computed(traded(), "tradeoff")
    study = study_in(app, "tradeoff")
    assert len(study.rows) == 2 * 2 * len(study.grid.epsilons)
    assert "one centre" not in json.dumps(figure(app)["layout"], ensure_ascii=False)
    app.toggle(key="tradeoff:dashed").set_value(True)
    sound(app.run())
    drawn = figure(app)
    words = json.dumps(drawn["layout"], ensure_ascii=False)
    assert "one centre" in words and "centres that saw" in words
    assert "2 runs each" in text_of(app) and "title" not in drawn["layout"]
    assert {trace["name"] for trace in drawn["data"] if trace.get("meta") == "median"} == set(SMALL)
    assert baselines_of(study, "ratio")["k-means++"] == 1.0
    assert baselines_of(study, "ari") == {}


@pytest.mark.slow
def test_every_measure_can_be_drawn() -> None:
    app = computed(traded(), "tradeoff")
    for measure in ("nicv", "matched_error", "ari", "share_gap", "ratio"):
        app.pills(key="tradeoff:measure").set_value(measure)
        sound(app.run())
        assert figure(app)["data"]


@pytest.mark.slow
def test_predictions_fall_with_epsilon_and_can_be_switched_off() -> None:
    app = computed(traded(n=5_000), "tradeoff")
    app.toggle(key="tradeoff:dashed").set_value(True)
    sound(app.run())
    curves = predictions_of(study_in(app, "tradeoff"), "ratio")
    assert set(curves) == set(SMALL)
    for curve in curves.values():
        losses = [loss for _, loss in sorted(curve)]
        assert losses[0] > losses[-1] > 1
    assert any(trace.get("meta") == "prediction" for trace in figure(app)["data"])
    app.toggle(key="tradeoff:dashed").set_value(False)
    sound(app.run())
    assert not any(trace.get("meta") == "prediction" for trace in figure(app)["data"])


@pytest.mark.slow
def test_it_fills_while_it_computes_and_what_arrived_stays_when_it_is_cancelled() -> None:
    app = traded(repeats=50, workers=True)
    app.button(key="tradeoff:compute").click()
    sound(app.run())
    job = job_of(app, "tradeoff")
    while not job.state.final and len(job.items) < 3:
        job.wait(0.05)
    sound(app.run())
    arrived = len(study_in(app, "tradeoff").rows)
    assert arrived >= 2 and figure(app)["data"]
    app.button(key="tradeoff:cancel").click()
    sound(app.run())
    assert job.state.value == "cancelled"
    assert len(study_in(app, "tradeoff").rows) >= arrived
    assert "cancelled" in " ".join(info.proto.title for info in app.info)


@pytest.mark.slow
def test_what_was_cancelled_is_gone_on_with_and_another_visit_finds_it() -> None:
    app = traded(repeats=20, workers=True)
    app.button(key="tradeoff:compute").click()
    sound(app.run())
    first = job_of(app, "tradeoff")
    while not first.state.final and len(study_in(app, "tradeoff").rows) < 5:
        first.wait(0.05)
    app.button(key="tradeoff:cancel").click()
    sound(app.run())
    early = {row["trial"]: row["seconds"] for row in study_in(app, "tradeoff").rows}
    assert len(early) >= 5 and "to go on where it stopped" in text_of(app)
    done = {row["trial"]: row["seconds"] for row in study_in(computed(app, "tradeoff"), "tradeoff").rows}
    assert early.items() <= done.items() and len(done) == len(study_in(app, "tradeoff").grid.trials())
    other = traded(repeats=20, workers=True)
    assert "tradeoff:job" not in other.session_state and "made-up tables" in text_of(other)
    again = study_in(computed(other, "tradeoff"), "tradeoff")
    assert {row["trial"]: row["seconds"] for row in again.rows} == done
    assert other.session_state["visit:table"].private.looks == ["tradeoff: losses of 200 study runs, k = 3"]


@pytest.mark.slow
def test_it_is_kept_when_the_page_changes() -> None:
    app = computed(traded(), "tradeoff")
    number = len(study_in(app, "tradeoff").rows)
    sound(app.switch_page("explore.py").run())
    sound(app.switch_page("tradeoff.py").run())
    assert len(study_in(app, "tradeoff").rows) == number and figure(app)["data"]
    assert "matches the settings" in text_of(app)


@pytest.mark.slow
def test_every_run_can_be_taken_away_as_csv() -> None:
    app = computed(traded(), "tradeoff")
    page, download = app.get("download_button")
    assert page.proto.label == "See it anywhere (HTML)"
    study = study_in(app, "tradeoff")
    assert f"{len(study.rows)} runs" in download.proto.label
    frame = pd.read_csv(io.BytesIO(study_csv(study)))
    assert len(frame) == len(study.rows)
    assert {"contender", "epsilon", "ratio"} <= set(frame.columns)


@pytest.mark.slow
def test_a_point_opens_its_settings_in_explore() -> None:
    label = Contender("eugkm", {"preset": "su"}).label
    app = computed(traded(labels=["DPLloyd", label]), "tradeoff")
    app.selectbox(key="tradeoff:open:whom").set_value(label)
    app.select_slider(key="tradeoff:open:epsilon").set_value(0.5)
    sound(app.run())
    app.button(key="tradeoff:open").click()
    sound(app.run())
    assert players(app)
    assert (app.number_input(key="epsilon").value, app.number_input(key="k").value) == (0.5, 3)
    assert app.selectbox(key="algorithm").value == "eugkm"
    assert app.segmented_control(key="eugkm.preset").value == "su"


def test_a_click_is_read_as_the_curve_that_was_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, object] = {}
    monkeypatch.setattr("dpviz.ui.studies.one_setting.st.session_state", state)
    grid = Grid((Contender("dplloyd"), Contender("eugkm")), (4,), (0.1, 0.3), (1e-6,), repeats=2)
    drawn = go.Figure([go.Scatter(meta="band"), go.Scatter(name="EUGkM")])
    state["here"] = {"selection": {"points": [{"curve_number": 1, "x": 0.30000001, "y": 2.0}]}}
    on_click(drawn, grid, "here")()
    assert (state["algorithm"], state["epsilon"], state["k"], state["delta"]) == ("eugkm", 0.3, 4, 1e-6)
    state.clear()
    state["here"] = {"selection": {"points": [{"curve_number": 0, "x": 0.3, "y": 2.0}]}}
    on_click(drawn, grid, "here")()
    assert set(state) == {"here"}


@pytest.mark.slow
def test_a_private_file_is_judged_on_a_stand_in_by_default_and_offers_no_file_of_losses() -> None:
    app = computed(traded(FileKind.PRIVATE), "tradeoff")
    assert study_in(app, "tradeoff").source.kind is FileKind.SIMULATED
    assert not app.session_state["visit:table"].private.looks
    assert app.get("download_button")  # nobody is in a stand-in
    app.segmented_control(key="tradeoff:judged").set_value("the rows themselves")
    sound(app.run())
    app.button(key="tradeoff:allow").click()
    app = computed(sound(app.run()), "tradeoff")
    assert study_in(app, "tradeoff").source.kind is FileKind.PRIVATE
    assert not app.get("download_button")
    for file_of in (study_csv, lambda study: study_page(study, None)):  # refused before a picture is drawn
        with pytest.raises(RequestError, match="not exported"):
            file_of(study_in(app, "tradeoff"))
    assert any("study runs" in look for look in app.session_state["visit:table"].private.looks)


@pytest.mark.slow
def test_another_table_starts_without_the_old_study() -> None:
    app = computed(traded(), "tradeoff")
    app.session_state["visit:table"] = open_blobs(n=300)
    sound(app.run())
    assert "made-up tables for 300 rows" in text_of(app) and "matches the settings" not in text_of(app)
    assert {trace.get("meta") for trace in figure(app)["data"]} >= {"median", "answer"}
    assert "18 made-up tables" in text_of(app) or "9 made-up tables" in text_of(app)


@pytest.mark.slow
def test_a_gaussian_preset_without_delta_cannot_start() -> None:
    label = Contender("dplloyd", {"preset": "gaussian"}).label
    app = traded(labels=[label])
    app.number_input(key="delta").set_value(0.0)
    sound(app.run())
    assert app.button(key="tradeoff:compute").disabled
    assert "delta" in text_of(app)
