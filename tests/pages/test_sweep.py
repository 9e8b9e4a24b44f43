"""A sweep over ε: fills while it computes, can be cancelled, is kept across pages, draws baselines and predictions.

What a stored study says beside it is an answer from declared numbers alone, for the rows that are spoken of.
"""

import json
from dataclasses import replace
from typing import Any

import pytest

from dpviz.app.ui.studies import compare_page
from dpviz.app.ui.studies.compare_page import find_advice, read_stored_rows
from dpviz.app.ui.studies.study_job import StudyQuestion, draw_study_page, format_study
from dpviz.core import RequestError
from dpviz.runs import Contender, JobState, OpenTable, Progress, Study, StudyGrid, Target
from dpviz.runs.synthetic_tables import make_synthetic_table
from dpviz.tables import FileKind
from tests.pages.tables import PromptRegistry, app_on, computed, job_of, open_blobs, sound, study_in, text_of

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
def test_a_sweep_that_ran_has_the_baselines_and_the_predictions_that_are_asked_for() -> None:
    app = computed(traded(n=5_000), "sweep")
    app.toggle(key="sweep:dashed").set_value(True)
    drawn, study = figure(sound(app.run())), study_in(app, "sweep")
    assert "one centre" in json.dumps(drawn["layout"])
    assert {"median", "prediction"} <= {trace.get("meta") for trace in drawn["data"]}
    assert compare_page.compute_baselines(study, "ratio")["k-means++"] == 1.0
    assert compare_page.compute_baselines(study, "ari") == {}
    for curve in compare_page.list_predictions(study, "ratio").values():
        losses = [loss for _, loss in sorted(curve)]
        assert losses[0] > losses[-1] > 1


@pytest.mark.slow
def test_it_fills_while_it_computes_what_arrived_stays_when_it_is_cancelled_and_is_gone_on_with() -> None:
    app = traded()
    app.session_state["job_panel:registry"] = HeldRegistry(4)
    app.button(key="sweep:compute").click()
    sound(app.run())
    arrived = study_in(app, "sweep").rows
    assert len(arrived) >= 2 and figure(app)["data"]
    app.button(key="sweep:cancel").click()
    sound(app.run())
    assert job_of(app, "sweep").state is JobState.CANCELLED and study_in(app, "sweep").rows == arrived
    assert "cancelled" in " ".join(info.proto.title for info in app.info)
    assert "to go on where it stopped" in text_of(app)
    app.session_state["job_panel:registry"] = PromptRegistry()
    study = study_in(computed(app, "sweep"), "sweep")
    assert len(study.rows) == len(study.grid.list_trials())


def test_a_private_file_is_judged_on_a_stand_in_by_default_whose_epsilon_is_taken_on_and_offers_no_file() -> None:
    app = traded(FileKind.PRIVATE, repeats=1)
    app.number_input(key="sweep:above").set_value(900.0)
    app = computed(sound(app.run()), "sweep")
    source, accesses = study_in(app, "sweep").source, app.session_state["visit:table"].private.accesses
    assert source.kind is FileKind.SIMULATED and source.n_public == 400 and not accesses
    assert "A synthetic table has 3 clear groups; your rows may need more." in text_of(app)
    assert app.get("download_button")  # nobody is in a synthetic table
    app.button(key="sweep:take").click()
    app.run()
    assert app.session_state["algorithm"] and 0 < app.session_state["epsilon"] < 100 and app.session_state["k"] == 3
    assert not accesses
    sound(app.switch_page("compare.py").run())
    app.segmented_control(key="compare:judged").set_value("the rows themselves")
    sound(app.run()).button(key="compare:allow").click()
    study = study_in(computed(sound(app.run()), "sweep"), "sweep")
    assert study.source.kind is FileKind.PRIVATE and not app.get("download_button")
    for file_of in (format_study, lambda study: draw_study_page(study, None)):  # refused before a picture is drawn
        with pytest.raises(RequestError, match="not exported"):
            file_of(study)
    assert any("study runs" in look for look in accesses)


GRID = StudyGrid((Contender("eugkm"), Contender("dplloyd", {"preset": "su"})), (3,), (0.3, 1.0, 3.0), (1e-6,))


def question(table: OpenTable, source: OpenTable | None = None, grid: StudyGrid = GRID) -> StudyQuestion:
    return StudyQuestion("sweep", table, source, grid)


def private(n: int = 400, n_public: int | None = None) -> OpenTable:
    table = open_blobs(FileKind.PRIVATE, n=n)
    table.private.n_public = n_public
    return table


def test_the_stored_answer_reads_no_row_and_speaks_of_those_of_the_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    table = private()
    stand_ins = [make_synthetic_table(table, n=n, k=3) for n in (1_000, 100_000)]
    for door in ("reveal", "open"):
        monkeypatch.setattr(table.private, door, None)
    assert read_stored_rows(question(table)) is None
    with pytest.raises(RequestError, match="How many rows there are is not known"):
        find_advice(question(table), Target())
    few, many = (question(table, stand_in) for stand_in in stand_ins)
    assert (read_stored_rows(few), read_stored_rows(many)) == ((1_000, 1_000), (100_000, 100_000))
    assert find_advice(few, Target()).few.epsilon > find_advice(many, Target()).few.epsilon
    table.private.n_public = 10_000
    assert find_advice(question(table), Target()).few.best is not None and table.private.accesses == []


def test_how_long_a_study_takes_is_told_without_the_number_of_rows() -> None:
    """As long for a private table with a row less; what is declared is told of, and so is what is asked for."""
    both = StudyGrid((Contender("auto"), Contender("dplloyd")), (3, 9), (0.3, 1.0), (0.0,), repeats=20)

    def told(table: OpenTable, **change: Any) -> tuple[float, str]:
        asked = StudyQuestion("compare", table, table, replace(both, **change))
        return asked.seconds, asked.provided

    public = told(open_blobs(n=2_000))
    assert public[1] == "" and told(open_blobs(n=1_000))[0] < public[0]
    assert told(private(2_000)) == told(private(1_999)) == told(private(40))
    assert told(private(2_000))[1] == " if it has 10,000 rows" and told(private(40, n_public=2_000)) == public
    asked = [told(private(n), ns=(1_000,)) for n in (2_000, 1_999)]
    assert asked[0] == asked[1] == told(open_blobs(n=1_000))
