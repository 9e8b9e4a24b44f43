"""What a lesson's numbers are computed from: its sample, k-means++ on it, its runs and its studies, each made once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import nan

import numpy as np

from dpviz.arrays import Array
from dpviz.check import RequestError
from dpviz.lessons.lesson import DrawsReveal, Lesson, PartReveal, RunReveal, StudyReveal
from dpviz.runs.clipped_rows import ClippedRows, JudgedTable
from dpviz.runs.evaluation import Reference, evaluate, reference_for
from dpviz.runs.found import Found, found_in
from dpviz.runs.open_table import OpenTable, declare
from dpviz.runs.request import Request
from dpviz.runs.run import Run, run_of
from dpviz.runs.study.grid import Grid
from dpviz.runs.study.study import Row, study_rows
from dpviz.table.samples import sample


@dataclass(eq=False)
class Computed:
    """The public sample of a lesson and what is computed on it; the rows of a public sample may be looked at."""

    table: OpenTable
    _references: dict[int, Reference] = field(default_factory=dict)
    _runs: dict[str, Run] = field(default_factory=dict)
    _studies: dict[str, list[Row]] = field(default_factory=dict)

    @classmethod
    def on(cls, sample_id: str) -> Computed:
        """Of the sample with that id, with what is declared about it."""
        return cls(declare(*sample(sample_id).load()))

    @cached_property
    def judged(self) -> JudgedTable:
        """The table with its rows revealed: it is a public sample."""
        revealed = self.table.private.reveal(note="a lesson on a public sample")
        return JudgedTable.of(self.table.private, revealed, self.table.labels_of(revealed))

    @property
    def rows(self) -> ClippedRows:
        return self.judged.rows

    def reference(self, k: int) -> Reference:
        """k-means++ on the rows."""
        if k not in self._references:
            self._references[k] = reference_for(self.rows, k)
        return self._references[k]

    def run(self, request: Request) -> Run:
        """The run that is asked for; its seed makes it the same for everybody.

        Raises
        ------
        RequestError
            If the sample does not allow it.
        """
        key = f"{request.to_query()}&seed={request.seed}"
        if key not in self._runs:
            self._runs[key] = run_of(request, self.table.private)
        return self._runs[key]

    def study(self, grid: Grid) -> list[Row]:
        """The runs of a study."""
        key = grid.to_query()
        if key not in self._studies:
            self._studies[key] = [
                row for row in study_rows(self.judged, grid, with_centers=True) if isinstance(row, dict)
            ]
        return self._studies[key]

    def take(self, grid: Grid, rows: list[Row]) -> None:
        """Keep the runs of a study, with their centres, that were made elsewhere."""
        self._studies.setdefault(grid.to_query(), rows)

    def knows(self, grid: Grid) -> bool:
        """Whether the runs of a study are there already."""
        return grid.to_query() in self._studies

    def found(self, centers: Array) -> Found:
        """How many clusters of k-means++ some centres (k, d) find."""
        return found_in(self.rows.points, centers, self.reference(len(centers)))

    def loss_ratio(self, centers: Array) -> float:
        """Loss of centres (k, d) over that of k-means++."""
        return evaluate(self.rows, centers, self.reference(len(centers))).ratio


def step_place(run: Run, step: int | str | None) -> int:
    """The place from 0 of the step that a lesson asks for.

    Raises
    ------
    RequestError
        If the run has no such step.
    """
    titles = [frame.step.title for frame in run.frames]
    if step is None:
        return len(titles) - 1
    if isinstance(step, int):
        if step > len(titles):
            raise RequestError(f"step is {step}, and the run has {len(titles)} steps: choose one of them.")
        return step - 1
    place = next((at for at, title in enumerate(titles) if step.lower() in title.lower()), None)
    if place is None:
        raise RequestError(f"No step of the run has {step!r} in its title: choose words of {'; '.join(titles)}.")
    return place


def refusals(lesson: Lesson, computed: Computed) -> list[str]:
    """Why a lesson cannot be given on its sample, a sentence for each scene that cannot; looks at no result."""
    sentences = []
    for place, scene in enumerate(lesson.scenes, start=1):
        try:
            for part in (scene.shows, scene.reveal):
                if isinstance(part, RunReveal | PartReveal):
                    part.request.check(computed.table.private)
                elif isinstance(part, DrawsReveal | StudyReveal):
                    part.grid.check(computed.table.private)
            for say in scene.says.values():
                say.request.check(computed.table.private)
        except RequestError as error:
            sentences.append(f"{lesson.id}.yaml, scene {place}: {error}")
    return sentences


def median(values: list[float]) -> float:
    """The middle value; NaN of none."""
    return float(np.median(values)) if values else nan
