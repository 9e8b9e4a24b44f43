"""One figure of every kind, from real runs where there is an algorithm for it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms import MixtureStep, PoolStep, ReferenceStep, SeedStep, SplitStep, StartsStep, TupleTestStep
from dpviz.algorithms.auto.auto_plan import Cells, ProjectionStage, StagePart, Zoom
from dpviz.algorithms.auto.private_projection import ProjectionStep, project_privately
from dpviz.algorithms.auto.view_synopsis import SynopsisStep, release_flat_synopsis
from dpviz.algorithms.auto.zooming import ZoomStep, zoom
from dpviz.algorithms.balcan2017.balcan import CandidatesStep, SwapStep, TreeStep
from dpviz.algorithms.steps import CentersStep, GridStep, Step
from dpviz.app.charts.canvas import RevealedView, TitledPlot
from dpviz.app.charts.picture import Chart, RenderContext
from dpviz.app.charts.registry import draw_picture, list_companions
from dpviz.app.charts.view import View, make_view
from dpviz.core import Accounting, Domain, PrivateSession, PrivateTable, Region, Scaling, StudyNoise
from dpviz.core.mechanisms import NoisyThreshold, SparseLaplace
from dpviz.core.partitions import CubeTree, Grid
from dpviz.core.queries import Count, SparseCount
from dpviz.runs import clip_rows, run
from dpviz.runs.evaluation import Reference, find_reference
from dpviz.words import choose_palette
from tests.proof.kept import hash_bytes

NAMES = ("longitude", "latitude", "age", "income", "hours", "height")


@dataclass(frozen=True)
class Exhibit:
    """A table with everything that its figures are made of."""

    table: PrivateTable
    reveal: RevealedView
    reference: Reference
    k: int


# For drawings that have no plane.
ANYWHERE = make_view(Domain.of(["a", "b"], 0.0, 1.0))


def look(view: View = ANYWHERE, theme: str = "light", **context: Any) -> RenderContext:
    """A context with only this in it."""
    return RenderContext(view, choose_palette(theme), **context)


def draw(of: Step | Callable[[RenderContext], Chart], **context: Any) -> go.Figure:
    """The figure of a step, or of what stands beside one."""
    looked = look(**context)
    chart = of(looked) if callable(of) else draw_picture(of, looked)
    return chart.draw().headed(looked.palette)


def beside(steps: Sequence[Step], place: int = 0, **context: Any) -> dict[str, Chart]:
    """What can stand beside a step of a run, by name."""
    return dict(list_companions(steps[place], steps, look(**context)))


def tell(drawn: TitledPlot, words: str = "", table: pd.DataFrame | None = None) -> str:
    """What a chart says and draws, to be stored: its words, a line for each trace, and a hash of all numbers."""
    behind = pd.DataFrame() if table is None else table
    # In the order of the alphabet: the browser reads settings in any.
    numbers = json.dumps(drawn.plot.to_data(), sort_keys=True) + behind.to_csv()
    notes = [note["text"] for note in drawn.plot.layout.get("annotations", ())]
    rows = behind.head(3).to_csv(index=False, float_format="%.4g").splitlines() if len(behind.columns) else []
    return "\n".join(
        [
            *("title: " + drawn.title, "note: " + drawn.subtitle.strip(), "words: " + words),
            *(f"  {_tell_trace(trace)}" for trace in drawn.plot.traces),
            *(f"  at a place: {note}" for note in notes[:12]),
            *(f"  in the table: {row}" for row in rows),
            f"  drawn: {hash_bytes(numbers.encode())}",
        ]
    )


def _tell_trace(trace: Mapping[str, Any]) -> str:
    ends = []
    for axis in ("x", "y"):
        values = np.asarray(trace.get(axis, ()), dtype=object)
        numbers = [float(value) for value in values.ravel() if isinstance(value, int | float | np.number)]
        finite = [number for number in numbers if np.isfinite(number)]
        ends.append(f"{len(values)} {axis}" + (f" {min(finite):.4g} to {max(finite):.4g}" if finite else ""))
    return f"{trace['type']} {trace.get('name', '')} ({trace.get('meta', '')}): {', '.join(ends)}"


def exhibit(dim: int, k: int, *, n: int = 4000, scaling: str = "unit", seed: int = 3) -> Exhibit:
    """``n`` rows around ``k`` centres in a domain with unlike bounds."""
    rng = np.random.default_rng(seed)
    places = np.arange(1, dim + 1)
    domain = Domain.of([*NAMES, *(f"x{j}" for j in range(dim))][:dim], 100.0 * places, 150.0 * places, scaling=scaling)
    centers = rng.uniform(-0.8, 0.8, (k, dim)) * domain.region.half
    rows = centers[rng.integers(0, k, n)] + rng.normal(0, 0.06, (n, dim)) * domain.region.half
    table = PrivateTable(domain.from_unit(rows), domain, n_public=n)
    revealed = clip_rows(table.reveal(note="charts are tested on made-up rows"), table.domain.region)
    return Exhibit(table, RevealedView.of(revealed.points, "made up"), find_reference(revealed, k), k)


def open_session(table: PrivateTable, epsilon: float = 1.0) -> PrivateSession:
    """A session with seeded noise."""
    noise = StudyNoise(np.random.default_rng(1))
    return table.open(epsilon=epsilon, delta=0.0, accounting=Accounting.PURE, noise=noise)


def grid_step(shown: Exhibit, cells_per_axis: int) -> GridStep:
    """A dense noisy histogram."""
    session = open_session(shown.table)
    grid = Grid.over(session.region, cells_per_axis)
    noisy = session.release(Count(grid), session.budget, note="grid")
    codes = np.arange(grid.n_cells)
    return GridStep(title="Noisy grid", grid=grid, codes=codes, noisy_counts=noisy.value, sd=float(noisy.sd))


def sparse_grid_step(shown: Exhibit, cells_per_axis: int) -> GridStep:
    """A histogram of which only the cells beyond a cutoff are known."""
    session = open_session(shown.table)
    grid = Grid.over(session.region, cells_per_axis)
    listed = session.ask(SparseCount(grid), SparseLaplace, session.budget, note="grid", cutoff_in_scales=6.0).value
    return GridStep(
        **{"title": "Noisy grid, cells beyond the cutoff", "grid": grid, "codes": listed.codes},
        **{"noisy_counts": listed.values, "sd": 2**0.5, "cutoff": 6.0},
    )


def starts_step(k: int = 5) -> StartsStep:
    """Thirty starts of unlike quality."""
    rng = np.random.default_rng(0)
    losses = 300 + 60 * rng.gamma(2.0, 1.0, 30)
    chosen = {"chosen": int(losses.argmin()), "centers": np.zeros((k, 2))}
    return StartsStep(title="30 starts on the synopsis", losses=losses, **chosen)


def tree_steps(shown: Exhibit, *, p: int | None = None, depth: int = 5, threshold: float = 25.0) -> list[TreeStep]:
    """A private partition level by level; in ``p`` projected dimensions if asked."""
    session = open_session(shown.table, epsilon=2.0)
    frame = None
    if p is not None:
        basis = np.linalg.qr(np.random.default_rng(5).normal(size=(session.dim, p)))[0]
        frame = basis.T
        session = session.project(frame, Region.ball(p, session.region.radius))
    reach = float(session.region.half.max())
    tree, steps = CubeTree(np.full(session.dim, -1.7 * reach), 4 * reach), []
    for level, share in enumerate(session.budget.rounds(depth), start=1):
        active = session.ask(SparseCount(tree), NoisyThreshold, share, note=f"level {level}", threshold=threshold)
        tree, scale = tree.with_level(active.value), active.mechanism.scale
        steps.append(
            TreeStep(
                **{"title": f"Level {level}", "tree": tree, "region": session.region, "threshold": threshold},
                **{"noise_name": "laplace", "noise_scale": scale, "shift": 1, "frame": frame},
            )
        )
    return steps


def candidates_step(last: TreeStep) -> CandidatesStep:
    """The middles of all cubes, and three points that no row had a say in."""
    levels = range(last.tree.depth + 1)
    points = [last.region.clip(last.tree.centers(level)) for level in levels]
    depths = [np.full(len(found), level) for found, level in zip(points, levels, strict=True)]
    blind = last.region.clip(np.random.default_rng(2).normal(0, 0.3, (3, last.region.dim)))
    return CandidatesStep(
        title="Candidates from the tree",
        candidates=np.concatenate([*points, blind]),
        depths=np.concatenate([*depths, np.full(3, -1)]),
        region=last.region,
        frame=last.frame,
    )


def swap_steps(found: CandidatesStep, k: int, swaps: int = 4) -> list[SwapStep]:
    """Swaps chosen at random, the last of which changes nothing."""
    rng = np.random.default_rng(7)
    chosen = rng.choice(len(found.candidates), k, replace=False)
    steps = []
    for t in range(swaps):
        removed = int(rng.integers(k))
        added = int(rng.integers(len(found.candidates))) if t < swaps - 1 else int(chosen[removed])
        before = found.candidates[chosen]
        chosen = chosen.copy()
        chosen[removed] = added
        steps.append(
            SwapStep(
                **{"title": f"Swap {t + 1} of {swaps}", "candidates": found.candidates, "previous": before},
                **{"centers": found.candidates[chosen], "removed": removed, "added": added},
                **{"region": found.region, "frame": found.frame},
            )
        )
    return steps


COARSE = StagePart("zoom", "zoom", "Laplace", 0.02)


def zoom_step(shown: Exhibit) -> ZoomStep:
    """A coarse histogram, with a box where there is room left around the clusters."""
    session = open_session(shown.table)
    return zoom(session, Zoom(COARSE), {COARSE: session.budget})


def boxed_synopsis(dim: int, *, n: int = 20_000) -> tuple[ZoomStep, SynopsisStep, Domain]:
    """A zoom that finds a box, and a synopsis of it with coarse cells around: most rows lie in one small corner."""
    rng = np.random.default_rng(4)
    domain = Domain.of(NAMES[:dim], -50.0, 150.0)
    rows = rng.normal(-35.0, 3.0, (n, dim))
    rows[: n // 80] = rng.normal(110.0, 2.0, (n // 80, dim))
    session = open_session(PrivateTable(rows, domain, n_public=n))
    grid = StagePart("grid", "grid", "Laplace", 0.98)
    shares = {part: session.budget.fraction(part.weight) for part in (COARSE, grid)}
    zoomed = zoom(session, Zoom(COARSE), shares)
    return zoomed, release_flat_synopsis(session, 3, Cells(None, None, None, grid, trees=True), shares, zoomed), domain


def thin_table(*, n: int = 3000, d: int = 5) -> PrivateTable:
    """Rows over two wide columns, beside which the others are thin; along the second nearly all lie in a small box."""
    rng, half = np.random.default_rng(5), np.r_[100.0, 1000.0, np.full(d - 2, 2.0)]
    rows = rng.uniform(-half, half, (n, d))
    rows[: n - n // 300, 1] = rng.normal(np.repeat([-800.0, -650.0], (n - n // 300) // 2), 20.0)
    return PrivateTable(rows, Domain.of(NAMES[:d], -half, half, scaling=Scaling.COMMON), n_public=n)


def look_step(shown: Exhibit, *, bought: bool = True, epsilon: float = 2.0) -> ProjectionStep:
    """A look at rows, whatever the number of their columns; its axes bought, or from public coins."""
    noise = StudyNoise(np.random.default_rng(6))
    session = shown.table.open(epsilon=epsilon, delta=1e-6, accounting=Accounting.ZCDP, noise=noise)
    middle = StagePart("look", "middle", "Gaussian", 1 / 6 if bought else 1 / 2)
    radii = middle._replace(what="radii", noise="Laplace")
    stage = ProjectionStage(middle, None, middle._replace(what="axes", weight=4 / 6) if bought else None, radii)
    shares = {part: session.budget.fraction(part.weight) for part in stage if part is not None}
    return project_privately(session, stage, shares, min(session.dim, 5), np.random.default_rng(8))


def split_step(shown: Exhibit, *, splits: int = 1) -> SplitStep:
    """Clusters of which some were split, with made-up gains and costs."""
    rng = np.random.default_rng(13)
    region, k = shown.table.domain.region, shown.k
    before = region.clip(rng.uniform(-0.8, 0.8, (k, region.dim)))
    gains, costs = np.sort(rng.gamma(1.0, 2.0, k))[::-1], np.sort(rng.gamma(3.0, 4.0, k))[::-1]
    gains[-1] = 0.0
    costs[k - splits :] /= 100
    split, dropped = np.arange(splits), np.arange(k - splits, k)
    after = before.copy()
    after[dropped] = region.clip(before[split] + 0.1)
    return SplitStep(
        **{"title": f"Spreads before round 7: {splits} split", "centers": after, "previous": before},
        **{"noisy_counts": rng.uniform(50.0, 200.0, k), "count_noise_sd": 3.0, "split": split, "dropped": dropped},
        **{"gains": gains[split], "costs": costs[dropped], "gain_of_each": gains, "cost_of_each": costs},
    )


def tuple_test_step(shown: Exhibit, *, passed: bool = True) -> TupleTestStep:
    """The answer of a test of tuples, with made-up centres."""
    rng = np.random.default_rng(11)
    region = shown.table.domain.region
    anchors, centers = (region.clip(rng.uniform(-0.8, 0.8, (shown.k, region.dim))) for _ in range(2))
    return TupleTestStep(
        **{"title": "60 tuples agree" if passed else "60 tuples do not agree", "passed": passed},
        **{"centers": centers if passed else None, "center_noise_sd": np.full(shown.k, 0.05) if passed else None},
        **{"number": 60, "needed": 50 if passed else 1522, "rows_per_tuple": 25.0},
        **{"sampled": 9 if passed else 0, "far": 1401.5},
        **{"misfit_limit": 21.2, "misfit_scale": 4.0, "vote_limit": 8.05, "vote_scale": 0.2},
        **{"anchors": anchors, "salt": 3},
    )


def mixture_step(shown: Exhibit, *, sd: float = 0.05) -> MixtureStep:
    """A mixture of unlike parts."""
    rng = np.random.default_rng(12)
    dim = shown.table.domain.dim
    roots = sd * rng.normal(size=(shown.k, dim, dim))
    weights = rng.dirichlet(np.full(shown.k, 3.0))
    return MixtureStep(
        title="A mixture",
        weights=weights,
        centers=shown.table.domain.region.clip(rng.uniform(-0.8, 0.8, (shown.k, dim))),
        covariances=roots @ roots.transpose(0, 2, 1),
        clip_radius=0.2,
    )


def steps_of(shown: Exhibit, *, cells: int = 60) -> Iterator[tuple[str, Step]]:
    """One step of every kind."""

    def frames(algorithm: str, epsilon: float, table: PrivateTable = shown.table, **more: Any) -> list[Step]:
        return [frame.step for frame in run(algorithm, table, k=shown.k, epsilon=epsilon, seed=1, **more).frames]

    def ends(steps: Sequence[Step], kind: type[Step]) -> tuple[Step, Step]:
        found = [step for step in steps if isinstance(step, kind)]
        return found[0], found[-1]

    yield from zip(("centers-first", "centers-last"), ends(frames("dplloyd", 1.0), CentersStep), strict=True)
    yield from {"grid": grid_step(shown, cells), "grid-sparse": sparse_grid_step(shown, cells)}.items()
    yield "starts", starts_step()
    trees = tree_steps(shown, p=3 if shown.table.domain.dim > 3 else None)
    found = candidates_step(trees[-1])
    yield from {"tree-early": trees[1], "tree-last": trees[-1], "candidates": found}.items()
    yield from zip(("swap", "swap-idle"), ends(swap_steps(found, shown.k), SwapStep), strict=True)
    genetic, seeded = frames("pgkm", 10.0, params={"preset": "paper"}), frames("kvariates", 30.0)
    yield from zip(("pool-first", "pool-last"), ends(genetic, PoolStep), strict=True)
    yield from zip(("seed-first", "seed-last"), ends(seeded, SeedStep), strict=True)
    blocks, medians = frames("gkm", 300.0), frames("sample-aggregate", 3.0)
    yield from {"blocks": blocks[0], "ranges": blocks[1], "centers-averaged": blocks[-1]}.items()
    yield "ranges-domain", frames("gkm", 1.0)[1]
    yield from {"median-law": medians[1], "centers-medians": medians[-1]}.items()
    yield from {"tuples": tuple_test_step(shown), "tuples-bottom": tuple_test_step(shown, passed=False)}.items()
    yield from {"mixture": mixture_step(shown), "mixture-tiny": mixture_step(shown, sd=1e-4)}.items()
    yield "coordinates", frames("balcan-sparse", 50.0)[-2]
    polished = frames("auto", 3.0)
    yield from {"plan": polished[0], "zoom": zoom_step(shown)}.items()
    yield from {"look": look_step(shown), "look-public": look_step(shown, bought=False)}.items()
    yield from {"synopsis": ends(polished, SynopsisStep)[0], "polish": polished[-1]}.items()
    yield from {"split": split_step(shown), "split-none": split_step(shown, splits=0)}.items()
    yield from zip(("hash-tree", "coreset"), frames("lsh-coreset", 2.0, delta=1e-6)[:2], strict=True)
    exchanged = PrivateTable(shown.table.domain.from_unit(shown.reveal.points), shown.table.domain, relation="replace")
    yield from zip(("message", "server"), frames("lsh-local", 4.0, exchanged)[:2], strict=True)
    yield "reference", ReferenceStep(title="k-means++", centers=shown.reference.centers)
