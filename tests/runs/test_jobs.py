import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpviz.runs import jobs
from dpviz.runs.jobs import Failure, Job, JobState, Progress, Scheduler
from dpviz.runs.study.open_study import JobRegistry, RegistryFull
from tests.runs import job_work
from tests.waiting import SECONDS, eventually

ROOT = Path(__file__).resolve().parents[2]


def ended(job: Job) -> JobState:
    assert job.wait(SECONDS), "the job did not end"
    return job.state


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and only waits to be collected does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text() if Path("/proc/self/stat").exists() else os.kill(pid, 0)
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status is None or status.rpartition(")")[2].split()[0] != "Z"


def test_results_arrive_complete_and_in_order():
    job = Job.start(job_work.count, 2000)
    polled = []
    while not job.wait(0.01):
        polled += job.poll()
    polled += job.poll()
    assert job.state is JobState.DONE and polled == job.items == list(range(2000))
    assert job.poll() == [] and job.error is None


def test_reports_arrive_before_a_later_result_and_while_the_work_is_silent():
    job = Job.start(job_work.one_then_hang)
    assert eventually(lambda: job.items)
    assert job.progress is not None and job.progress.done >= 2 and eventually(lambda: job.progress == Progress(5, 10))
    assert job.items == ["ready"]
    job.cancel()


def test_time_left_follows_the_pace_since_the_first_report(monkeypatch):
    """Forty steps were there and took no time; then 20 take 10 s, and in the end it is known better."""
    job: Job = Job(job_work.count, 1)
    job.state = JobState.RUNNING
    for at, report, left in (
        *((0, Progress(40, 100), None), (10, Progress(60, 100), 20), (15, None, 15)),
        *((15, Progress(61, 100, left=3.0), 3), (16, None, 2), (99, None, 0)),
    ):
        monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda at=at: at))
        if report:
            job._take(report)
        assert job.seconds_left == left
    job.cancel()
    assert job.seconds_left is None


@pytest.mark.slow
def test_cancel_ends_the_worker_and_its_children_and_keeps_the_results():
    job = Job.start(job_work.hang, True)
    assert eventually(lambda: len(job.items) == 2)
    pids = job.items
    assert all(map(is_alive, pids))
    job.cancel()
    assert job.state is JobState.CANCELLED
    assert eventually(lambda: not any(map(is_alive, pids))) and job.items == pids and job.error is None


@pytest.mark.slow
def test_an_error_crosses_as_its_type_and_with_a_message_that_its_class_vouches_for(capfd):
    kinds = {"exit": "SystemExit", "unpicklable": "TypeError", "vouched": "Vouched: choose an epsilon above 0"}
    jobs_of = {kind: Job.start(job_work.fail, kind) for kind in kinds}
    for kind, job in jobs_of.items():
        assert ended(job) is JobState.FAILED and (str(job.error), job.items) == (kinds[kind], [1])
        assert job_work.SECRET not in repr(vars(job))
        job._process.wait()  # a traceback on its way to the console is there by now
    assert job_work.SECRET not in "".join(capfd.readouterr())


def test_only_the_class_can_vouch_for_a_message():
    error = ValueError(job_work.SECRET)
    error.safe_message = True  # type: ignore[attr-defined]
    assert Failure.of(error).message == ""


def test_a_worker_that_dies_is_a_failure_with_a_reason():
    job = Job.start(job_work.die)
    assert ended(job) is JobState.FAILED
    assert job.error is not None and job.error.kind == "WorkerDied" and "exit code 3" in job.error.message
    assert job.items == [1]


def test_the_worker_computes_on_one_thread_politely_without_streamlit_and_may_print():
    before, registry = dict(os.environ), JobRegistry()
    job = registry.submit(job_work.surroundings)
    assert ended(job) is JobState.DONE
    (found,) = job.items
    assert found["OMP_NUM_THREADS"] == "1" and set(found["threads"]) == {1}
    assert not found["streamlit"] and found["nice"] == min(19, os.nice(0) + 5) and dict(os.environ) == before


PARENT = """
import threading
print("the main script runs", flush=True)
from dpviz.runs.jobs import Job
from tests.runs import job_work
from tests.waiting import eventually
job = Job.start(job_work.hang, True)
assert eventually(lambda: len(job.items) == 2)
print(*job.items, flush=True)
{then}
"""


@pytest.fixture
def parent(tmp_path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """A script of its own with a job that hangs (and a grandchild), and what it does ``then``."""
    processes = []

    def run(then: str) -> subprocess.Popen[str]:
        script = tmp_path / "parent.py"
        script.write_text(PARENT.format(then=then))
        with (tmp_path / "stderr").open("w") as stderr:  # an orphan would hold a pipe open
            env, out = {**os.environ, "PYTHONPATH": str(ROOT)}, subprocess.PIPE
            process = subprocess.Popen([sys.executable, script], stdout=out, stderr=stderr, text=True, env=env)
        processes.append(process)
        return process

    yield run
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a POSIX way to go")
@pytest.mark.parametrize("then", ["threading.Event().wait()", "raise SystemExit(7)"])
def test_no_orphan_and_no_noise_after_the_parent_is_killed_or_exits(parent, tmp_path, then):
    process = parent(then)
    assert process.stdout.readline() == "the main script runs\n"
    pids = [int(pid) for pid in process.stdout.readline().split()]
    assert len(pids) == 2
    if "Exit" not in then:
        assert all(map(is_alive, pids))
        process.kill()
    assert eventually(lambda: not any(map(is_alive, pids)))
    assert process.stdout.read() == "", "the main script is run again by the worker"
    assert process.wait() == (7 if "Exit" in then else -9) and (tmp_path / "stderr").read_text() == ""


def test_a_full_shelf_takes_no_more_until_a_job_has_ended():
    registry = JobRegistry(max_jobs=2, max_running=1)
    done = registry.submit(job_work.count, 1)
    ended(done)
    running, waiting = registry.submit(job_work.hang), registry.submit(job_work.hang)
    with pytest.raises(RegistryFull, match="cancel one"):
        registry.submit(job_work.hang)
    waiting.cancel()
    for job in (registry.submit(job_work.hang), running):
        job.cancel()
    assert done.items == [0]  # whoever asked for it has it still


def test_a_shelf_that_goes_leaves_its_seat_and_its_places_in_the_queue_to_others():
    scheduler = Scheduler(2)
    gone, stays = JobRegistry(scheduler=scheduler), JobRegistry(scheduler=scheduler)
    theirs = [gone.submit(job_work.hang) for _ in range(3)]
    mine = stays.submit(job_work.hang)
    assert (mine.state, mine.before) == (JobState.QUEUED, 0) and eventually(lambda: theirs[0].items)
    del gone
    gc.collect()
    assert eventually(lambda: mine.state is JobState.RUNNING)
    assert {job.state for job in theirs} == {JobState.CANCELLED}
    assert sum(job.elapsed > 0 for job in theirs) == 1  # none of those that waited was begun on the way
    assert eventually(lambda: not is_alive(theirs[0].items[0]))
    mine.cancel()


def test_a_run_comes_at_once_beside_studies_that_wait():
    registry = JobRegistry(scheduler=Scheduler(2))
    jobs = [registry.submit(work) for work in (job_work.hang, job_work.hang, job_work.run)]
    assert [job.state for job in jobs] == [JobState.RUNNING, JobState.QUEUED, JobState.RUNNING]
    for job in reversed(jobs):
        job.cancel()


def test_a_job_for_which_no_process_can_be_had_fails_and_gives_its_seat_back(monkeypatch):
    def none_left(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(jobs, "new_worker", none_left)
    scheduler = Scheduler(2)
    registry = JobRegistry(scheduler=scheduler)
    job = registry.submit(job_work.hang)
    assert ended(job) is JobState.FAILED and job.error == Failure("BlockingIOError")
    assert not scheduler._taken and not scheduler._waiting
