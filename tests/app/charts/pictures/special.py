"""Steps of which little, much or something odd is to be drawn, made by hand; the gallery has those of real runs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from dpviz.algorithms import PlanStep, PolishStep, StartsStep, SwapStep, SynopsisStep, TreeStep
from dpviz.algorithms.hashes.lsh_coreset import CountedTree, HashTreeStep
from dpviz.algorithms.size_estimates import Sizes
from dpviz.algorithms.steps import CentersStep, GridStep
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.picture import Chart
from dpviz.app.charts.pictures import centers, columns, grids, tree
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import make_view
from dpviz.core import Domain, Region
from dpviz.core.partitions import CubeTree, Grid, HashCodes, UnevenGrid
from dpviz.core.queries import SparseCounts
from dpviz.runs import run
from dpviz.runs.evaluation import Reference, measure_recovery
from dpviz.runs.profiles import make_bare_profile
from tests.app.charts import gallery
from tests.app.charts.gallery import beside, boxed_synopsis, exhibit, look, look_step, split_step, thin_table

Cases = Iterator[tuple[str, Chart]]
OBLONG = Domain.of(["x", "y"], [0, 0], [100, 10])
CORNERS = np.array([[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]])


def domain(dim: int, low: float = 0.0, high: float = 10.0) -> Domain:
    return Domain.of([f"c{j}" for j in range(dim)], low, high)


def dense(dim: int, cells: int, *, sd: float = 1.0) -> GridStep:
    """A grid of noise alone."""
    grid = Grid.over(domain(dim).region, cells)
    noisy = np.random.default_rng(0).normal(0, sd, grid.n_cells)
    return GridStep(title="grid", grid=grid, codes=np.arange(grid.n_cells), noisy_counts=noisy, sd=sd)


def list_grids() -> Cases:
    plane = look(make_view(domain(2)))
    yield "cells of three columns", draw_picture(dense(3, 4), look(make_view(domain(3), (2, 0))))
    yield "a million cells", draw_picture(dense(2, 1000), plane)
    inner = [np.array([-0.8, -0.7, 0.4]), np.array([0.1])]
    uneven = UnevenGrid.between(np.ones(2), inner, np.array([0.1, 0.0]))
    step = GridStep(title="grid", grid=uneven, codes=np.arange(8), noisy_counts=np.arange(8.0), sd=1.0)
    yield "uneven cells", draw_picture(step, plane)
    looked = look(make_view(domain(2)), reveal=RevealedView.of(np.zeros((5, 2)), "look"))
    yield "40 cells a side, rows revealed", draw_picture(dense(2, 40), looked)
    many = replace(dense(2, 2), grid=Grid.over(domain(60).region, 2), codes=np.arange(4))
    yield "more cells than anybody counts", draw_picture(many, look(make_view(domain(60))))


def in_a_view(*cells: int, kept: int = 3) -> SynopsisStep:
    """A dense synopsis over axes of a view, off the middle of the domain."""
    axes = len(cells)
    grid = Grid(np.linspace(0.6, 0.3, axes), np.array(cells), np.full(axes, 0.2))
    noisy = np.random.default_rng(0).normal(0, 1.0, grid.n_cells)
    noisy[:kept] = 40.0
    return SynopsisStep(
        **{"title": "cells", "grid": grid, "codes": np.arange(grid.n_cells), "noisy_counts": noisy, "sd": 1.0},
        **{"kept": np.arange(kept), "weights": np.arange(kept) + 10.0, "frame": np.eye(4)[:axes]},
        **{"outside": np.zeros((0, axes)), "outside_weights": np.zeros(0)},
    )


def list_synopses() -> Cases:
    for dim in (1, 2, 3):
        zoomed, step, of = boxed_synopsis(dim)
        context = look(make_view(of), reveal=RevealedView.of(np.r_[np.full((30, dim), step.grid.middle)], "test"))
        yield f"{dim}d: zoom with a box", draw_picture(zoomed, context)
        yield f"{dim}d: synopsis with a box", draw_picture(step, context)
        for name, chart in beside([step], view=context.view, reveal=context.reveal).items():
            yield f"{dim}d: {name}", chart
    table = thin_table()
    whole = RevealedView.of(table.reveal(note="test").points, "test")
    for frame in run("auto", table, k=3, epsilon=1.0, delta=1e-6, seed=1).frames[1:3]:
        kind = type(frame.step).__name__
        context = look(make_view(table.domain), reveal=whole)
        yield f"wide columns: {kind}", draw_picture(frame.step, context)
        for name, chart in beside([frame.step], view=context.view, reveal=whole).items():
            yield f"wide columns, {kind}: {name}", chart
    shown = exhibit(2, 5, n=1500)
    bare = replace(gallery.zoom_step(shown), box=None)
    yield "no box", draw_picture(bare, look(make_view(shown.table.domain)))
    core = np.array([[-0.5, 0.25], [-0.25, 0.5]])
    yield "most rows in a core", draw_picture(replace(bare, core=core), look(make_view(shown.table.domain)))
    wide = np.array([9, 8, 8, 7, 6, 5, 5, 4])
    fine = Grid(wide / 10.0, wide)
    few = {"codes": np.sort(np.random.default_rng(1).choice(fine.n_cells, 5000, replace=False)), "cutoff": 50.0}
    few |= {"noisy_counts": np.full(5000, 60.0), "sd": 4.0, "kept": np.arange(5000), "weights": np.full(5000, 60.0)}
    sparse = replace(in_a_view(2), grid=fine, frame=np.eye(8), outside=np.zeros((0, 8)), **few)
    yield "a few of three million cells", draw_picture(sparse, look(make_view(domain(8))))
    yield "a few of three million cells: kept", grids.draw_kept(sparse, look(make_view(domain(8))))


def grown(dim: int, depth: int, seed: int, share: float = 0.5) -> CubeTree:
    """A tree in which every child wakes up with probability ``share``."""
    rng = np.random.default_rng(seed)
    found = CubeTree(np.full(dim, -2.0), 4.0)
    for _ in range(depth):
        found = found.with_level(np.flatnonzero(rng.random(found.n_cells) < share).astype(np.int64))
    return found


def level_of(of: CubeTree) -> TreeStep:
    return TreeStep(
        **{"title": "a level", "tree": of, "region": Region.ball(of.dim, 4.0), "threshold": 30.0},
        **{"noise_name": "laplace", "noise_scale": 4.0, "shift": 1},
    )


def list_trees() -> Cases:
    small = look(make_view(domain(2, -1, 1)))
    nothing = np.zeros(0, dtype=np.int64)
    for name, of in {
        "a tree": grown(2, 3, seed=4),
        "a tree that died out": grown(2, 2, seed=1).with_level(nothing).with_level(nothing),
        "twenty thousand cubes": grown(8, 2, seed=0, share=0.55),
    }.items():
        context = small if of.dim == 2 else look(make_view(domain(of.dim, -1, 1)))
        yield name, draw_picture(level_of(of), context)
        yield f"{name}: diagram", tree.draw_diagram(level_of(of), [], context)
    whole = grown(2, 4, seed=5, share=0.6)
    levels = [level_of(CubeTree(whole.origin, whole.side, whole.levels[:depth])) for depth in range(1, 5)]
    wide = make_view(domain(2, -2, 2))
    yield "level 4 of four", tree.draw_diagram(levels[3], levels, look(wide))
    step = level_of(grown(2, 3, seed=6))
    marked = step.tree.centers(3)[[0, 2]]
    yield "cubes of today's centres", tree.draw_diagram(step, [step], look(make_view(domain(2, -4, 4))), marked=marked)
    sparse = grown(2, 3, seed=2)
    middle = sparse.centers(3)[[np.abs(sparse.centers(3)).max(axis=1).argmin()]]
    for name, rows in {"all rows": RevealedView.of(np.repeat(middle, 5, axis=0), "look"), "none": None}.items():
        yield f"empty cubes, revealed: {name}", draw_picture(level_of(sparse), replace(small, reveal=rows))
    some = RevealedView(np.repeat(middle, 5, axis=0), "look")
    yield "empty cubes, some rows revealed", draw_picture(level_of(sparse), replace(small, reveal=some))
    for noise in ("laplace", "gaussian"):
        step = replace(level_of(grown(2, 1, 0)), noise_name=noise)
        yield f"activation, {noise}", tree.draw_activation(step, small)
        yield f"a level, {noise}", draw_picture(step, small)


def centred(at: np.ndarray, **more: object) -> CentersStep:
    return CentersStep(title="a round", centers=at, **more)  # type: ignore[arg-type]


def list_centers() -> Cases:
    def drawn(at: np.ndarray, more: dict[str, object] | None = None, **context: object) -> Chart:
        return draw_picture(centred(at, **(more or {})), look(**{"view": make_view(OBLONG), **context}))

    reference = Reference(CORNERS, 0.1, 1)
    rows = np.repeat(CORNERS, 50, axis=0) + np.random.default_rng(0).normal(0, 0.05, (200, 2))
    for far in (0, 1, 3):
        moved = CORNERS[[3, 1, 0, 2]].copy()
        moved[:far] += [0.0, 0.2]  # the spread of each is 0.07
        found = measure_recovery(rows, moved, reference)
        yield (
            f"all but {far} of four are found",
            drawn(moved, reference=reference, found=lambda _, found=found: found, epsilon=0.5),
        )
    yield "nobody says what is found", drawn(CORNERS, reference=reference, epsilon=0.5)
    sd = np.array([0.1, 0.6, 0.7, 0.1])
    for name, part in {"much noise": 1.0, "little noise": 0.01}.items():
        yield name, drawn(CORNERS, {"noisy_counts": np.ones(4), "center_noise_sd": part * sd})
    yield "numbers away from k-means++", drawn(CORNERS, reference=Reference(CORNERS * 0.6, 0.1, 1))
    rng = np.random.default_rng(5)
    yield "colours of the final cells", drawn(rng.uniform(-1, 1, (12, 2)), final=rng.uniform(-1, 1, (12, 2)))
    first, last = centred(CORNERS), centred(CORNERS + 0.01)
    ghosts = {"ghosts": (CORNERS + 0.1, CORNERS - 0.1), "steps": (first, last), "final": CORNERS}
    for name, step in {"first": first, "last": last}.items():
        yield f"earlier draws, {name} step", draw_picture(step, look(make_view(OBLONG), **ghosts))
    sizes = centred(CORNERS, noisy_counts=np.array([5.0, 500.0, 50.0, -3.0]), count_noise_sd=4.0)
    whole = Sizes(np.array([10.0, 480.0, 60.0, 1.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    profile = replace(make_bare_profile(OBLONG, OBLONG.from_unit(CORNERS)), sizes=whole)
    for name, known in {"sizes with their noise": {}, "sizes of the whole run": {"profile": profile}}.items():
        yield name, centers.draw_sizes(sizes, look(make_view(OBLONG), **known))
    ball = Domain.of([f"c{j}" for j in range(64)], -1.0, 1.0, radius=1.0, scaling="common")
    yield "a centre outside", drawn(np.eye(2, 64) * [[0.95], [0.0]], view=make_view(ball, (0, 1)))
    yield "a loss", drawn(CORNERS + 0.2, reference=reference, ratio=lambda _: 1.046, epsilon=2.0)
    yield "one centre", drawn(CORNERS[:1], reference=Reference(CORNERS[1:2], 0.1, 1))
    yield "a reference of another size", drawn(CORNERS[:3], reference=reference)
    for k in (100, 101):
        crowd = np.random.default_rng(0).uniform(-1, 1, (k, 2))
        yield f"{k} centres", drawn(crowd, {"noisy_counts": np.arange(k, dtype=float)})


def polish(k: int = 4, *, reach: float = 0.2, moved: float = 0.05, dim: int = 2) -> PolishStep:
    before = np.random.default_rng(0).uniform(-0.5, 0.5, (k, dim))
    return PolishStep(
        **{"title": "Round 1 of 3", "centers": before + moved / np.sqrt(dim), "previous": before},
        **{"noisy_counts": np.arange(k) + 5.0, "center_noise_sd": np.full(k, 0.01), "count_noise_sd": 1.0},
        clipping_radius=reach,
    )


def list_rounds() -> Cases:
    for k in (4, 64):
        step = polish(k)  # in a run that goes on: the last picture has no clipping radius
        yield f"polish of {k}", draw_picture(step, look(make_view(OBLONG), steps=(step,)))
    pair = (polish(), polish(moved=0.01))
    for name, step in zip(("first", "last"), pair, strict=True):
        context = look(make_view(OBLONG), steps=pair, final=pair[-1].centers)
        yield f"the {name} of two rounds", draw_picture(step, context)
    steps = [polish(reach=0.4, moved=0.3), polish(moved=0.01), polish(moved=0.0)]
    yield "3 rounds of five", centers.draw_rounds(steps, 5, look())
    shown = exhibit(2, 5, n=200)
    for splits in (0, 2):
        step = split_step(shown, splits=splits)
        yield f"{splits} splits", draw_picture(step, look(make_view(shown.table.domain)))
    none = {name: np.array([], dtype=int) for name in ("split", "dropped", "gains", "costs")}
    flat = replace(split_step(shown), gain_of_each=np.zeros(5), **none)
    for name, step in {"gains": split_step(shown), "no gains": flat}.items():
        yield name, centers.draw_gains(step, look())


def hashed(counts: dict[int, float]) -> HashTreeStep:
    released = SparseCounts(np.array(sorted(counts)), np.array([counts[node] for node in sorted(counts)]), 32)
    return HashTreeStep(
        title="a tree",
        hashes=HashCodes(np.random.default_rng(0).normal(size=(4, 2)), np.zeros(4)),
        tree=CountedTree.of(released, n=100.0, min_node=10.0),
        **{"min_node": 10.0, "min_branch": 30.0, "count_sd": 4.0, "noise_name": "gaussian"},
    )


PREFIXES = {2: 62.0, 3: 35.0, 4: 58.0, 5: -3.0, 6: 20.0, 7: 14.0, 8: 28.0, 9: 29.0}
TWO = np.array([[0.1, 0.2], [-0.4, 0.0]])
IDLE = SwapStep(
    **{"title": "Swap", "candidates": TWO, "previous": TWO, "centers": TWO, "removed": 0, "added": 0},
    **{"region": Region.ball(2, 1.0), "frame": None},
)


def list_others() -> Cases:
    yield "prefixes", draw_picture(hashed(PREFIXES), look())
    yield "no prefix", draw_picture(hashed({2: 1.0, 3: -2.0}), look())
    nodes, heavy = [], [1]
    for _ in range(20):
        asked = [2 * node + side for node in heavy for side in (0, 1)]
        nodes += asked
        heavy = asked[:: max(1, len(asked) // 150)]
    yield "thousands of prefixes", draw_picture(hashed(dict.fromkeys(nodes, 40.0)), look())
    table = thin_table()
    table.n_public = None
    plan = run("auto", table, k=3, epsilon=1.0, delta=1e-6, seed=1).frames
    yield "a plan, after n was bought", draw_picture(next(f.step for f in plan if isinstance(f.step, PlanStep)), look())
    moved = replace(IDLE, centers=TWO + np.array([[0.0, 0.3], [0.0, 0.0]]))
    swaps: Sequence[SwapStep] = [IDLE, moved, IDLE]
    yield "2 of three swaps", tree.draw_swap_trace(swaps[:2], swaps, look())
    yield "a swap that moves nothing", tree.draw_swap_trace([IDLE], [IDLE, IDLE], look())
    yield "a choice that is no swap", beside([IDLE, replace(moved, of_iterates=True)], 1)["Swap trace"]
    for losses in ([1e-12], [0.0, 0.0], [3.0, 3.0001, 9.0]):
        step = StartsStep(title="starts", losses=np.array(losses), chosen=0, centers=TWO)
        yield f"starts of losses {losses}", draw_picture(step, look())
    shown = exhibit(6, 5, n=1500)
    usual, context = look_step(shown), look(make_view(shown.table.domain))
    seen = usual.projection
    wide = np.linalg.qr(np.random.default_rng(0).normal(size=(100, 100)))[0]
    wide[:, 7] *= 9
    hundred = look(make_view(Domain.of([f"column {j}" for j in range(100)], 0.0, 1.0)))
    captured = {"basis": wide, "captured": np.linspace(1, 0, 100), "middle": np.zeros(100)}
    some = replace(context, reveal=RevealedView(shown.reveal.points[:10], "made up"))
    for name, step, where in (
        ("much noise, some rows revealed", look_step(shown, epsilon=0.3), some),
        ("axes along columns", replace(usual, projection=replace(seen, basis=np.eye(6)[[3, 0, 1, 2, 4, 5]])), context),
        ("rows are left out", replace(usual, rows=0.7 * usual.rows), context),
        ("noise hides", replace(usual, projection=replace(seen, clipping_radius=usual.outer_radius)), context),
        ("a hundred columns", replace(usual, projection=replace(seen, **captured)), hundred),
    ):
        yield name, draw_picture(step, where)
        yield f"{name}: axes", columns.draw_axes(step, where)
        yield f"{name}: distances", columns.draw_distances(step, where)


SPECIAL: Sequence[Callable[[], Cases]] = (list_grids, list_synopses, list_trees, list_centers, list_rounds, list_others)
