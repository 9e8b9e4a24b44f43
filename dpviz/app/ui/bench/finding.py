"""The one headline over the picture: what ε keeps, by the window or the curve, and by the run that is shown.

A run that is shown comes first: nothing is said over a picture that the picture denies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from dpviz.app.charts.meaning import compute_losses
from dpviz.core import Array
from dpviz.runs import Belief, CurvePoint, Target, Verdict, find_reached_loss, format_epsilon, windows
from dpviz.words import capitalize_first, format_percent, format_ratio

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
    """The two sides of ε of a whole release: which loss it keeps, by runs ``of`` some tables, and which risk."""

    of: str
    least: float
    target: Target
    risk: windows.Risk
    losses: tuple[Side, ...]
    openings: tuple[windows.Opening, ...] = ()

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
        return cls("draws on these rows", target.find_least(tried) if tried else inf, target, risk, losses)


def _summarize(epsilon: float, losses: Array, share: float) -> Side:
    low, high = np.quantile(losses, [0.25, 0.75])
    return Side(epsilon, float(low), float(high), find_reached_loss(losses, share))


@dataclass(frozen=True)
class Shown:
    """What the picture is of: how a run at this ε ended, and its ``loss`` over that of k-means++ where it is shown.

    Or why there is none: it ``broke`` off, or was refused (``refusal``).
    """

    verdict: Verdict | None = None
    loss: float | None = None
    is_made_up: bool = False
    is_private: bool = True
    broke: str = ""
    refusal: str = ""


class Heading(NamedTuple):
    """The headline, and why: a line of the run, and one of what is known without it."""

    title: str
    why: str


NO_DRAWS = "No ε is advised yet: that takes draws on these rows, and k-means++ beside them."
BEING_DRAWN = "Draws on these rows are being made: they will tell which ε keeps both promises."
NO_ROWS = "No ε is advised: that takes a number of rows."
NO_STUDY = "No ε is advised: the stored study has no runs of this algorithm, as it is set, on such tables."


def judge(epsilon: float, sides: Sides | None, shown: Shown | None, *, unadvised: str = NO_DRAWS) -> Heading:
    """What is kept at ``epsilon``: by the run that is ``shown`` first, then by the two sides.

    Without these it says why they are not there (``unadvised``).

    "Both promises are kept" stands over no run that failed, that is looser than accepted, or that noise alone may have
    made; and no loss is called too large over a run that keeps it.
    """
    at = f"At ε = {epsilon:g}"
    why = unadvised if sides is None else _explain(sides)
    if shown is not None and shown.refusal:
        return Heading("This cannot run", shown.refusal)
    if shown is not None and shown.broke:
        return Heading(f"The run broke off ({shown.broke})", "Nothing of it is shown. Run it again, or change a word.")
    if shown is not None and not shown.is_private:
        return Heading("k-means++, without any privacy", "It reads the rows as they are: it is never a release.")
    if shown is not None and shown.verdict is not None and not shown.verdict.fine:
        rows = " of made-up rows" if shown.is_made_up else ""
        tight = shown.loss is not None and sides is not None and shown.loss <= sides.target.loss
        loose = shown.loss is not None and sides is not None and not tight and not shown.is_made_up
        but = "the groups are tight, but " if tight else "this draw is loose, and " if loose else ""
        but = but if shown.verdict.kind in _ABOUT_SIZES else ""
        said = "" if shown.loss is None or shown.is_made_up else _say_loss(shown.loss, why)
        reason = f"{capitalize_first(shown.verdict.reason)}\n{said or why}".strip()
        return Heading(f"{at}{rows}: {but}{shown.verdict.title}", reason)
    if shown is None and sides is None:
        return Heading(f"{at} nothing is shown yet", why)
    safe = sides is None or epsilon <= sides.most * (1 + 1e-9)
    often = None if sides is None else epsilon >= sides.least * (1 - 1e-9)
    loss = None if shown is None or shown.is_made_up else shown.loss
    return Heading(f"{at} {_say_both(loss, often, safe, sides)}", _say_loss(loss, why))


def _say_both(loss: float | None, often: bool | None, safe: bool, sides: Sides | None) -> str:
    if sides is None:
        return "this is what would leave" if loss is None else f"this draw has {format_ratio(loss)} the least loss"
    kept = often if loss is None else loss <= sides.target.loss
    if kept and not often:
        return "this draw is tight, most are not" if safe else "this draw is tight, and a guess can grow too sure"
    if often and not kept:
        return "this draw is loose, most are not" if safe else "this draw is loose, and a guess can grow too sure"
    if kept:
        return "both promises are kept" if safe else "a guess about a person can grow too sure"
    return "noise is too large for these groups" if safe else "neither promise is kept"


def _say_loss(loss: float | None, why: str) -> str:
    said = "" if loss is None else f"This draw has {format_ratio(loss)} the loss of k-means++."
    return f"{said}\n{why}".strip()


# What speaks against sizes, and not against where centres lie.
_ABOUT_SIZES = ("sizes", "doubted")
_HELP = 2  # of what would open a window


def _explain(sides: Sides) -> str:
    """Both sides in a sentence, and what would open a window where there is none."""
    least, most = format_epsilon(sides.least, up=True), format_epsilon(sides.most)
    often = f"{sides.target.describe_often(sides.of)} are at most {sides.target.above} looser than without privacy"
    risk = f"nobody’s guess grows past {format_percent(sides.risk.accepted)}"
    if sides.is_open:
        return f"From ε = {least} on {often}; up to {most} {risk}."
    needed = f"the groups need ε = {least}" if isfinite(sides.least) else "no ε keeps the groups that tight"
    opens = "; ".join(f"{what.lower()}: {words}" for what, words in sides.openings[:_HELP])
    return f"No ε keeps both: {needed}, and up to {most} {risk}." + (f" What would help: {opens}." if opens else "")
