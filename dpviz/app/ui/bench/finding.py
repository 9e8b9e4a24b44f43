"""The one headline over the picture: what ε keeps, by the window or the curve, and by the run that is shown.

A run that is shown comes first: nothing is said over a picture that the picture denies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from dpviz.app.charts.meaning import compute_losses
from dpviz.core import Array
from dpviz.runs import CURVE_EPSILONS, Belief, CurvePoint, Target, Verdict, find_reached_loss, format_epsilon, windows
from dpviz.words import capitalize_first, format_percent, format_ratio, render

LOWEST, HIGHEST = 0.01, 35.0
"""Of ε on the axis."""


class Side(NamedTuple):
    """Losses at one ε of a release, over that of k-means++: the middle half, and what the wanted share keep to."""

    epsilon: float
    low: float
    high: float
    reached: float


@dataclass(frozen=True)
class Sides:
    """The two sides of ε of a whole release: which loss it keeps, by runs ``of`` some tables, and which risk.

    While not every ε has been tried they are ``partial``: a smaller one may be enough.
    """

    of: str
    least: float
    target: Target
    risk: windows.Risk
    losses: tuple[Side, ...]
    openings: tuple[windows.Opening, ...] = ()
    partial: bool = False

    @property
    def is_made_up(self) -> bool:
        """Whether the loss is that of made-up tables."""
        return self.of.startswith("made-up")

    @property
    def most(self) -> float:
        """The largest ε that keeps the risk."""
        return self.risk.allow()

    @property
    def is_open(self) -> bool:
        """Whether some ε keeps both."""
        return self.least <= self.most

    @property
    def proposed(self) -> float:
        """Where the handle begins: in the middle of the window, else at what is allowed."""
        rounded = float(f"{(self.least * self.most) ** 0.5:.2g}") if self.is_open else self.most
        # Two digits may lie outside of a narrow window.
        within = self.least <= rounded <= self.most
        return min(HIGHEST, max(LOWEST, rounded if within else float(format_epsilon(self.most))))

    def belief(self, epsilon: float) -> float:
        """The most that a guess can become."""
        return Belief.bound(self.risk.prior, epsilon=epsilon).most

    @classmethod
    def of_window(cls, window: windows.Window) -> Sides:
        """Those of made-up tables, before anything is spent."""
        losses = tuple(Side(*map(float, line)) for line in compute_losses(window, window.setting.n or 0).to_numpy())
        of = f"made-up tables of {window.setting.n:,} rows"
        return cls(of, window.least, window.target, window.risk, losses, window.openings)

    @classmethod
    def of_curve(cls, points: Sequence[CurvePoint], target: Target, risk: windows.Risk, *, share: float) -> Sides:
        """Those of runs on a table that anybody may see, of which a release spends ``share`` on centres."""
        tried = {point.epsilon / share: np.array(point.losses) for point in points}
        losses = tuple(_summarize(epsilon, tried[epsilon], target.share) for epsilon in sorted(tried))
        least, partial = target.find_least(tried) if tried else inf, len(tried) < len(CURVE_EPSILONS)
        return cls("draws on these rows", least, target, risk, losses, partial=partial)


def _summarize(epsilon: float, losses: Array, share: float) -> Side:
    low, high = np.quantile(losses, [0.25, 0.75])
    return Side(epsilon, float(low), float(high), find_reached_loss(losses, share))


@dataclass(frozen=True)
class Shown:
    """What the picture is of: how a run ended, and its ``loss`` over that of k-means++ where it is shown.

    Or why there is none: it ``broke`` off, or was refused (``refusal``). Its ``epsilon`` may be a ``part`` of that of a
    release, which is said; 0: it is the same.
    """

    verdict: Verdict | None = None
    loss: float | None = None
    is_made_up: bool = False
    is_private: bool = True
    broke: str = ""
    refusal: str = ""
    epsilon: float = 0.0
    part: str = ""


class Heading(NamedTuple):
    """The headline, and why: a line of the run, and one of what is known without it."""

    title: str
    why: str


NO_DRAWS = "No ε is advised yet: that takes draws on these rows, and k-means++ beside them."
BEING_DRAWN = "Draws on these rows are being made: they will tell which ε keeps both promises."
NO_ROWS = "No ε is advised: that takes a number of rows."
NO_STUDY = "No ε is advised: the stored study has no runs of this algorithm, as it is set, on such tables."


def judge(epsilon: float, sides: Sides | None, shown: Shown | None, *, unadvised: str = NO_DRAWS) -> Heading:
    """What is kept at ``epsilon``: by the run ``shown``, then by two whole sides, or why not (``unadvised``)."""
    sides = None if sides is not None and sides.partial else sides
    ways = {"ratio": format_ratio, "percent": format_percent, "write": format_epsilon, "capitalize": capitalize_first}
    limits = {"inf": inf, "highest": CURVE_EPSILONS[-1]}
    told = render("headline.txt.j2", epsilon=epsilon, sides=sides, shown=shown, unadvised=unadvised, **limits, **ways)
    title, _, why = told.strip().partition("\n")
    return Heading(title, why)
