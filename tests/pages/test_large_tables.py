"""Tables that memory does not hold, by their path on this machine: prepared by a job, explored step by step."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.ui import runner
from dpviz.app.ui.data import table_link
from dpviz.runs import JobState, RunSoFar, Work
from dpviz.runs.worker import Failure
from tests import waiting
from tests.cases import for_each
from tests.contract.tables import make_blobs
from tests.pages import tables
from tests.pages.site import everything_shown, fine, of_kind, open_form, open_ledger, paste_bounds, press, turn_to
from tests.pages.tables import PromptRegistry, UnderWayRegistry, app_on, open_blobs, read_animation, sound, text_of

ROWS = 3_000
DECLARED = {"bounds": {"x": [-1, 1], "y": [-1, 1]}, "bounds_origin": "known beforehand"}


@pytest.fixture(autouse=True)
def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpviz.tables.arrow_intake._MOST_BYTES", 10)
    assert table_link  # its uploader has the true limit
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
    open_form(at, "table").text_input(key="file_here_path").set_value(str(path))
    return fine(turn_to(press(at, "Bring it"), "data.py").run())


def preparing(path: Path, kind: str = "private", **how: Any) -> AppTest:
    """The page once the file is declared and put to use."""
    return paste_bounds(of_kind(bring(path, **how), kind), json.dumps(DECLARED))


def opened(at: AppTest):
    return fine(at.run()).session_state["visit:table"]


def job_of(at: AppTest) -> Work[Any]:
    """The job that prepares."""
    return at.session_state["large_table:preparing"].job


def may_be_opened(at: AppTest) -> bool:
    """Whether nothing is on its way, so that the file can be opened once more."""
    return "Open it again" in [button.label for button in at.button]


def test_a_file_beyond_memory_is_prepared_by_a_job_and_then_open_whatever_page_was_visited(parquet: Path) -> None:
    at = preparing(parquet, workers=True)
    job = job_of(at)
    assert job.wait(waiting.SECONDS) and job.state is JobState.DONE, job.error
    table = open_ledger(at).session_state["visit:table"]
    assert table.title == "people" and not table.private.in_memory and table.loaded.n_rows == ROWS
    # Private: neither its rows nor how many there are.
    assert "3,000" not in text_of(at) and "rome" not in everything_shown(at)


def test_preparation_keeps_the_form_shut_can_be_cancelled_and_begun_again(parquet: Path) -> None:
    at = preparing(parquet, registry=UnderWayRegistry())
    assert not may_be_opened(at) and "Other pages stay usable" in text_of(at)
    at.button(key="preparation:cancel").click()
    assert opened(at).title == "blobs" and "cancelled" in " ".join(info.proto.title for info in at.info)
    at.session_state["job_panel:registry"] = PromptRegistry()
    assert opened(press(at, "Open it again")).title == "people"


def test_a_worker_that_dies_and_a_damaged_row_group_are_a_sentence_without_a_value(parquet: Path) -> None:
    at = preparing(parquet, registry=UnderWayRegistry())
    job_of(at)._finish(JobState.FAILED, Failure.of_death(-9))
    assert "failed" in " ".join(error.proto.title for error in fine(at.run()).error) and may_be_opened(at)
    raw = parquet.read_bytes()
    parquet.write_bytes(raw[:4] + b"\xff" * 196 + raw[200:])
    at = preparing(parquet)
    (error,) = fine(at.run()).error
    assert job_of(at).state is JobState.FAILED and "damaged" in error.value and "\n" not in error.value.strip()


@pytest.mark.slow
@for_each("fits", [True, False])
def test_truth_of_a_large_table_is_a_sample_and_says_so_and_true_counts_are_of_all_rows_or_none(
    parquet: Path, monkeypatch: pytest.MonkeyPatch, fits: bool
) -> None:
    monkeypatch.setattr("dpviz.tables.arrow_intake._MOST_BYTES", 10**9 if fits else 10)
    at = preparing(parquet, "public")
    assert fits or "rows that stand for all" in text_of(fine(at.run()))
    at.switch_page("home.py")
    fine(at.run()).session_state["algorithm"] = "balcan"
    assert (", truly " in json.dumps(read_animation(sound(at.run())))) == fits
    if not fits:
        assert "the loss of k-means++, in a sample of the rows" in tables.numbers(at)
        assert "rows that stand for all" in text_of(at)


class GrowingRegistry(PromptRegistry):
    """A registry whose runs are under way: whenever somebody looks, one step more has arrived, ``most`` in all."""

    def __init__(self, most: int | None = None) -> None:
        self.most = most

    def submit(self, work: Any, *args: Any, **kwargs: Any) -> Any:
        items = [item for item in work(*args, **kwargs) if isinstance(item, RunSoFar)]
        return tables.ArrivingJob(items[: self.most])


@pytest.mark.slow
@for_each("live", [True, False])
def test_a_run_that_is_broken_off_has_what_its_steps_spent_in_the_books(monkeypatch, live: bool) -> None:
    monkeypatch.setattr(runner, "_SECONDS_INLINE", -1.0)
    app = app_on("home.py", open_blobs(), registry=GrowingRegistry(6))
    pending = app.session_state["run:pending"]
    for _ in range(6):
        sound(app.run())
    pending.job.state, pending.live = JobState.CANCELLED, live
    assert [item for item in pending.job._items[: pending.job._arrived] if item.entries]
    sound(sound(app.run()).run())
    if live:  # a moved control asked for it: like every run of that kind, it leaves nothing behind
        assert "visit:books" not in app.session_state
        return
    (entry,) = app.session_state["visit:books"]
    assert entry.record.centers is None and 0 < entry.record.spent_epsilon < entry.record.epsilon
    assert all("the loss" not in step["title"] for step in read_animation(app)["steps"])
    open_ledger(app)
