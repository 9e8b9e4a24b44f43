"""The functions that worker processes run."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpviz.core.rows import Rows
from dpviz.runs.jobs import Job, JobState
from dpviz.runs.meaning.independent_accounting import compute_independent_epsilon
from dpviz.runs.one_run import RunSoFar, run
from dpviz.runs.open_table import Plan, declare
from dpviz.runs.request import Contender, Request
from dpviz.runs.work import Prepared, prepare_work, run_work
from dpviz.tables.arrow_intake import ParquetTable
from dpviz.tables.declarations import Declaration
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.prepared_rows import LatticeFile
from tests.contract.tables import make_blobs, make_small_table
from tests.waiting import SECONDS


def test_a_run_sends_each_step_once_with_what_had_been_spent() -> None:
    *arriving, last = run_work(Request(Contender("balcan"), 3, seed=1), make_small_table(n_public=400))
    steps = [item for item in arriving if isinstance(item, RunSoFar)]
    assert [frame for item in steps for frame in item.frames] == list(last.frames)
    assert all(item.unit_centers is None for item in steps)
    for item, frame in zip(steps, last.frames, strict=True):
        assert item.entries == last.entries[: frame.entries]
        again = compute_independent_epsilon(item.entries, delta=item.delta) if item.entries else 0.0
        assert item.spent_epsilon == frame.spent_epsilon == pytest.approx(again, rel=1e-6)


@pytest.mark.slow
def test_a_prepared_file_is_the_table_that_memory_would_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = make_blobs(3_000, 2)
    pq.write_table(pa.table({"x": values[:, 0], "y": values[:, 1]}), tmp_path / "t.parquet", row_group_size=500)
    source = ParquetTable(tmp_path / "t.parquet")
    declared = Declaration(lower=(-1.0,), upper=(1.0,))
    in_memory = declare(source, declared).private
    monkeypatch.setattr("dpviz.tables.arrow_intake._MOST_BYTES", 10)
    plan = Plan.of(source, declared)
    file = LatticeFile(plan.domain.region)
    job = Job.start(prepare_work, plan, file)
    assert job.wait(SECONDS) and job.state is JobState.DONE, job.error
    (prepared,) = job.items
    assert isinstance(prepared, Prepared) and job.progress is not None and job.progress.fraction == 1
    file.note_rows(prepared.rows)
    opened = plan.over(Rows(file, plan.domain.region), prepared.sample)
    there, here = (run("auto", table, k=3, epsilon=1.0, delta=1e-6, seed=7) for table in (opened.private, in_memory))
    assert np.array_equal(there.centers, here.centers)
    revealed = opened.private.reveal(note="test").points
    assert revealed is prepared.sample and len(revealed) == 3_000


def test_a_file_that_has_not_grown_as_was_said_is_refused() -> None:
    file = LatticeFile(make_small_table().domain.region)
    with pytest.raises(IntakeError, match="too early"):
        file.note_rows(5)
