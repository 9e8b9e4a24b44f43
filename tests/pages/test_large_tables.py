"""Tables that memory does not hold, by their path on this machine: prepared by a job, explored step by step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.ui import runner
from dpviz.app.ui.data import ways_in
from dpviz.runs.jobs import JobState, Work
from dpviz.runs.one_run import RunSoFar
from dpviz.runs.worker import Failure
from tests import waiting
from tests.contract.tables import make_blobs
from tests.pages.site import everything_shown, fine, of_kind, open_ledger, paste_bounds, press, turn_to
from tests.pages.tables import (
    ArrivingJob,
    PromptRegistry,
    UnderWayRegistry,
    app_on,
    numbers,
    open_blobs,
    players,
    read_animation,
    sound,
    text_of,
)

ROWS = 3_000
DECLARED = {"bounds": {"x": [-1, 1], "y": [-1, 1]}, "bounds_origin": "known beforehand"}


@pytest.fixture(autouse=True)
def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpviz.tables.arrow_intake._MOST_BYTES", 10)
    assert ways_in  # its uploader has the true limit
    monkeypatch.setattr("dpviz.tables.csv_intake.MAX_BYTES", 1_000)


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    values = make_blobs(ROWS, 2)
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"x": values[:, 0], "y": values[:, 1], "town": ["rome"] * ROWS}), path, row_group_size=500)
    return path


def bring(path: Path, **how: Any) -> AppTest:
    """The bench after a file was named by its path."""
    at = app_on("home.py", open_blobs(), **how)
    at.session_state["bench:word"] = "table"
    fine(at.run()).text_input(key="file_here_path").set_value(str(path))
    press(at, "Bring it")
    return fine(turn_to(at, "data.py").run())


def preparing(path: Path, kind: str = "private", **how: Any) -> AppTest:
    """The page once the file is declared and put to use."""
    at = bring(path, **how)
    of_kind(at, kind)
    return paste_bounds(at, json.dumps(DECLARED))


def job_of(at: AppTest) -> Work[Any]:
    """The job that prepares."""
    job: Work[Any] = at.session_state["large_table:preparing"].job
    return job


def may_be_opened(at: AppTest) -> bool:
    """Whether nothing is on its way, so that the file can be opened once more."""
    return "Open it again" in [button.label for button in at.button]


@pytest.mark.slow
def test_a_file_beyond_memory_is_prepared_by_a_job_and_then_open_whatever_page_was_visited(parquet: Path) -> None:
    at = preparing(parquet, workers=True)
    job = job_of(at)
    assert job.wait(waiting.SECONDS) and job.state is JobState.DONE, job.error
    open_ledger(at)
    table = at.session_state["visit:table"]
    assert table.title == "people" and not table.private.in_memory and table.loaded.n_rows == ROWS
    # Private: neither its rows nor how many there are.
    assert "3,000" not in text_of(at) and "rome" not in everything_shown(at)


@pytest.mark.parametrize("form", ["csv", "folder"])
def test_a_csv_file_and_a_folder_are_prepared_too(parquet: Path, form: str) -> None:
    path = parquet.parent
    if form == "csv":
        path = parquet.with_suffix(".csv")
        pq.read_table(parquet).to_pandas().to_csv(path, index=False)
    table = fine(preparing(path).run()).session_state["visit:table"]
    assert not table.private.in_memory and table.loaded.n_rows == ROWS


def test_preparation_keeps_the_form_shut_can_be_cancelled_and_begun_again(parquet: Path) -> None:
    at = preparing(parquet, registry=UnderWayRegistry())
    assert not may_be_opened(at) and "Other pages stay usable" in text_of(at)
    at.button(key="preparation:cancel").click()
    fine(at.run())
    assert at.session_state["visit:table"].title == "blobs"
    assert "cancelled" in " ".join(info.proto.title for info in at.info)
    at.session_state["job_panel:registry"] = PromptRegistry()
    press(at, "Open it again")
    assert fine(at.run()).session_state["visit:table"].title == "people"


def test_a_worker_that_dies_is_a_sentence_and_the_form_stays(parquet: Path) -> None:
    at = preparing(parquet, registry=UnderWayRegistry())
    job_of(at)._finish(JobState.FAILED, Failure.of_death(-9))
    fine(at.run())
    assert "failed" in " ".join(error.proto.title for error in at.error)
    assert may_be_opened(at)


def test_a_damaged_row_group_is_a_sentence_without_a_value(parquet: Path) -> None:
    raw = bytearray(parquet.read_bytes())
    raw[4:200] = b"\xff" * 196
    parquet.write_bytes(raw)
    at = preparing(parquet)
    assert job_of(at).state is JobState.FAILED
    fine(at.run())
    (error,) = at.error
    assert "damaged" in error.value and "\n" not in error.value.strip()


def test_a_path_that_names_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    (tmp_path / "empty.csv").write_bytes(b"")
    for name, told in {"no.parquet": "no Parquet file", "bad.parquet": "damaged", "empty.csv": "empty"}.items():
        at = bring(tmp_path / name)
        (error,) = at.error
        assert told in error.value, [one.value for one in at.error]
        assert at.session_state["visit:table"].title == "blobs"


def test_what_is_declared_beside_a_named_file_is_used(parquet: Path) -> None:
    parquet.with_suffix(".json").write_text(json.dumps(DECLARED | {"kind": "public", "n_public": ROWS}))
    at = bring(parquet)
    assert fine(at.run()).session_state["visit:table"].n_public == ROWS


def test_truth_of_a_large_table_is_a_sample_and_says_so(parquet: Path) -> None:
    at = preparing(parquet, "public")
    fine(at.run())
    assert "rows that stand for all" in text_of(at)
    at.switch_page("home.py")
    at.query_params["algorithm"] = "dplloyd"
    sound(at.run())
    assert "the loss of k-means++, in a sample of the rows" in numbers(at)
    assert "rows that stand for all" in text_of(at)


@pytest.mark.parametrize("fits", [True, False])
def test_true_counts_are_those_of_all_rows_or_none_are_shown(
    parquet: Path, monkeypatch: pytest.MonkeyPatch, fits: bool
) -> None:
    if fits:
        monkeypatch.setattr("dpviz.tables.arrow_intake._MOST_BYTES", 10**9)
    at = preparing(parquet, "public")
    fine(at.run())
    at.switch_page("home.py")
    at.session_state["algorithm"] = "balcan"
    sound(at.run())
    assert (", truly " in json.dumps(read_animation(at))) == fits


class GrowingRegistry(PromptRegistry):
    """A registry whose runs are under way: whenever somebody looks, one step more has arrived, ``most`` in all."""

    def __init__(self, most: int | None = None) -> None:
        self.most = most

    def submit(self, work: Any, *args: Any, **kwargs: Any) -> Any:
        return ArrivingJob([item for item in work(*args, **kwargs) if isinstance(item, RunSoFar)][: self.most])


def test_the_steps_of_a_run_are_played_as_they_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_SECONDS_INLINE", -1.0)
    app = app_on("home.py", open_blobs(), registry=GrowingRegistry())
    seen = []
    for _ in range(60):
        if "run:result" in app.session_state:
            break
        seen.append(len(read_animation(app)["steps"]) if players(app) else 0)
        sound(app.run())
    whole = len(app.session_state["run:result"].run.frames)
    assert seen == sorted(seen) and 0 < seen[0] < seen[-1] <= whole
    assert len(read_animation(app)["steps"]) == whole


@pytest.mark.parametrize("live", [True, False])
def test_a_run_that_is_broken_off_has_what_its_steps_spent_in_the_books(
    monkeypatch: pytest.MonkeyPatch, live: bool
) -> None:
    monkeypatch.setattr(runner, "_SECONDS_INLINE", -1.0)
    app = app_on("home.py", open_blobs(), registry=GrowingRegistry(6))
    pending = app.session_state["run:pending"]
    for _ in range(6):
        sound(app.run())
    pending.job.state, pending.live = JobState.CANCELLED, live
    arrived = [item for item in pending.job._items[: pending.job._arrived] if item.entries]
    assert arrived
    sound(app.run())
    sound(app.run())
    if live:  # a moved control asked for it: like every run of that kind, it leaves nothing behind
        assert "visit:books" not in app.session_state
        return
    (entry,) = app.session_state["visit:books"]
    assert entry.record.centers is None and 0 < entry.record.spent_epsilon < entry.record.epsilon
    animation = read_animation(app)
    assert all("the loss" not in step["title"] for step in animation["steps"])
    open_ledger(app)
