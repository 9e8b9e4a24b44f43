"""What a finished run or a release is worth, by released and public values alone: the rules behind its title.

A title that only says what went well is false of a run that failed. So each way in which a run ends badly has a rule,
and the first that holds is told. How often each is right, and what it misses: ``python -m benchmarks.titles``, on
tables apart from those that the thresholds were chosen on.

**Guarantee.** Post-processing of released values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from dpviz.algorithms import CentersStep, LossDiagnostic, Step, size_estimates
from dpviz.core import Array, Flags, Region
from dpviz.words import format_percent, render

Kind = Literal["refused", "dropped", "failed", "edge", "sizes", "noise", "one", "doubted", "fine"]

_TINY = 1e-12


# Where a run counts as failed, chosen with `python -m benchmarks.titles --tuning --first 1000` on the tuning families
# of `benchmarks/families.py`; without `--tuning` it counts false alarms and misses on those that judge.
AT_EDGE = 0.005  # a coordinate is at the edge within this part of the width of its bounds
LIKE_ONE = 0.9  # from this part of the loss of one centre on, more centres do no better
_HALF_WAY = 0.5  # noise that goes farther than this part of the way to the next centre takes it there
_MOST = 0.5  # a run shows noise where so many of its centres are carried off, or at the edge
_EDGED = 0.5  # a centre is at the edge with so many of its own coordinates
_EDGES = 0.1  # so many coordinates of all at the edge are more than chance brings there
_READ = 0.5  # the rows that were read are too few below this part of those that were declared
_LOST = 1.5  # over that of k-means++: where the loss is known and less, noise did no harm


class Evidence(NamedTuple):
    """What released values say of each centre.

    ``sizes``, noisy rows of each, where there are any; ``errors`` (k,), how far noise may move each centre, unit
    coordinates: the root mean square over the least size that is plausible, some twice what it does as a rule; as far
    as the region is wide where that is nobody; ``gaps`` (k,), distance to the next centre; infinite for a lone one;
    ``edge`` (k, d), which coordinates lie at the edge of the bounds.
    """

    sizes: size_estimates.Sizes | None
    errors: Array | None
    gaps: Array
    edge: Flags

    @property
    def unclear(self) -> Flags:
        """Which sizes may be noise alone, shape (k,)."""
        return np.zeros(len(self.gaps), dtype=np.bool_) if self.sizes is None else self.sizes.unclear

    @property
    def lost(self) -> Flags:
        """Which centres noise may carry to the next one, shape (k,)."""
        if self.errors is None:
            return np.zeros(len(self.gaps), dtype=np.bool_)
        return self.errors > _HALF_WAY * self.gaps


@dataclass(frozen=True)
class Verdict:
    """How a run ended: the rule that holds, its title as a clause, and the numbers of its test in a sentence.

    ``error`` is how far noise may move a typical centre, unit coordinates; None where nobody can tell.
    """

    kind: Kind
    title: str
    reason: str
    error: float | None = None

    @property
    def fine(self) -> bool:
        """Whether nothing that was released speaks against it."""
        return self.kind == "fine"

    def beside(self, loss: float | None) -> Verdict:
        """What of it stands where its ``loss`` over that of k-means++ is known, or is not (None).

        What may be noise is of no account to whoever sees that it is none.

        >>> Verdict("sizes", "2 of 5 sizes may be noise alone", "They are small.").beside(1.01).fine
        True
        """
        told: tuple[Kind, ...] = ("refused", "dropped")
        if loss is None or self.kind in told or (loss >= _LOST and self.kind in ("failed", "edge")):
            return self
        return Verdict("fine", "", "", self.error)

    @property
    def words(self) -> str:
        """The same in sentences.

        >>> Verdict("sizes", "2 of 5 sizes may be noise alone", "They are small.").words
        '2 of 5 sizes may be noise alone. They are small.'
        """
        return f"{self.title}. {self.reason}"


def collect_evidence(
    steps: Sequence[Step], region: Region, sizes: size_estimates.Sizes | None = None
) -> Evidence | None:
    """What the ``steps`` of a run say of its centres; None where they end without any.

    Parameters
    ----------
    steps : sequence of Step
        All of the run.
    region : Region
    sizes : Sizes, optional
        Of the run; what its last steps say of them where nothing is given.

    Returns
    -------
    Evidence or None
        Released and public values alone.
    """
    last = steps[-1] if steps else None
    if not isinstance(last, CentersStep):
        return None
    sizes = size_estimates.estimate_sizes(steps) if sizes is None else sizes
    edge = np.abs(last.centers) >= (1 - 2 * AT_EDGE) * np.maximum(region.half, _TINY)
    if region.radius < (1 - 1e-9) * np.linalg.norm(region.half):
        edge |= (np.linalg.norm(last.centers, axis=1) >= (1 - 2 * AT_EDGE) * region.radius)[:, None]
    gaps = size_estimates.measure_neighbour_gaps(last.centers)
    return Evidence(sizes, _estimate_errors(last, sizes, region), gaps, edge)


def _estimate_errors(last: CentersStep, sizes: size_estimates.Sizes | None, region: Region) -> Array | None:
    if last.center_noise_sd is None:
        return None
    length = last.center_noise_sd * sqrt(last.centers.shape[1])
    if sizes is not None:
        length = sizes.widen(length)
    moved = np.zeros(len(length))
    # Of a solver the centres before are where it started.
    if last.previous is not None and last.count_noise_sd is not None and last.previous.shape == last.centers.shape:
        moved = np.linalg.norm(last.centers - region.settle_points(last.previous), axis=1)
    # What is no number could be anything.
    far: Array = np.nan_to_num(np.hypot(length, moved), nan=region.diameter)
    return np.minimum(far, region.diameter)


def reach_verdict(
    steps: Sequence[Step],
    region: Region,
    *,
    sizes: size_estimates.Sizes | None = None,
    n_declared: int | None = None,
    loss_diagnostic: LossDiagnostic | None = None,
) -> Verdict | None:
    """The first rule that holds of a finished run in its ``region``; None where it ends without released centres."""
    seen = collect_evidence(steps, region, sizes)
    if seen is None:
        return None
    last = steps[-1]
    assert isinstance(last, CentersStep)
    if not all(getattr(step, "passed", True) for step in steps):  # what stands for an answer knows no data
        return _word("refused", last=last)
    if last.public:
        return None
    error = None
    if seen.errors is not None and seen.sizes is not None and last.count_noise_sd is not None:
        error = float(np.median(seen.errors))
    loss = None
    if loss_diagnostic is not None:
        loss = LossShare(loss_diagnostic.share, f"the loss is {100 * min(loss_diagnostic.share, 1):.2g} % of")
    first = _judge_dropped(seen, n_declared) or judge_centers(seen, loss, judges_itself=loss_diagnostic is not None)
    if first is not None:
        return first
    if loss_diagnostic is not None and loss_diagnostic.doubts:
        return Verdict("doubted", "released values speak against this run", " ".join(loss_diagnostic.doubts), error)
    return Verdict("fine", "", "", error)


class LossShare(NamedTuple):
    """What is known of the loss beside that of one centre: its ``share``, and that in words."""

    share: float
    words: str


def judge_centers(
    seen: Evidence, loss: LossShare | None = None, *, judges_itself: bool = False, what: str = "run"
) -> Verdict | None:
    """The first rule that holds of released centres, the worst first; None where nothing speaks against them.

    ``judges_itself``: something else than noise on centres tells how good they are. A title speaks of ``what``.
    """
    k, edged = len(seen.gaps), seen.edge.mean(axis=1) >= _EDGED
    carried = np.zeros(k, dtype=np.bool_) if k < 2 or seen.errors is None else seen.errors >= seen.gaps
    # A run that judges itself has its centres from elsewhere than its last round: small sizes alone do not spoil them.
    # There coordinates at the edge of the bounds tell that noise placed them.
    rules: dict[Kind, bool] = {
        "failed": bool(carried.mean() >= _MOST and (not judges_itself or seen.edge.mean() > _EDGES)),
        "edge": bool(edged.mean() >= _MOST),
        "sizes": bool(seen.unclear.any()),
        "noise": bool(k > 1 and seen.lost.any()),
        "one": loss is not None and loss.share >= LIKE_ONE and k > 1,
    }
    kind = next((kind for kind, holds in rules.items() if holds), None)
    if kind is None:
        return None
    said = {"what": what, "carried": carried, "edged": edged, "loss": loss}
    return _word(kind, seen=seen, k=k, CLEAR=size_estimates.CLEAR, **said)


def _word(kind: Kind, **said: Any) -> Verdict:
    title, reason = render("verdict_of_centers.txt.j2", kind=kind, **said).splitlines()
    return Verdict(kind, title, reason)


def _judge_dropped(seen: Evidence, n_declared: int | None) -> Verdict | None:
    """Far fewer rows were read than declared."""
    if not n_declared or seen.sizes is None:
        return None
    read = size_estimates.Sizes.publish(*seen.sizes.total)
    if not read.high[0] < _READ * n_declared:
        return None
    part = format_percent(float(read.rows[0]) / n_declared)
    return _word("dropped", part=part, rows=read.words[0], declared=n_declared)
