"""The plan of ``auto``: what is bought, with which noise, for which part of the budget; made before a row is read.

Everything here follows from k, the number of columns, ε, δ, the relation and n. If n had to be bought it is a release:
then only Gaussian shares depend on it, and only in how they divide one fixed total, which every accounting allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import ceil, fsum, log2, sqrt
from typing import NamedTuple

import numpy as np

from dpviz.algorithms.steps import Step
from dpviz.arrays import Array
from dpviz.privacy.accounting import Accounting, Budget, Shares, gdp_mu
from dpviz.privacy.loss_distributions import Draws, composed_epsilon
from dpviz.privacy.queries import Relation
from dpviz.privacy.room import DataRoom

# Up to so many columns a grid lies over the rows themselves; beyond, over a few axes.
FLAT_DIM = 3
# Up to so many clusters a coarse grid tells them apart.
FEW_CLUSTERS = 12
# Beyond so many columns a matrix of second moments is too large to be worth its noise.
MOST_FOR_AXES = 1000

_GRID_FLAT, _GRID_VIEW = 0.75, 0.3
_ZOOM, _FINE_TEST = 0.04, 0.02
_LOOK, _MIDDLE = 0.2, 0.15
# Without δ there are no private axes: parts of ε for the middle, the radii, the grid; the rest is for polishing.
_PURE_MIDDLE, _PURE_RADII, _PURE_GRID = 0.08, 0.02, 0.4
_RADII_ROWS, _LEAST_RADII, _MOST_RADII, _RADII_UNKNOWN_N = 300.0, 0.03, 0.15, 0.06
# Rounds of polishing: as many as keep the noise of a mean, over the radius of a cluster, in proportion; at most 12.
_MOST_ROUNDS, _ROUND_NOISE, _NOISY = 12, 0.02, 0.001
_COUNTS, _PURE_COUNTS, _ROUND_RADII = 0.12, 0.15, 0.06
_SWAP_FLAT, _SWAP_VIEW, _SWAP_COUNTS = 0.15, 0.2, 0.3
# A swap needs its noise below this part of the rows of a cluster.
_GATE_FLAT, _GATE_VIEW = 0.2, 0.5
MOST_SWAP_AXES = 64


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


class Part(NamedTuple):
    """Something to buy: ``weight`` is ε for pure noise, μ² for Gaussian noise, before all are calibrated together."""

    gaussian: bool
    weight: float


@dataclass(frozen=True)
class AutoPlan:
    """What ``auto`` will do.

    Parameters
    ----------
    flat : bool
        At most three columns: the grid lies over the rows themselves.
    many : bool
        More clusters than a coarse grid on a few axes tells apart: a fine one is tried.
    axes : int
        Axes of the view.
    bought_axes : bool
        Whether the axes are bought; otherwise they are public coins.
    rounds : int
        Rounds of polishing.
    swap_before : tuple of int
        Rounds before which clusters are split and dropped.
    swap_axes : int
        Axes along which the spread of a cluster is measured.
    adaptive : bool
        Whether the reach follows the residuals from round to round.
    gaussian : bool
        Whether polishing has Gaussian noise; K-norm and Laplace noise otherwise.
    unit_variance : float
        Variance of the noise on a query of sensitivity 1 that has all of the polishing budget, before calibration.
    parts : mapping of names to Part
    """

    flat: bool
    many: bool
    axes: int
    bought_axes: bool
    rounds: int
    swap_before: tuple[int, ...]
    swap_axes: int
    adaptive: bool
    gaussian: bool
    unit_variance: float
    parts: dict[str, Part]

    def shares(self, room: DataRoom) -> Shares:
        """The budget of ``room``, less what was spent already, divided among all parts.

        **Guarantee.** Together the shares are worth the whole budget of the room, whatever is asked with them.
        """
        if room.accounting is not Accounting.PLD:
            return room.budget.split(**{name: part.weight for name, part in self.parts.items()})
        draws = {
            name: Draws(part.gaussian, 1 / (sqrt(part.weight) if part.gaussian else part.weight))
            for name, part in self.parts.items()
        }
        return room.calibrated(**draws)

    def draws(self, shares: Shares) -> dict[str, Draws]:
        """The noise that each of ``shares`` buys, beside what one person changes."""
        amounts = {name: shares[name] for name in self.parts}
        return {name: Draws(self.parts[name].gaussian, _multiplier(share)) for name, share in amounts.items()}


def _multiplier(share: Budget) -> float:
    """Noise over sensitivity; ρ is 1 / (2 · its square), and ε of pure noise is 1 over it."""
    return 1 / sqrt(2 * share.amount) if share.accounting is Accounting.PLD else 1 / share.amount


def make_plan(
    *, k: int, dim: int, n: int, epsilon: float, delta: float, relation: Relation, rows_per_person: int, n_public: bool
) -> AutoPlan:
    """The plan for a setting."""
    flat, many = dim <= FLAT_DIM, dim > FLAT_DIM and k > FEW_CLUSTERS
    bought_axes = not flat and delta > 0 and dim <= MOST_FOR_AXES
    axes = dim if flat else min(dim, max(5, ceil(log2(k)) + 2) if many else 5)
    grid_epsilon = epsilon * (_GRID_FLAT if flat else _GRID_VIEW)
    # What one person changes: noise grows in proportion.
    moved = rows_per_person * (2 if relation is Relation.REPLACE else 1)
    polish_epsilon = epsilon - grid_epsilon
    mu2 = gdp_mu(polish_epsilon, delta) ** 2 if delta > 0 else 0.0
    parts: dict[str, Part] = {}
    if flat:
        parts["zoom"] = Part(False, _ZOOM * grid_epsilon)
        parts["grid"] = Part(False, (1 - _ZOOM) * grid_epsilon)
    elif delta > 0:
        rows_share = _RADII_ROWS * moved / n if n_public else _RADII_UNKNOWN_N * grid_epsilon
        radii = float(np.clip(rows_share, _LEAST_RADII * grid_epsilon, _MOST_RADII * grid_epsilon))
        axes_share = 1.0 if bought_axes else 0.0
        parts["middle"] = Part(True, mu2 * _LOOK * _MIDDLE)
        if bought_axes:
            parts["axes"] = Part(True, mu2 * _LOOK * (1 - _MIDDLE))
        parts["radii"] = Part(False, radii)
        parts |= _grid_parts(grid_epsilon - radii, many)
        mu2 *= 1 - _LOOK * (_MIDDLE + (1 - _MIDDLE) * axes_share)
    else:
        parts["middle"], parts["radii"] = Part(False, _PURE_MIDDLE * epsilon), Part(False, _PURE_RADII * epsilon)
        parts |= _grid_parts(_PURE_GRID * epsilon, many)
        polish_epsilon = epsilon * (1 - _PURE_MIDDLE - _PURE_RADII - _PURE_GRID)

    gaussian, rounds, variance = _kind_of_rounds(k, dim, n, polish_epsilon, mu2, moved, choose=flat and n_public)
    if not flat:
        # Gaussian noise hardly grows with more rounds; that of pure noise grows with their number.
        rounds = _MOST_ROUNDS if gaussian else int(sqrt(rounds))
    whole = mu2 if gaussian else polish_epsilon
    swap_axes = min(dim, MOST_SWAP_AXES)
    swap = _SWAP_FLAT if flat else _SWAP_VIEW
    entries = swap_axes * (swap_axes + 1) / 2
    unit_sd = moved * (1 / sqrt(swap * mu2) if gaussian else sqrt(entries + 1) / (swap * polish_epsilon))
    clear = unit_sd * sqrt(2 * swap_axes) <= (_GATE_FLAT if flat else _GATE_VIEW) * n / k
    middle_round = rounds // 2 + 1
    before = (
        () if rounds < 2 or k < 2 or not clear else (middle_round,) if flat else (middle_round, 3 * rounds // 4 + 1)
    )
    adaptive = _noise_to_signal(k, dim, n, variance) >= _NOISY
    parts |= _polish_parts(whole, gaussian, rounds, before, swap, adaptive)
    return AutoPlan(flat, many, axes, bought_axes, rounds, before, swap_axes, adaptive, gaussian, variance, parts)


def _grid_parts(epsilon: float, many: bool) -> dict[str, Part]:
    test = _FINE_TEST * epsilon if many else 0.0
    grid = {"grid": Part(False, epsilon - test)}
    return ({"fine_test": Part(False, test)} if many else {}) | grid


def _kind_of_rounds(
    k: int, dim: int, n: int, epsilon: float, mu2: float, moved: float, *, choose: bool
) -> tuple[bool, int, float]:
    """Gaussian or pure noise, how many rounds it feeds, and the variance of a query with the whole budget."""
    pure, normal = (dim + 1) / epsilon**2, 1 / mu2 if mu2 else np.inf
    variance = moved**2 * (min(pure, normal) if choose or not mu2 else normal)
    rounds = int(np.clip(_ROUND_NOISE / _noise_to_signal(k, dim, n, variance), 1, _MOST_ROUNDS))
    gaussian = bool(mu2) and not (choose and pure * rounds < normal)
    return gaussian, rounds, variance


def _noise_to_signal(k: int, dim: int, n: int, variance: float) -> float:
    """Of a mean at a reach of two radii, over the squared radius."""
    return 4 * (k / n) ** 2 * dim * variance


def _polish_parts(
    whole: float, gaussian: bool, rounds: int, before: tuple[int, ...], swap: float, adaptive: bool
) -> dict[str, Part]:
    """Later rounds get more: round t in proportion to t²."""
    parts = {}
    weights = np.arange(1, rounds + 1) ** 2.0
    weights *= whole * (1 - swap * bool(before)) / weights.sum()
    counts = _COUNTS if gaussian else _PURE_COUNTS
    for t, weight in enumerate(weights, start=1):
        if t in before:
            each = whole * swap / len(before)
            parts[f"swap_counts_{t}"] = Part(gaussian, each * _SWAP_COUNTS)
            parts[f"swap_spread_{t}"] = Part(gaussian, each * (1 - _SWAP_COUNTS))
        radii = _ROUND_RADII if adaptive and t < rounds else 0.0
        if radii:
            parts[f"radii_{t}"] = Part(gaussian, weight * radii)
        parts[f"counts_{t}"] = Part(gaussian, weight * (1 - radii) * counts)
        parts[f"sums_{t}"] = Part(gaussian, weight * (1 - radii) * (1 - counts))
    return parts
