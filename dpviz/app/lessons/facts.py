"""What a lesson's numbers are computed from, each sample, run and study once, and the numbers that it may say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, exp, sqrt
from typing import Literal, TypeVar

import numpy as np

from dpviz.algorithms import CandidatesStep, GridStep, Step, SwapStep, TreeStep
from dpviz.app.lessons.lesson import DrawsReveal, Lesson, Say, Scene, StudyReveal
from dpviz.core import Array, Entry, RequestError, mechanisms, partitions
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
from dpviz.tables import drawings, list_samples, make_painted_table, sample
from dpviz.words import NINE_IN_TEN, read_toml


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
        if any(subject == one.id for one in list_samples()):
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
            rows = compute_study_rows(self.judged, grid, with_centers=True)
            self._studies[key] = [row for row in rows if isinstance(row, dict)]
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


Compute = Callable[[Computed, Say], float]
_Kind = TypeVar("_Kind", bound=Step)


@dataclass(frozen=True)
class Fact:
    """A number that a lesson may say."""

    of: Literal["run", "many runs", "sample", "formula"]
    words: str
    compute: Compute
    needs: Sequence[str] = ()


def list_wrong_says(scene: Scene, computed: Computed) -> list[str]:
    """A sentence for each number of a scene that is not what comes out."""
    sentences = []
    for say in scene.says.values():
        try:
            found = FACTS[say.what].compute(computed, say)
        except RequestError as error:
            sentences.append(f"{say.name}: {error}")
            continue
        if not say.is_true_of(found):
            sentences.append(f"{say.name} ({say.what}) is said to be {say.text}, and comes out as {found:.6g}.")
    return sentences


def _list_frames(computed: Computed, say: Say) -> list[Step]:
    return computed.run(say.request).steps


def _find_charge(computed: Computed, say: Say) -> Entry:
    entries, place = computed.run(say.request).entries, int(say.options["charge"])
    if not 1 <= place <= len(entries):
        raise RequestError(f"charge is {place}, and the run has {len(entries)} charges: choose one of them.")
    return entries[place - 1]


def _list_steps(computed: Computed, say: Say, kind: type[_Kind], lacks: str, such_as: str) -> list[_Kind]:
    """The steps of a kind, of which there is one at least."""
    if steps := [step for step in _list_frames(computed, say) if isinstance(step, kind)]:
        return steps
    raise RequestError(f"The run {lacks}: choose an algorithm that does, such as {such_as}.")


def _find_grid_step(computed: Computed, say: Say) -> GridStep:
    return _list_steps(computed, say, GridStep, "counts no grid", "eugkm")[0]


def _list_trees(computed: Computed, say: Say) -> list[TreeStep]:
    """The trees of a run, each with all its levels."""
    return list({step.shift: step for step in _list_steps(computed, say, TreeStep, "grows no tree", "balcan")}.values())


def _count_asked(computed: Computed, say: Say) -> float:
    trees = [step.tree for step in _list_trees(computed, say)]
    return sum(parents << tree.dim for tree in trees for parents in (1, *map(len, tree.levels[:-1])))


def _count_empty_woken(computed: Computed, say: Say) -> float:
    empty = 0
    for step in _list_trees(computed, say):
        points = computed.rows.points
        rows = step.region.clip(points if step.frame is None else points @ step.frame.T)
        tree = step.tree
        for level, active in enumerate(tree.levels):
            held = partitions.CubeTree(tree.origin, tree.side, tree.levels[:level]).assign(rows)
            empty += int((~np.isin(active, held)).sum())
    return empty


def _count_quiet(computed: Computed, say: Say) -> float:
    step = _list_trees(computed, say)[0]
    if step.noise_name != mechanisms.Laplace.name:
        raise RequestError("Its noise is not Laplace noise: choose a pure guarantee, without a δ.")
    return 2 * exp(step.threshold / step.noise_scale)


def _list_swaps(computed: Computed, say: Say) -> list[SwapStep]:
    return [step for step in _list_frames(computed, say) if isinstance(step, SwapStep) and not step.of_iterates]


def _find_nearest(computed: Computed, say: Say) -> float:
    """In data units, the ``column`` of the centre that lies nearest to the row that is farthest from all others."""
    domain, centers = computed.table.domain, computed.run(say.request).unit_centers
    if say.options["column"] not in domain.columns:
        raise RequestError(f"The sample has the columns {', '.join(domain.columns)}: choose one of them.")
    points = computed.rows.points
    loner = np.asarray(points[((points - points.mean(axis=0)) ** 2).sum(axis=1).argmax()])
    nearest = centers[((centers - loner) ** 2).sum(axis=1).argmin()]
    return float(domain.from_unit(nearest[None])[0, domain.columns.index(str(say.options["column"]))])


def _compute_noticed_size(computed: Computed, say: Say) -> float:
    needed = computed.compute_crowd(say.request).needed
    if needed is None:
        raise RequestError("No crowd up to 3,000 would be noticed: choose a larger ε.")
    return needed


def _run_study(computed: Computed, say: Say) -> list[Row]:
    assert say.grid is not None
    rows = computed.run_study(say.grid)
    if "epsilon" not in say.options:
        return rows
    rows = [row for row in rows if row["epsilon"] == say.options["epsilon"]]
    if not rows:
        raise RequestError(f"The scene studies no ε = {say.options['epsilon']:g}: choose one that it does.")
    return rows


def _list_losses(computed: Computed, say: Say) -> list[float]:
    return [row["ratio"] for row in _run_study(computed, say)]


def _list_found(computed: Computed, say: Say) -> list[int]:
    return [computed.measure_recovery(row["centers"]).found for row in _run_study(computed, say)]


def _round_up(bound: float, decimals: int) -> float:
    """To the digits that are said: what is said to be the most stays that."""
    unit = 10.0**-decimals
    return ceil(bound / unit) * unit


_COMPUTE: dict[str, Compute] = {
    "rows": lambda e, s: len(e.rows.points),
    "clusters": lambda e, s: s.request.k,
    "epsilon": lambda e, s: s.request.epsilon,
    "clusters found": lambda e, s: e.measure_recovery(e.run(s.request).unit_centers).found,
    "loss ratio": lambda e, s: e.compute_loss_ratio(e.run(s.request).unit_centers),
    "epsilon spent": lambda e, s: e.run(s.request).spent_epsilon,
    "charges": lambda e, s: len(e.run(s.request).entries),
    "noise scale": lambda e, s: _find_charge(e, s).scale,
    "charged": lambda e, s: _find_charge(e, s).epsilon,
    "steps": lambda e, s: len(_list_frames(e, s)),
    "cells": lambda e, s: len(_find_grid_step(e, s).noisy_counts),
    "negative cells": lambda e, s: int((_find_grid_step(e, s).noisy_counts < 0).sum()),
    "noise of a cell": lambda e, s: NINE_IN_TEN * _find_grid_step(e, s).sd,
    "cubes asked": _count_asked,
    "cubes woken": lambda e, s: sum(len(level) for step in _list_trees(e, s) for level in step.tree.levels),
    "empty cubes woken": _count_empty_woken,
    "threshold": lambda e, s: _list_trees(e, s)[0].threshold,
    "empty cubes to wake one": _count_quiet,
    "people to be noticed": _compute_noticed_size,
    "chance to be noticed": lambda e, s: 100 * e.compute_crowd(s.request).chance(int(s.options["crowd"])),
    "moved without me": lambda e, s: e.measure_move_without_me(s.request.k),
    "candidates": lambda e, s: len(_list_steps(e, s, CandidatesStep, "has no candidates", "balcan")[0].candidates),
    "swaps": lambda e, s: len(_list_swaps(e, s)),
    "swaps made": lambda e, s: sum(not np.array_equal(one.centers, one.previous) for one in _list_swaps(e, s)),
    "centre nearest the loner": _find_nearest,
    "median loss": lambda e, s: float(np.median(_list_losses(e, s))),
    "least loss": lambda e, s: min(_list_losses(e, s)),
    "largest loss": lambda e, s: max(_list_losses(e, s)),
    "runs": lambda e, s: len(_run_study(e, s)),
    "fewest found": lambda e, s: min(_list_found(e, s)),
    "most found": lambda e, s: max(_list_found(e, s)),
    "odds factor": lambda e, s: _round_up(exp(float(s.options["epsilon"])), s.decimals),
    "percent from a half": lambda e, s: _round_up(100 / (1 + exp(-float(s.options["epsilon"]))), s.decimals),
    "epsilon together": lambda e, s: float(s.options["times"]) * float(s.options["epsilon"]),
    "noise of an average": lambda e, s: sqrt(2) / float(s.options["epsilon"]) / sqrt(float(s.options["times"])),
}
_WRITTEN = read_toml(__file__, "facts.toml")
FACTS = {name: Fact(compute=_COMPUTE[name], **said) for name, said in _WRITTEN.items()}
"""The vocabulary of ``says``."""
