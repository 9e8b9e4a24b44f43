"""What a lesson's numbers are computed from: its sample, k-means++ on it, its runs and its studies, each made once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan

import numpy as np

from dpviz.app.lessons.lesson import DrawsReveal, Lesson, StudyReveal
from dpviz.core import Array, RequestError
from dpviz.runs import (
    ClippedRows,
    Crowd,
    JudgedTable,
    OpenTable,
    Request,
    Row,
    Run,
    StudyGrid,
    compute_study_rows,
    declare,
    evaluation,
    run_request,
)
from dpviz.tables import SAMPLES, drawings, make_painted_table, sample


@dataclass(eq=False)
class Computed:
    """The table of a scene and what is computed on it: a public sample or a drawing, whose rows may be looked at.

    ``drawing`` is that of a board.
    """

    table: OpenTable
    drawing: drawings.PointDrawing | None = None
    _references: dict[int, evaluation.Reference] = field(default_factory=dict)
    _runs: dict[str, Run] = field(default_factory=dict)
    _studies: dict[str, list[Row]] = field(default_factory=dict)

    @classmethod
    def open_subject(cls, subject: str) -> Computed:
        """Of the sample with that id, or of the drawing with that text, with what is declared about it."""
        if any(subject == one.id for one in SAMPLES):
            return cls(declare(*sample(subject).load()))
        drawing = drawings.decode_drawing(subject)
        return cls(declare(*make_painted_table(drawing)), drawing)

    @cached_property
    def judged(self) -> JudgedTable:
        """The table with its rows revealed: it is a public sample."""
        revealed = self.table.private.reveal(note="a lesson on a public sample")
        return JudgedTable.of(self.table.private, revealed, self.table.read_labels(revealed))

    @property
    def rows(self) -> ClippedRows:
        return self.judged.rows

    def compute_reference(self, k: int) -> evaluation.Reference:
        """k-means++ on the rows."""
        if k not in self._references:
            self._references[k] = evaluation.find_reference(self.rows, k)
        return self._references[k]

    def run(self, request: Request) -> Run:
        """The run that is asked for; its seed makes it the same for everybody."""
        key = f"{request.to_query()}&seed={request.seed}"
        if key not in self._runs:
            self._runs[key] = run_request(request, self.table.private)
        return self._runs[key]

    def run_study(self, grid: StudyGrid) -> list[Row]:
        """The runs of a study."""
        key = grid.to_query()
        if key not in self._studies:
            self._studies[key] = [
                row for row in compute_study_rows(self.judged, grid, with_centers=True) if isinstance(row, dict)
            ]
        return self._studies[key]

    def take(self, grid: StudyGrid, rows: list[Row]) -> None:
        """Keep the runs of a study, with their centres, that were made elsewhere."""
        self._studies.setdefault(grid.to_query(), rows)

    def knows(self, grid: StudyGrid) -> bool:
        """Whether the runs of a study are there already."""
        return grid.to_query() in self._studies

    def compute_crowd(self, request: Request) -> Crowd:
        """What the tree of a run makes of a crowd at my place."""
        others, me = self._with_me()
        return Crowd.measure(me, others, self.run(request))

    def measure_move_without_me(self, k: int) -> float:
        """How far a centre of k-means++ moves when I am taken out, data units."""
        self._with_me()
        assert self.drawing is not None
        alone = Computed(declare(*make_painted_table(replace(self.drawing, me=None))))
        here, there = (of.table.domain.from_unit(of.compute_reference(k).centers) for of in (self, alone))
        apart = np.linalg.norm(here[:, None] - there, axis=2)
        return float(max(apart.min(axis=0).max(), apart.min(axis=1).max()))

    def _with_me(self) -> tuple[Array, Array]:
        if self.drawing is None or self.drawing.me is None:
            raise RequestError("Nobody on the board is me: give the board a line `me: [x, y]`.")
        to_unit = self.table.domain.to_unit
        return to_unit(self.drawing.others), to_unit(self.drawing.mine)[0]

    def measure_recovery(self, centers: Array) -> evaluation.ClusterRecovery:
        """How many clusters of k-means++ some centres (k, d) find."""
        return evaluation.measure_recovery(self.rows.points, centers, self.compute_reference(len(centers)))

    def compute_loss_ratio(self, centers: Array) -> float:
        """Loss of centres (k, d) over that of k-means++."""
        return evaluation.evaluate(self.rows, centers, self.compute_reference(len(centers))).ratio


def find_step(run: Run, step: int | str | None) -> int:
    """The place from 0 of the step that a lesson asks for."""
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


def list_refusals(lesson: Lesson, on: Callable[[str], Computed] = Computed.open_subject) -> list[str]:
    """Why a lesson cannot be given, a sentence for each scene that cannot; looks at no result.

    ``on`` is what makes the table of a scene of its subject.
    """
    sentences = []
    for place, scene in enumerate(lesson.scenes, start=1):
        asked: list[Request | StudyGrid] = [say.request for say in scene.says.values()]
        parts = [part for part in (scene.shows, scene.reveal, scene.board) if part is not None]
        asked += [part.grid if isinstance(part, DrawsReveal | StudyReveal) else part.request for part in parts]
        try:
            table = on(lesson.find_subject(scene)).table.private
            for one in asked:
                one.check(table)
        except RequestError as error:
            sentences.append(f"{lesson.id}.yaml, scene {place}: {error}")
    return sentences


def compute_median(values: list[float]) -> float:
    """The middle value; NaN of none."""
    return float(np.median(values)) if values else nan
