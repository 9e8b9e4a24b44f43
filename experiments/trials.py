"""What claims declare to be run: lines over a grid of k and ε on one table, or repeats of one experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import nan
from typing import Any

import pandas as pd

from dpviz.algorithms.registry import AUTO
from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, FindingSetting
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import StudyGrid, Trial
from dpviz.runs.study.study import compute_study_rows
from experiments.claim import Block, Claim, RepeatChoice, Row
from experiments.material import DatasetCache, Material


@dataclass(frozen=True)
class Line:
    """A line of a figure: an algorithm with the paper's parameters.

    Parameters
    ----------
    name : str
    algorithm : str
    params : mapping
    delta : float
    spends : function of ε
        What a run is really given at an ε of the axis; another than ε only where another accounting is played.
    """

    name: str
    algorithm: str
    params: Mapping[str, Any] = field(default_factory=dict)
    delta: float = 0.0
    spends: Callable[[float], float] = float


def find_setting(claim: Claim, settings: Any, table: pd.DataFrame, finding: ClaimFinding) -> FindingSetting:
    """The place that decides ``finding``, or the first of ``table``.

    Parameters
    ----------
    claim : Claim
        One that has tables.
    settings : settings
        Of the claim, by which ``table`` was made.
    table : DataFrame
    finding : ClaimFinding
        One of the claim's, judged from ``table``.

    Returns
    -------
    FindingSetting
    """
    there = table
    for column, value in finding.place.items():
        if column in there.columns and (there[column] == value).any():
            there = there[there[column] == value]
    row = there.iloc[0]
    lines = {line.name: line for block in claim.blocks(settings) for line in getattr(block, "shown", ())}
    line = lines.get(str(row["line"]), Line("", AUTO, delta=1e-6))
    k, epsilon = int(row["k"]), float(row.get("epsilon", 1.0))
    return FindingSetting(int(row["n"]), int(row["d"]), line.algorithm, line.params, k, epsilon, line.delta)


@dataclass(frozen=True, kw_only=True)
class Sweep(Block):
    """Lines over a grid of k and ε on one table, the same seeds each time; losses in unit coordinates squared.

    Parameters
    ----------
    table : str or Material
        A published table, by name, or one that is made.
    lines : sequence of Line
    ks, epsilons : sequences
    repeats : int
        Of each cell, for a first look.
    facts : Row
        Columns that are the same for all of its rows.
    unlabelled : bool
        The labels of the table mean nothing.
    with_excess : bool
        Adds the loss above that of k-means++.
    """

    table: str | Material
    lines: Sequence[Line]
    ks: Sequence[int]
    epsilons: Sequence[float]
    repeats: int
    facts: Row = field(default_factory=dict)
    unlabelled: bool = False
    with_excess: bool = False

    @property
    def shown(self) -> Sequence[Line]:
        """What can be looked at elsewhere."""
        return self.lines

    def runs(self, datasets: DatasetCache, wanted: RepeatChoice) -> Iterator[list[Row]]:
        """One row a run."""
        material = datasets.table(self.table) if isinstance(self.table, str) else self.table
        for line, k, epsilon in product(self.lines, self.ks, self.epsilons):
            cell = {**material.facts, "k": k, "epsilon": epsilon, "delta": line.delta, "line": line.name, **self.facts}
            for repeat in wanted(cell, self.repeats):
                yield [self._run(material, line, cell, repeat)]

    def _run(self, material: Material, line: Line, cell: Row, repeat: int) -> Row:
        contender, spent = Contender(line.algorithm, line.params), line.spends(cell["epsilon"])
        grid = StudyGrid((contender,), (cell["k"],), (spent,), (line.delta,), repeats=repeat + 1)
        trial = Trial(contender, cell["k"], spent, line.delta, repeat)
        stick = material.yardstick(cell["k"])
        found = compute_study_rows(material.judged, grid, trials=[trial], yardsticks=[stick])
        (item,) = (item for item in found if isinstance(item, dict))
        labelled = {} if material.labels is None else {"label_accuracy": item["label_accuracy"]}
        return {
            **cell,
            "repeat": repeat,
            "nicv": item["nicv"],
            "kmeans": item["nicv_kmeans"],
            **({"label_accuracy": nan} if self.unlabelled else labelled),
            "seconds": item["seconds"],
            **({"excess": item["nicv"] - item["nicv_kmeans"]} if self.with_excess else {}),
        }


@dataclass(frozen=True, kw_only=True)
class Series(Block):
    """Repeats of one experiment that gives all of its lines at once.

    Parameters
    ----------
    facts : Row
        Its place.
    lines : sequence of str
    repeats : int
        For a first look.
    run : function of a repeat to rows
        Without ``facts`` and "repeat".
    shown : sequence of Line
        Those that can be looked at elsewhere, with what runs.
    """

    facts: Row
    lines: Sequence[str]
    repeats: int
    run: Callable[[int], Iterator[Row]]
    shown: Sequence[Line] = ()

    def runs(self, datasets: DatasetCache, wanted: RepeatChoice) -> Iterator[list[Row]]:
        """All rows of a repeat together."""
        del datasets
        asked = [wanted(self.facts | {"line": line}, self.repeats) for line in self.lines]
        for repeat in sorted(set().union(*asked)):
            yield [self.facts | {"repeat": repeat} | row for row in self.run(repeat)]
