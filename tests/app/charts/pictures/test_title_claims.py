"""What titles say of centres and of cells is computed here anew, from the numbers of their step alone.

Those of other kinds of steps count what is drawn: they are stored, with the picture that they stand over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import make_view
from dpviz.runs.evaluation import measure_recovery
from dpviz.runs.one_run import Run, run
from dpviz.words.theme import choose_palette
from dpviz.words.wording import format_number
from tests.app.charts.gallery import Exhibit, exhibit

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NEVER = ("reach 0", "domain's radius", "straying", "unit coordinates", "⊥")
# A title is read at a glance: those of the steps that most runs have are short, and none is very long.
COMMON = ("CentersStep", "PolishStep", "GridStep", "SynopsisStep", "TreeStep", "SwapStep", "CandidatesStep")
SHORT, LONGEST = 56, 72

RUNS = [
    *[(2, name, epsilon) for name, epsilon in (("auto", 3.0), ("balcan", 3.0), ("balcan", 0.3), ("eugkm", 1.0))],
    *[(2, name, epsilon) for name, epsilon in (("dplloyd", 0.3), ("lsh-coreset", 3.0), ("gkm", 100.0))],
    *[(2, name, epsilon) for name, epsilon in (("sample-aggregate", 3.0), ("kvariates", 30.0), ("pgkm", 10.0))],
    *[(6, name, epsilon) for name, epsilon in (("auto", 3.0), ("balcan", 3.0), ("balcan-sparse", 50.0))],
    *[(1, name, epsilon) for name, epsilon in (("eugkm", 1.0), ("balcan", 1.0))],
]

Claim = Callable[[Any, Any], str]
ABOUT: dict[str, list[tuple[str, Claim]]] = {}


def says(kind: str, pattern: str) -> Callable[[Claim], Claim]:
    """What a title of ``kind`` that matches ``pattern`` should read, computed from the step and the context."""

    def keep(claim: Claim) -> Claim:
        ABOUT.setdefault(kind, []).append((pattern, claim))
        return claim

    return keep


def word(value: int) -> str:
    return WORDS[value] if value < len(WORDS) else f"{value:,}"


def many(value: int, one: str) -> str:
    return f"{word(value)} {one}{'' if value == 1 else 's'}"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def gaps(centers: np.ndarray) -> np.ndarray:
    away = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    return np.where(np.eye(len(centers), dtype=bool), np.inf, away).min(axis=1)


def at(context: Any) -> str:
    return f"At ε = {context.run.epsilon:g}, " if context.last else "So far, "


def sizes_of(step: Any, context: Any) -> tuple[np.ndarray, np.ndarray]:
    """Noisy sizes and their sds: at the end those that the run is told with everywhere."""
    if context.last:
        return context.run.sizes
    return step.noisy_counts, np.full(len(step.centers), step.count_noise_sd)


def moved_by_noise(step: Any, context: Any) -> np.ndarray:
    """How far noise may move each centre: over all coordinates and the least likely size, with the last move."""
    far = step.center_noise_sd * np.sqrt(step.centers.shape[1])
    widest = 2 * context.run.domain.region.radius
    if step.count_noise_sd is None or step.noisy_counts is None:
        return np.minimum(far, widest)
    sizes, sd = sizes_of(step, context)
    with np.errstate(divide="ignore"):
        far = np.where(sizes > 3 * sd, far * sizes / np.maximum(sizes - 3 * sd, 0), np.inf)
    moved = 0 if step.previous is None else np.linalg.norm(step.centers - step.previous, axis=1)
    return np.minimum(np.hypot(far, moved), widest)


@says("CentersStep", "may be noise alone")
@says("PolishStep", "may be noise alone")
def sizes_are_small(step: Any, context: Any) -> str:
    sizes, sd = sizes_of(step, context)
    small, k = int((sizes < 3 * sd).sum()), len(sizes)
    return f"{at(context)}{f'all {k}' if small == k else f'{small} of {k}'} sizes may be noise alone"


@says("CentersStep", "this run failed")
@says("PolishStep", "this run failed")
def half_are_lost(step: Any, context: Any) -> str:
    assert (moved_by_noise(step, context) >= gaps(step.centers)).mean() >= 0.5
    assert (
        context.run.loss_diagnostic is None
        or (np.abs(step.centers) >= 0.99 * context.run.domain.region.half).mean() > 0.1
    )
    return f"{at(context)}this run failed: it shows noise"


@says("CentersStep", "edge of the bounds")
@says("PolishStep", "edge of the bounds")
def at_the_edge(step: Any, context: Any) -> str:
    edge = np.abs(step.centers) >= 0.99 * context.run.domain.region.half
    many_of = int((edge.mean(axis=1) >= 0.5).sum())
    assert many_of >= len(step.centers) / 2
    return f"{at(context)}{many_of} of {len(step.centers)} centres lie at the edge of the bounds"


@says("CentersStep", "speak against")
@says("PolishStep", "speak against")
def the_sign_doubts(step: Any, context: Any) -> str:
    assert context.run.loss_diagnostic.doubts
    return f"{at(context)}released values speak against this run"


@says("CentersStep", "found")
@says("PolishStep", "found")
def clusters_are_counted(step: Any, context: Any) -> str:
    shown = context.shown
    got, of = measure_recovery(shown.reveal.everyone, step.centers, shown.reference)
    every = many(of, "cluster")
    who = f"all {every} are" if got == of else f"{word(got) if got else 'none'} of {every} {'are' if got > 1 else 'is'}"
    return f"{at(context)}{who} found"


@says("CentersStep", "before any row")
def no_row_was_read(step: Any, context: Any) -> str:
    assert step.noisy_counts is None and step.center_noise_sd is None and not step.released
    return f"{many(len(step.centers), 'centre')} placed before any row is read"


@says("CentersStep", "cannot be told")
def noise_is_unknown(step: Any, context: Any) -> str:
    solved = type(context.before).__name__ == "StartsStep" and step.count_noise_sd is None
    assert step.center_noise_sd is None and (solved or step.released or step.noisy_counts is not None)
    return f"{many(len(step.centers), 'centre')} whose noise cannot be told"


@says("CentersStep", "at least")
def noise_is_known_in_part(step: Any, context: Any) -> str:
    assert type(context.before).__name__ == "StartsStep" and step.count_noise_sd is None
    typical = format_number(50 * float(np.median(moved_by_noise(step, context))))
    return f"noise moves a centre at least {typical} % of the width"


@says("CentersStep", r"centre \S+ % of the width")
@says("PolishStep", "of the width")
def noise_in_widths(step: Any, context: Any) -> str:
    far = moved_by_noise(step, context)
    assert (far <= gaps(step.centers) / 2).all()
    typical = format_number(50 * float(np.median(far)))
    return f"{at(context)}noise moves a centre {typical} % of the width"


@says("CentersStep", "toward the next")
def noise_in_ways(step: Any, context: Any) -> str:
    part = float(np.median(moved_by_noise(step, context) / gaps(step.centers)))
    return f"{at(context)}noise moves a centre {format_number(100 * part)} % toward the next"


@says("CentersStep", "lost in noise")
@says("PolishStep", "lost in noise")
def noise_is_large(step: Any, context: Any) -> str:
    lost = int((moved_by_noise(step, context) > 0.5 * gaps(step.centers)).sum())
    if context.last:
        return f"{at(context)}{lost} of {len(step.centers)} centres may be lost in noise"
    return f"{at(context)}{word(lost)} of {many(len(step.centers), 'centre')} may be lost in noise"


@says("GridStep", "stand out")
@says("SynopsisStep", "stand out")
def cells_stand_out(step: Any, context: Any) -> str:
    cells = int(np.prod(np.asarray(step.grid.cells_per_axis, dtype=np.int64)))
    return f"{int((step.noisy_counts > 3 * step.sd).sum()):,} of {cells:,} cells stand out from the noise"


class Context:
    """A run, and the table that it ran on."""

    def __init__(self, shown: Exhibit, of: Run, last: bool) -> None:
        self.shown, self.run, self.last = shown, of, last
        self.before: Any = None


@cache
def shown(dim: int) -> Exhibit:
    return exhibit(dim, {1: 3, 2: 5, 6: 4}[dim], n=1500)


def titled(of: Run, *, truth: Exhibit | None) -> Iterator[tuple[Any, str, bool]]:
    context = RenderContext(make_view(of.domain), choose_palette("light"), epsilon=of.epsilon)
    if truth is not None:
        rows, reference = truth.reveal.everyone, truth.reference
        assert rows is not None
        context = RenderContext(
            context.view,
            context.palette,
            truth.reveal,
            reference,
            lambda c: measure_recovery(rows, c, reference),
            epsilon=of.epsilon,
        )
    context = context.with_steps_of(of)
    for frame in of.frames:
        yield frame.step, draw_picture(frame.step, context).title, frame is of.frames[-1]


@pytest.mark.parametrize(("dim", "algorithm", "epsilon"), RUNS)
def test_every_title_of_a_run_is_short_and_those_of_centres_and_cells_are_computed_anew(
    dim: int, algorithm: str, epsilon: float
) -> None:
    delta = 1e-6 if algorithm in ("auto", "balcan", "lsh-coreset") else 0.0
    of = run(algorithm, shown(dim).table, k=shown(dim).k, epsilon=epsilon, delta=delta, seed=1)
    for step, title, last in [*titled(of, truth=None), *titled(of, truth=shown(dim))]:
        kind = type(step).__name__
        if kind in ABOUT:
            claims = [claim for pattern, claim in ABOUT[kind] if re.search(pattern, title)]
            assert len(claims) == 1, f"{kind}: {title}"
            context, steps = Context(shown(dim), of, last), [frame.step for frame in of.frames]
            context.before = steps[steps.index(step) - 1] if steps.index(step) else None
            assert title == capital(claims[0](step, context))
        assert len(title) <= (SHORT if kind in COMMON else LONGEST), title
        assert not any(never in title or never in step.title for never in NEVER), (title, step.title)
