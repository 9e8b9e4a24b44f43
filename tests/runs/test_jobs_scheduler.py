"""Who sits down next: limits, turns, and places given back, on jobs that only note that they began."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from dpviz.runs.jobs import Scheduler


@dataclass(eq=False)
class Noted:
    """A job that notes that it began."""

    owner: str
    brief: bool
    log: list[Noted] = field(repr=False)

    def begin(self) -> None:
        self.log.append(self)


def queued(scheduler: Scheduler, log: list[Noted], owners: str, *, brief: bool = False, most: int = 2) -> list[Noted]:
    """A job for each letter, in that order."""
    jobs = [Noted(owner, brief, log) for owner in owners]
    for job in jobs:
        scheduler.queue(job, owner=job.owner, brief=brief, most=most)
    return jobs


def test_brief_jobs_go_first_and_everybody_by_turns():
    log: list[Noted] = []
    scheduler = Scheduler(2, studies=1)
    queued(scheduler, log, "aaaab")
    queued(scheduler, log, "cccd", brief=True, most=1)
    for job in log:  # each ends before the next, and it grows on the way
        scheduler.leave(job)
    began = "".join(job.owner for job in log)
    assert began[:2] == "ac" and len(began) == 9
    assert "".join(job.owner for job in log if not job.brief) == "abaaa"
    assert "".join(job.owner for job in log if job.brief) == "cdcc"


def test_the_workers_of_a_study_sit_together_and_leave_their_owner_a_run_and_others_their_turn():
    log: list[Noted] = []
    scheduler = Scheduler(5)
    study = queued(scheduler, log, "aaaaaa", most=5)
    assert len(log) == 4  # one a core
    queued(scheduler, log, "bb", most=5)
    run, other = queued(scheduler, log, "aa", brief=True)
    assert run in log and other not in log
    scheduler.leave(study[0])
    assert "".join(job.owner for job in log) == "aaaaab"
    scheduler.leave(run)
    assert other in log


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.booleans()), max_size=40), st.integers(1, 5))
def test_limits_hold_at_any_time_and_nobody_is_forgotten(asked, workers):
    log: list[Noted] = []
    scheduler = Scheduler(workers)
    jobs: list[Noted] = []
    for owner, brief, leave in asked:
        jobs += queued(scheduler, log, owner, brief=brief)
        if leave:
            scheduler.leave(jobs[len(jobs) // 2])
        sitting = [place.job for place in scheduler._taken]
        assert len(sitting) <= workers and sum(not job.brief for job in sitting) <= scheduler.studies
        assert all(sum(job.owner == owner for job in sitting) <= 2 for owner in "abcd")
        if scheduler._waiting:  # then no waiting job could sit
            assert not any(map(scheduler._may_sit, scheduler._waiting))
    for job in list(jobs):
        scheduler.leave(job)
    assert not scheduler._waiting and not scheduler._taken and not scheduler._served
