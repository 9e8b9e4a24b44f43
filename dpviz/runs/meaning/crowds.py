"""How many people hide one: how large a crowd may be before a private tree wakes a cube over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.algorithms import TreeStep
from dpviz.core import Array, RequestError, mechanisms
from dpviz.runs.one_run import Run

EVEN = 0.5
"""The chance from which a crowd counts as noticed: rather so than not."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """What a tree's own threshold says of a place: how likely it is to wake a cube there, for crowds of each size.

    * ``level``: the first level at which the cube over the place holds nobody else, or the last where there is none.
    * ``alone``: whether there is one.
    * ``box`` (2, 2): the lower and the upper corner of that cube, unit coordinates.
    * ``threshold``, ``noise_sd``: from which noisy count on a cube wakes up, and the standard deviation of the noise on
      a count, people.
    * ``chances`` (3000,): the chance that the cube over the place wakes up, and all above it, with 1, 2, ... people
      there.
    """

    MOST: ClassVar[int] = 3_000
    """The largest crowd that is looked at."""

    level: int
    alone: bool
    box: Array
    threshold: float
    noise_sd: float
    chances: Array

    def chance(self, people: int) -> float:
        """The chance to be noticed with so many people at the place."""
        return float(self.chances[people - 1])

    @property
    def needed(self) -> int | None:
        """The smallest crowd that is rather noticed than not; None where no crowd up to 3,000 is."""
        noticed = np.flatnonzero(self.chances >= EVEN)
        return int(noticed[0]) + 1 if len(noticed) else None

    @classmethod
    def measure(cls, place: Array, others: Array, run: Run) -> Crowd:
        """What the tree of a run makes of a crowd at a place. Reads true counts: of public or simulated rows only.

        Each level draws noise of its own, so that the chances of the levels are multiplied.

        ``place`` (2,), unit coordinates; ``others`` (n, 2), everybody who is not of the crowd, unit coordinates.
        """
        steps = [step for step in run.steps if isinstance(step, TreeStep) and step.shift == 1]
        if not steps or steps[0].noise_name != mechanisms.Laplace.name:
            raise RequestError("The run grows no tree under Laplace noise: choose balcan without a δ.")
        tree, first = steps[0].tree, steps[0]
        edges = np.array([tree.edge(level) for level in range(1, len(steps) + 1)])
        mine = np.floor((place - tree.origin) / edges[:, None])
        beside = (np.floor((others - tree.origin) / edges[:, None, None]) == mine[:, None]).all(axis=2).sum(axis=1)
        lonely = np.flatnonzero(beside == 0)
        levels = int(lonely[0]) + 1 if len(lonely) else len(steps)
        counts = beside[:levels, None] + np.arange(1, cls.MOST + 1)
        # One person changes a count by one.
        asked = mechanisms.NoisyThreshold(mechanisms.Laplace(1.0, first.noise_scale), first.threshold)
        chances = np.exp(asked.log_active(counts).sum(axis=0))
        corner = tree.origin + mine[levels - 1] * edges[levels - 1]
        box = np.stack([corner, corner + edges[levels - 1]])
        return cls(levels, bool(len(lonely)), box, first.threshold, asked.once.compute_sd(1), chances)
