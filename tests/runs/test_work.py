"""The functions that worker processes run."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.algorithms.registry import card_of
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.jobs import Job, JobState
from dpviz.runs.request import Contender, Request
from dpviz.runs.run import Run, run
from dpviz.runs.study.grid import Grid
from dpviz.runs.study.study import Yardstick, study_rows
from dpviz.runs.work import expected_seconds, run_work
from dpviz.runs.worker import Progress
from tests.contract.tables import small_table


def test_a_run_reports_the_budget_as_it_is_spent_and_ends_with_the_run() -> None:
    table = small_table(n_public=400)
    *progress, last = run_work(Request(Contender("dplloyd"), 3, seed=1), table)
    assert isinstance(last, Run)
    assert all(isinstance(item, Progress) for item in progress)
    fractions = [item.fraction for item in progress]
    assert fractions == sorted(fractions) and fractions[0] == 0 and fractions[-1] > 0.99
    assert [item.note for item in progress[1:]] == [frame.step.title for frame in last.frames]


def test_a_run_in_a_worker_is_the_run_at_home() -> None:
    table = small_table(n_public=400)
    job = Job.start(run_work, Request(Contender("dplloyd"), 3, seed=7), table)
    assert job.wait(60) and job.state is JobState.DONE, job.error
    (there,) = job.items
    here = run("dplloyd", table, k=3, epsilon=1.0, seed=7)
    assert np.array_equal(there.centers, here.centers)
    assert there.entries == here.entries and there.spent_epsilon == here.spent_epsilon


@pytest.mark.slow
def test_a_study_crosses_to_a_worker_and_back() -> None:
    table = small_table(n_public=400)
    judged = JudgedTable.of(table, table.reveal(note="test"), None)
    job = Job.start(study_rows, judged, Grid((Contender("dplloyd"),), (3,), repeats=2))
    assert job.wait(60) and job.state is JobState.DONE, job.error
    assert [type(item) for item in job.items] == [Yardstick, dict, dict]


def test_the_forecast_grows_with_the_rows() -> None:
    card = card_of("dplloyd")
    few, many = (
        expected_seconds(card, Request(Contender("dplloyd")).setting(small_table(n_public=n)), card.params())
        for n in (1_000, 100_000_000)
    )
    assert few < 0.01 < 5 < many
