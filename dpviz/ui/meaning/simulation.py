"""Runs in both worlds: a job that several parts of the page read, as often as it was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import streamlit as st

from dpviz.check import RequestError
from dpviz.meaning.attack_work import PAIRS, Plain, attack_work
from dpviz.meaning.membership import Trial
from dpviz.runs.jobs import Job
from dpviz.ui.escape import plain
from dpviz.ui.job_panel import job_panel, job_shelf
from dpviz.ui.meaning.stage import Stage
from dpviz.ui.session import once

_KEPT = 6


@dataclass(eq=False)
class Simulation:
    """All jobs of one stage: the first runs, and more where they were asked for."""

    stage: Stage
    jobs: list[Job[Any]] = field(default_factory=list)

    @property
    def running(self) -> bool:
        return any(not job.state.final for job in self.jobs)

    def trials(self) -> list[Trial]:
        """Of the private algorithm, as far as they have arrived."""
        return [item for job in self.jobs for item in job.items if isinstance(item, Trial)]

    def reference(self) -> list[Trial]:
        """Of k-means++ without privacy."""
        return [item.trial for job in self.jobs for item in job.items if isinstance(item, Plain)]

    def begin(self) -> None:
        """The first runs, or as many more."""
        done = len(self.trials()) // 2
        asked = self.stage.request
        self.jobs.append(job_shelf().submit(attack_work, self.stage.worlds, asked, PAIRS, done))


def simulated(stage: Stage, draw: Callable[[Simulation], None], *, least: int = 8) -> None:
    """Draw what is known of a stage, and go on drawing while runs arrive; they begin by themselves.

    Nobody's privacy is spent: the rows are public. ``least`` pairs are waited for before anything is drawn.
    """
    simulation = once("meaning:simulations", stage.key, lambda: Simulation(stage), most=_KEPT)
    _leave_others(simulation)
    if not simulation.jobs:
        try:
            simulation.begin()
        except RequestError as error:
            st.info(plain(error), icon=":material/hourglass:")
            return
    job = simulation.jobs[-1]

    def live() -> None:
        if len(simulation.trials()) // 2 >= least:
            draw(simulation)
        else:
            st.skeleton(height=440)

    key = f"meaning:job:{len(simulation.jobs)}"
    job_panel(job, label=f"{PAIRS} runs with the person and {PAIRS} without", key=key, live=live)
    if not simulation.running:
        pairs = len(simulation.trials()) // 2
        more, words = st.columns([1, 4], vertical_alignment="center")
        more.button("More runs", icon=":material/add:", key="meaning:more", on_click=simulation.begin)
        words.caption(f"{pairs} runs with the person and {pairs} without, of a public table: nothing is spent.")


def _leave_others(simulation: Simulation) -> None:
    """A moved control makes the runs for the settings before worthless, unless they have ended."""
    kept = cast("dict[Any, Simulation]", st.session_state["meaning:simulations"])
    for other in kept.values():
        if other is not simulation and other.running:
            for job in other.jobs:
                job.cancel()
            other.jobs.clear()
