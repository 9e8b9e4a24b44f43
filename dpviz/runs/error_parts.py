"""Where the error comes from: what quantising, noise and the solver each add to the loss of k-means++, and clipping.

Each part but clipping is measured by switching its cause off: the private run is repeated with the same public coins
and no noise, and both releases are solved anew from many starts. All of these, and k-means++, are judged on the rows
as the bounds leave them. Clipping, how far the bounds move the rows, is the same for every algorithm: a part of its own
beside the bars. Nothing here is a release: all losses are read from revealed rows, and a run without noise never leaves
this module.

Who pays is the same question by whom instead of by what: a mean over all rows hides that small groups pay most, for
noise is the same for all and a small group has fewer rows to average it over. It is told of public and made-up tables
only."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np

from dpviz.algorithms import synopsis_reading
from dpviz.core import Array, ArrayShape, Codes, Region, RequestError, StudyNoise, is_sparse
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.evaluation import Reference, assign, find_recovered_clusters, match, nicv
from dpviz.runs.one_run import Run, run_request
from dpviz.runs.profiles import make_profile
from dpviz.runs.request import Contender, Request
from dpviz.runs.run_sentences import SENTENCES
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.study import Yardstick, measure_yardstick
from dpviz.runs.worker import Progress


class _Quiet(StudyNoise):
    """Noise that is switched off; whatever samples or shuffles rows stays random."""

    def normal(self, sd: float, shape: ArrayShape) -> Array:
        return np.zeros(shape)

    def laplace(self, scale: float, shape: ArrayShape) -> Array:
        return np.zeros(shape)

    gumbel = cauchy = spherical = laplace

    def exponential(self, scale: float, shape: ArrayShape) -> Array:
        """The median: a cell then wakes exactly if its true count is above the threshold."""
        return np.full(shape, np.log(2) * scale)

    def binomial(self, trials: int, probability: float) -> int:
        """No cell wakes by chance."""
        return 0


class ErrorPart(NamedTuple):
    """One bar: what it adds to the loss, the quartiles of that over single runs, and what was switched off."""

    name: str
    value: float
    q25: float
    q75: float
    about: str


@dataclass(frozen=True)
class ErrorParts:
    """Bars that lead from the loss of k-means++ to the median private one and add up exactly; losses per clipped row.

    ``clip`` is what the bounds cost beside all of these; None where that is not to be told.
    """

    kmeans: float
    private: float
    parts: tuple[ErrorPart, ...]
    clip: ErrorPart | None
    runs: int
    quantised: bool


def explain_refusal(contender: Contender, k: int) -> str | None:
    """Why the error of an algorithm cannot be taken apart, as a sentence; None if it can."""
    card = contender.card
    if not card.private:
        return f"{card.title} adds no noise: there is nothing to take apart."
    if contender.settings.points_per_row(k) > 1:
        return f"{card.title} reads {k} points from each row, and a study judges centres of rows."
    return SENTENCES.fill("local", who=card.title) if card.local else None


def measure_error_rows(judged: JudgedTable, grid: StudyGrid) -> Iterator[Progress | Yardstick | dict[str, float]]:
    """Progress, the ``Yardstick``, and the losses of each repeat on rows that whoever calls has revealed knowingly.

    "private"; "quiet", the same run without noise; "solved" and "quiet_solved", the best of many starts on what either
    released, NaN for an algorithm that reads rows again after its synopsis, or has none. ``grid`` has one point.
    """
    (contender,), (k,) = grid.contenders, grid.ks
    refusal = explain_refusal(contender, k)
    if refusal is not None:
        raise RequestError(refusal)
    yield from _measure_runs(judged, grid, lambda request, _: _measure_losses(judged, request))


def _measure_runs(
    judged: JudgedTable, grid: StudyGrid, measure: Callable[[Request, Yardstick], dict[str, Any]]
) -> Iterator[Progress | Yardstick | dict[str, Any]]:
    """Progress, the yardstick of a grid of one point, and what is to ``measure`` of each of its repeats."""
    (contender,), (k,), repeats = grid.contenders, grid.ks, grid.repeats
    yield Progress(0, repeats + 1, f"k-means++ with k = {k}")
    against = measure_yardstick(judged, k)
    yield against
    for trial in grid.list_trials():
        yield Progress(trial.repeat + 1, repeats + 1, f"{contender.label}, run {trial.repeat + 1} of {repeats}")
        yield {"repeat": trial.repeat} | measure(grid.make_request(trial), against)
    yield Progress(repeats + 1, repeats + 1, "done")


def compute_error_parts(stick: Yardstick, rows: Sequence[Mapping[str, Any]]) -> ErrorParts:
    """Bars from the median losses over ``rows`` of ``measure_error_rows``, at least one; the interaction is what is
    left over.

    With a synopsis, noise and solver are each switched off in the private run, and their interaction is what they do
    together beyond that. Without one, noise enters every step: the solver is judged without it, and nothing is left.
    """
    private, quiet, solved, quiet_solved = (np.array([float(row[name]) for row in rows]) for name in _LOSSES)
    quantised = not np.isnan([solved, quiet_solved]).any()
    best = stick.reference.nicv
    kmeans = np.full(len(rows), best)
    noise = _make_part("noise", private, quiet, "the private run against the same run without noise")
    if quantised:
        about = "the best of many starts on the synopsis without noise, against the rows"
        quantise = _make_part("quantise", quiet_solved, kmeans, about)
        own = "the private run against the best of many starts on its own release"
        solver = _make_part("solver", private, solved, own)
    else:
        about = "0: the rows are read to the end, not a synopsis in their place"
        quantise = ErrorPart("quantise", 0.0, 0.0, 0.0, about)
        solver = _make_part("solver", quiet, kmeans, "the run without noise against k-means++ on the same clipped rows")
    moved = f"how far the bounds move the rows, squared: {100 * stick.moved_share:.3g} % of them lie outside"
    clip = ErrorPart("clip", stick.clipping, stick.clipping, stick.clipping, moved)
    total = float(np.median(private)) - best
    rest = total - sum(part.value for part in (quantise, noise, solver))
    rest = 0.0 if abs(rest) <= 1e-12 * max(abs(total), best) else rest
    together = "what noise and solver do together beyond what each does alone" if quantised else "0: measured in turn"
    parts = (quantise, noise, solver, ErrorPart("interaction", rest, rest, rest, together))
    return ErrorParts(best, float(np.median(private)), parts, clip, len(rows), quantised)


_LOSSES = ("private", "quiet", "solved", "quiet_solved")


def _make_part(name: str, on: Array, off: Array, about: str) -> ErrorPart:
    low, high = np.percentile(on - off, (25, 75))
    return ErrorPart(name, float(np.median(on) - np.median(off)), float(low), float(high), about)


def _measure_losses(judged: JudgedTable, request: Request) -> dict[str, float]:
    """Losses of one private run and of its three relatives."""
    table, points = judged.private, judged.rows.points
    region = table.domain.region
    private = run_request(request, table)
    quiet = run_request(request, table, noise=_Quiet(np.random.default_rng(request.seed)))
    solved = (_solve_synopsis(private, region, exact=False), _solve_synopsis(quiet, region, exact=True))
    losses = [nicv(points, finished.unit_centers) for finished in (private, quiet)]
    losses += [nan if centers is None else nicv(points, centers) for centers in solved]
    return dict(zip(_LOSSES, losses, strict=True))


def _solve_synopsis(finished: Run, region: Region, *, exact: bool) -> Array | None:
    """The best of many starts on the synopsis that ended the reading of rows; None if rows were read after it."""
    last = next((f.step for f in finished.frames if f.entries == len(finished.entries) and f.entries), None)
    return None if last is None else synopsis_reading.solve_anew(last, finished.k, region, exact=exact)


# A cluster is shown at an ε where it is found in so many draws of all.
_SHOWN = 0.8


class Payer(NamedTuple):
    """A cluster of k-means++, or a declared group, and what a draw costs it in the median."""

    kind: str
    name: str
    rows: int
    loss: float
    missed: float
    size_error: float


@dataclass(frozen=True)
class WhoPays:
    """Every payer, the smallest first, and the smallest group that an ε can show."""

    payers: tuple[Payer, ...]
    smallest: float
    draws: int

    @property
    def clusters(self) -> tuple[Payer, ...]:
        """Those that are clusters."""
        return tuple(one for one in self.payers if one.kind == "cluster")

    @property
    def smallest_shown(self) -> int | None:
        """Rows of the smallest cluster that is found in eight of ten draws, as are all larger ones; None if none is."""
        shown = None
        for one in reversed(self.clusters):
            if 1 - one.missed < _SHOWN:
                break
            shown = one.rows
        return shown


def measure_payer_rows(judged: JudgedTable, grid: StudyGrid) -> Iterator[Progress | Yardstick | dict[str, Any]]:
    """Progress, the ``Yardstick``, and for each draw what it costs every cluster and every known group.

    ``grid`` has one point. Losses are read from revealed rows: whoever calls has revealed them knowingly.
    """
    (contender,), (k,) = grid.contenders, grid.ks
    if contender.settings.points_per_row(k) > 1 or is_sparse(judged.rows.points):
        raise RequestError("Who pays is told of tables whose rows are points, each number in its column.")
    yield from _measure_runs(judged, grid, lambda request, stick: _measure_paid(judged, stick.reference, request))


def _measure_paid(judged: JudgedTable, reference: Reference, request: Request) -> dict[str, Any]:
    run = run_request(request, judged.private)
    points, centers = judged.rows.points, run.unit_centers
    cluster = assign(points, reference.centers)
    losses, usual = _measure_row_losses(points, centers), _measure_row_losses(points, reference.centers)
    found = find_recovered_clusters(points, centers, reference.centers)
    rows = np.bincount(cluster, minlength=len(reference.centers))
    made = make_profile(run)
    sizes = np.full(len(rows), nan)
    if made.sizes is not None and len(centers) == len(rows):
        sizes = np.abs(made.sizes.rows[match(reference.centers, centers)] - rows) / np.maximum(rows, 1)
    paid = {
        "cluster_rows": rows.tolist(),
        "cluster_loss": _compute_ratios(losses, usual, cluster, len(rows)).tolist(),
        "cluster_missed": (~found).astype(float).tolist(),
        "cluster_size_error": sizes.tolist(),
        "smallest": made.smallest_group,
    }
    if judged.labels is None:
        return paid
    names, group = np.unique(judged.labels, return_inverse=True)
    many = np.bincount(group, minlength=len(names))
    missed = np.bincount(group, (~found)[cluster].astype(float), len(names)) / np.maximum(many, 1)
    return paid | {
        "group_names": [str(name) for name in names.tolist()],
        "group_rows": many.tolist(),
        "group_loss": _compute_ratios(losses, usual, group, len(names)).tolist(),
        "group_missed": missed.tolist(),
    }


def _measure_row_losses(points: Array, centers: Array) -> Array:
    """Squared distance of each row to its nearest centre, shape (n,)."""
    squared: Array = ((points - centers[assign(points, centers)]) ** 2).sum(axis=1)
    return squared


def _compute_ratios(losses: Array, usual: Array, of: Codes, number: int) -> Array:
    """Loss of each group over its loss by k-means++, shape (number,); NaN where it has none."""
    mine, theirs = (np.bincount(of, each, number) for each in (losses, usual))
    return np.where(theirs > 0, mine / np.where(theirs > 0, theirs, 1.0), nan)


def summarise_payers(rows: Sequence[dict[str, Any]]) -> WhoPays:
    """Medians over draws, the smallest payer first."""
    payers = _list_payers(rows, "cluster", [str(place + 1) for place in range(len(rows[0]["cluster_rows"]))])
    if "group_rows" in rows[0]:
        payers += _list_payers(rows, "group", rows[0]["group_names"])
    smallest = np.array([row["smallest"] for row in rows], dtype=np.float64)
    typical = float(np.median(smallest)) if np.isfinite(smallest).all() else nan
    return WhoPays(tuple(sorted(payers, key=lambda one: one.rows)), typical, len(rows))


def _list_payers(rows: Sequence[dict[str, Any]], kind: str, names: Sequence[str]) -> list[Payer]:
    loss, missed = (np.array([row[f"{kind}_{name}"] for row in rows], dtype=np.float64) for name in ("loss", "missed"))
    off = np.array([row.get(f"{kind}_size_error", [nan] * len(names)) for row in rows], dtype=np.float64)
    return [
        Payer(
            kind, name, many, *(float(each[place]) for each in (np.median(loss, 0), missed.mean(0), np.median(off, 0)))
        )
        for place, (name, many) in enumerate(zip(names, rows[0][f"{kind}_rows"], strict=True))
        if many
    ]
