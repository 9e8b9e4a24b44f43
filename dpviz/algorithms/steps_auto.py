"""What ``auto`` emits beside centres and grids: its plan, its look at the rows, its synopsis, its rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpviz.algorithms.steps import CentersStep, GridStep, Step
from dpviz.table.domain import Array, Codes

if TYPE_CHECKING:
    from dpviz.algorithms.look import Look


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanStep(Step):
    """How the budget is divided, before a row is read: the names of the parts, their fractions, and their noise."""

    names: tuple[str, ...]
    fractions: Array
    noises: tuple[str, ...]

    @property
    def public(self) -> bool:
        """Whether no row has been read for it."""
        return True


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
    own. ``kept`` (m,) are indices into ``codes``, ``weights`` (m,) their denoised counts. Points ``outside`` (j, p) of
    the grid's box, with ``outside_weights`` (j,), stand for rows in coarse cells around it.
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
    and spreads, unit coordinates squared.
    """

    split: Codes
    dropped: Codes
    gains: Array
    costs: Array
