"""What ``auto`` emits beside centres and grids: its plan, its look at the rows, its synopsis, its rounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from dpviz.algorithms.steps import CentersStep, GridStep, Step
from dpviz.arrays import Array, Codes
from dpviz.privacy.loss_distributions import Draws, composed_epsilon

if TYPE_CHECKING:
    from dpviz.algorithms.auto.first_look import Look


# The part that is bought before there can be a plan, if the number of rows is not public.
ROWS = "rows"


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanStep(Step):
    """How the budget is divided: the ``names`` of its parts in the order of spending, and the ``noises`` on them.

    ``draws`` is the size of that noise beside what one person changes. Parts of round t end in ``_t``; the first may
    be the number of ``rows``, without which there is no plan.
    """

    names: tuple[str, ...]
    noises: tuple[str, ...]
    draws: tuple[Draws, ...]
    delta: float

    @property
    def public(self) -> bool:
        """Whether no row has been read for it."""
        return ROWS not in self.names

    @cached_property
    def fractions(self) -> Array:
        """What each part adds to the ε that is spent, in the order of spending; together 1.

        Without δ the ε of the parts add up. With it the ε after each stage is what the noise so far composes to, as
        the ledger counts it; parts of one round divide what the round adds by the ε, or the ρ, of each alone.
        """
        added = np.zeros(len(self.names))
        before = 0.0
        for _, stage in groupby(range(len(self.names)), key=self._stage):
            parts = list(stage)
            alone = np.array([self.draws[i].rho if self.draws[i].gaussian else self._epsilon(i) for i in parts])
            after = max(before, self._epsilon_after(parts[-1]))
            added[parts] = (after - before) * alone / alone.sum()
            before = after
        fractions: Array = added / before
        return fractions

    def _stage(self, part: int) -> str:
        """Questions of one round are asked together; before the rounds, each part is a stage."""
        name = self.names[part]
        *_, last = name.split("_")
        return f"{name.startswith('swap')} {last}" if last.isdigit() else name

    def _epsilon(self, part: int) -> float:
        return self.draws[part].times / self.draws[part].multiplier

    def _epsilon_after(self, part: int) -> float:
        if self.delta == 0:
            return fsum(self._epsilon(i) for i in range(part + 1))
        return composed_epsilon(self.draws[: part + 1], self.delta)


@dataclass(frozen=True, eq=False, kw_only=True)
class LookStep(Step):
    """The noisy middle, reach and axes of the rows.

    The first ``axes`` of the look's basis make the view. Variances under ``noise_edge`` (0: axes from public coins) may
    be noise alone. ``noisy_radii`` (bins,) counts rows by their distance from the middle, from 0 to ``radii_reach``,
    with Laplace noise of ``radii_scale``.
    """

    look: Look
    axes: int
    noise_edge: float
    noisy_radii: Array
    radii_scale: float
    radii_reach: float


@dataclass(frozen=True, eq=False, kw_only=True)
class ZoomStep(GridStep):
    """A coarse histogram of the domain, and the ``box`` (2, d) that holds nearly all rows, if one was found."""

    box: Array | None


@dataclass(frozen=True, eq=False, kw_only=True)
class SynopsisStep(GridStep):
    """A noisy histogram in the view and what denoising kept of it.

    The grid lies in the view's coordinates: those of the rows under ``frame`` (p, d); None where they are the rows'
    own. ``kept`` (m,) are indices into ``codes``, ``weights`` (m,) their denoised counts. Points ``outside`` (j, p),
    with ``outside_weights`` (j,), are the middles of the coarse cells around the grid's box that were kept.
    """

    frame: Array | None
    kept: Codes
    weights: Array
    outside: Array
    outside_weights: Array


@dataclass(frozen=True, eq=False, kw_only=True)
class PolishStep(CentersStep):
    """Centres after a round on residuals, which were shortened to ``reach`` first, unit coordinates."""

    reach: float


@dataclass(frozen=True, eq=False, kw_only=True)
class SplitStep(CentersStep):
    """Centres after some clusters were split: ``split`` (m,) gave one half to centre ``dropped`` (m,).

    ``gains`` (m,) are what each split saves and ``costs`` (m,) what dropping the other centre loses, by noisy counts
    and spreads, unit coordinates squared. ``gain_of_each`` and ``cost_of_each`` (k,) are those of all clusters before
    anything moved: a pair is exchanged where its gain is more than its cost.
    """

    split: Codes
    dropped: Codes
    gains: Array
    costs: Array
    gain_of_each: Array
    cost_of_each: Array
