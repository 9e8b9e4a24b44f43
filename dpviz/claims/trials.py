"""The runs of a claim: lines over a grid of k and ε on one table, one tidy row a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpviz.claims.claim import Row
from dpviz.claims.material import Material
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import Grid
from dpviz.runs.study.study import Yardstick, compute_study_rows


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


def grid_rows(
    material: Material,
    lines: Sequence[Line],
    ks: Sequence[int],
    epsilons: Sequence[float],
    *,
    repeats: int,
) -> Iterator[Row]:
    """All runs of ``lines`` on ``material``; losses in unit coordinates squared, the same seeds each time."""
    table = material.private
    judged = JudgedTable.of(table, table.reveal(note="reproduce"), material.labels)
    yardsticks: list[Yardstick] = []
    for line in lines:
        shown = {line.spends(epsilon): epsilon for epsilon in epsilons}
        whom = (Contender(line.algorithm, line.params),)
        grid = Grid(whom, tuple(ks), tuple(shown), (line.delta,), repeats=repeats)
        for item in compute_study_rows(judged, grid, yardsticks=yardsticks):
            if isinstance(item, Yardstick):
                yardsticks.append(item)
            elif isinstance(item, dict):
                yield {
                    **material.facts,
                    "k": item["k"],
                    "epsilon": shown[item["epsilon"]],
                    "delta": line.delta,
                    "line": line.name,
                    "repeat": item["repeat"],
                    "nicv": item["nicv"],
                    "kmeans": item["nicv_kmeans"],
                    **({"label_accuracy": item["label_accuracy"]} if material.labels is not None else {}),
                    "seconds": item["seconds"],
                }
