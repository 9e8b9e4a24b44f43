"""A study on a page: a job whose rows keep arriving whatever page is open, and what stands around it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import pandas as pd
import streamlit as st

from dpviz.charts.studies.contenders import measure_of
from dpviz.charts.wording import opening, things
from dpviz.check import RequestError
from dpviz.runs.export import REVEALED_NOTE, frame_csv, revealed_name
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Contender, Request
from dpviz.runs.study.grid import Grid, Trial
from dpviz.runs.study.study import MEASURES, Yardstick, study_rows, tidy
from dpviz.runs.work import expected_seconds
from dpviz.table.declaration import FileKind
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain
from dpviz.ui.job_panel import duration, job_panel
from dpviz.ui.studies.side_job import SideJob, send, sent

_SKELETON = 560


@dataclass(frozen=True)
class Plan:
    """What a study asks for: at one k or several, on the whole table (None) or on subsamples of n rows."""

    contenders: tuple[Contender, ...]
    k: int
    epsilons: tuple[float, ...]
    delta: float
    repeats: int
    more_ks: tuple[int, ...] = ()
    ns: tuple[int | None, ...] = (None,)

    @property
    def ks(self) -> list[int]:
        """All k, ascending."""
        return sorted({self.k, *self.more_ks})

    @property
    def trials(self) -> list[Trial]:
        return self.grid.trials()

    @property
    def grid(self) -> Grid:
        return Grid(self.contenders, tuple(self.ks), self.epsilons, (self.delta,), self.ns, self.repeats)


@dataclass(eq=False)
class Study(SideJob):
    """A study of this visit: what was asked, and what has arrived."""

    @property
    def plan(self) -> Plan:
        return cast(Plan, self.asked)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The runs so far."""
        return [item for item in self.items if isinstance(item, dict)]

    @property
    def yardstick(self) -> Yardstick | None:
        """What losses are measured against: the last one that has arrived."""
        return next((item for item in reversed(self.items) if isinstance(item, Yardstick)), None)


def start(key: str, table: OpenTable, source: OpenTable, plan: Plan, *, with_centers: bool = False) -> None:
    """Send the study to a worker in place of the one before.

    Raises
    ------
    RequestError
        If the request is outside what is allowed, or too many jobs wait already.
    """
    look = f"{key}: losses of {len(plan.trials)} study runs, k = {', '.join(map(str, plan.ks))}"
    options: dict[str, Any] = {"kind": Study, "with_labels": True, "with_centers": with_centers}
    send(key, table, source, plan, study_rows, plan.grid, look=look, **options)


def study_button(
    key: str, table: OpenTable, source: OpenTable | None, plan: Plan, *, with_centers: bool = False
) -> None:
    """The button that starts the study, with how much it will compute; what cannot run says why."""
    problem = problem_of(source, plan)
    words, number = "", 0
    if problem is None and source is not None:
        number = len(plan.trials)
        words = f"{number:,} runs, about {duration(forecast(source, plan))}. They run in a worker while you read on."
    pressed = st.button(
        "Compute", type="primary", icon=":material/play_circle:", key=f"{key}:compute", disabled=number == 0
    )
    st.caption(words if problem is None else f":red-badge[:material/cancel: cannot run] {plain(problem)}")
    if pressed and source is not None:
        try:
            start(key, table, source, plan, with_centers=with_centers)
        except RequestError as error:
            st.error(plain(error), title="This cannot run", icon=":material/block:")


@dataclass(frozen=True)
class Invitation:
    """What stands in place of a study that nobody has asked for yet."""

    title: str
    words: str
    icon: str


def study_half(
    key: str,
    table: OpenTable,
    plan: Plan,
    source: OpenTable | None,
    *,
    invitation: Invitation,
    label: Callable[[Study], str],
    pictures: Callable[[Study], None],
) -> None:
    """The lower half of a page: its last study, live while it runs and kept afterwards, or an invitation."""
    study = study_of(key, table)
    if study is None:
        st.info(invitation.words, title=invitation.title, icon=invitation.icon)
        return
    headline(study.source, fits=not _changed(study, plan, source))

    def draw() -> None:
        if study.rows:
            pictures(study)
        else:
            st.skeleton(height=_SKELETON)

    live_job(study, label=label(study), key=key, live=draw)


def measure_choice(frame: pd.DataFrame, key: str, *, without: Sequence[str] = ()) -> str:
    """Which measure is drawn; label accuracy only where labels are known."""
    offered = [name for name in MEASURES if name not in without and frame[name].notna().any()] or ["ratio"]
    offered.sort(key=lambda name: name != "ratio")
    chosen = st.pills(
        "Measure",
        offered,
        format_func=lambda name: opening(measure_of(name).short),
        default="ratio",
        required=True,
        wrap=True,
        key=f"{key}:measure",
    )
    return str(chosen or "ratio")


def study_download(study: Study, key: str) -> None:
    """The rows of a study as CSV, unless they are losses of a private file: those leave by no door."""
    if not study.source.kind.may_be_shown:
        st.caption(f"{badge_text('revealed')} Losses of a private file are for your eyes: there is no file of them.")
        return
    if study.running:  # a file that every picture replaces would be gone before the browser has seen it
        st.caption(f"A file of all runs comes with the last of them; {len(study.rows):,} have arrived.")
        return
    st.download_button(
        f"All {len(study.rows):,} runs (CSV)" if len(study.rows) > 1 else "One run (CSV)",
        study_csv(study),
        revealed_name(f"{key.replace(':', '_')}_k{study.plan.k}"),
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        key=f"{key}:download",
    )


def study_csv(study: Study) -> bytes:
    """One line a run; each says that it was read from rows.

    Raises
    ------
    RequestError
        For losses read from a private file.
    """
    if not study.source.kind.may_be_shown:
        raise RequestError("Losses of a private file are not exported: study a stand-in to take a file away.")
    return frame_csv(tidy(study.rows), note=REVEALED_NOTE)


def study_of(key: str, table: OpenTable) -> Study | None:
    """The last study of that page, if it was asked about ``table``; with everything that has arrived."""
    return cast("Study | None", sent(key, table))


def forecast(source: OpenTable, plan: Plan) -> float:
    """Seconds that the whole study may take, roughly."""
    rows = [n or source.loaded.n_rows for n in plan.ns]
    once = 0.0
    for contender in plan.contenders:
        for epsilon, k, n in product(plan.epsilons, plan.ks, rows):
            setting = Request(contender, k, epsilon, plan.delta).setting(source.private)
            setting = dataclasses.replace(setting, n=n)
            once += expected_seconds(contender.card, setting, contender.settings) + 0.02
    return 1.5 + plan.repeats * once


def problem_of(source: OpenTable | None, plan: Plan) -> str | None:
    """Why a study of ``plan`` cannot run, if it cannot: here, rather than in the worker."""
    if source is None:
        return "It is not decided yet on which rows losses are judged."
    if not plan.contenders:
        return "Choose at least one algorithm."
    refused = plan.grid.refusals(source.private)
    if not refused:
        return None
    first, *others = dict.fromkeys(refused.values())
    return f"{first} {opening(things(len(refused) - 1, 'other'))} cannot run either." if others else first


def headline(source: OpenTable, *, fits: bool, button: str = "Compute") -> None:
    """Whose losses these are, and whether the form has changed since; ``button`` would apply it."""
    badge = badge_text("revealed" if source.kind is not FileKind.SIMULATED else "public")
    words = (
        ":green-badge[:material/check: matches the settings above]"
        if fits
        else f":yellow-badge[:material/history: older settings] Press **{button}** to apply the new ones."
    )
    st.markdown(f"{badge} losses on {plain(source.title)} {words}")


def live_job(study: SideJob, *, label: str, key: str, live: Callable[[], None]) -> None:
    """The job's panel with the pictures below it: live while it runs, still once it has ended."""
    job = study.job
    if job is None or job.state.final:
        if job is not None:
            job_panel(job, label=label, key=key)
        live()
        return

    def collect_and_draw() -> None:
        study.collect()
        live()

    job_panel(job, label=label, key=key, live=collect_and_draw)


def _changed(study: Study, plan: Plan, source: OpenTable | None) -> bool:
    """Whether the settings on the page are no longer those of ``study``."""
    return source is None or study.plan != plan or study.source.key != source.key
