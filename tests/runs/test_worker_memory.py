"""Rows that several workers share: one copy, no file, nobody sees another's writing, nothing is left behind."""

import contextlib
import gc
import os
from pathlib import Path

import numpy as np
import pytest

from dpviz.runs.jobs import Job, JobState
from dpviz.runs.worker import share_content
from tests.runs import job_work
from tests.waiting import SECONDS

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs memory without a name")


def open_memory() -> int:
    """How much of it this process holds open; a descriptor that closes while they are listed is none."""
    held = 0
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            held += "memfd:dpviz" in str(link.readlink())
    return held


@pytest.mark.slow
def test_workers_map_one_copy_and_write_to_their_own() -> None:
    rows = np.random.default_rng(0).normal(size=100_000)
    memory = share_content(rows)
    jobs = [Job.start(job_work.touch, memory, memory) for _ in range(2)]
    for job in jobs:
        assert job.wait(SECONDS) and job.state is JobState.DONE, job.error
        ((before, after, is_one, mapped),) = job.items
        assert before == rows.sum() and after == pytest.approx(before + 1)
        assert is_one and rows.nbytes <= mapped < 2 * rows.nbytes
    del memory, job, jobs
    gc.collect()
    assert open_memory() == 0
