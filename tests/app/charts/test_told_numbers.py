"""What pictures say of a run is computed here anew, from the numbers of its steps and from the rows.

Titles of centres and of cells are remade whole; of notes, of what pictures say of themselves, and of what stands beside
them each number is judged, and a forged one has to turn its sentence red. Titles of other kinds of steps count what is
drawn: they are stored, with the picture that they stand over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from dpviz.app.charts.animation import Animation
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.pictures.centers import find_partners
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import make_view
from dpviz.core import Array
from dpviz.runs import Contender, Request, Run, clip_rows, declare, run, run_request
from dpviz.runs.evaluation import assign, find_reference, label_accuracy, match, measure_recovery
from dpviz.tables import sample
from dpviz.words import choose_palette, format_number
from tests.app.charts.gallery import Exhibit, exhibit
from tests.cases import for_each

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


class Context(NamedTuple):
    """A run and the table that it ran on; the step before the one that is told, and whether that is the last."""

    shown: Exhibit
    run: Run
    before: Any
    last: bool

    @property
    def at(self) -> str:
        return f"At ε = {self.run.epsilon:g}, " if self.last else "So far, "

    @property
    def solved(self) -> bool:
        return type(self.before).__name__ == "StartsStep"


def word(value: int) -> str:
    return WORDS[value] if value < len(WORDS) else f"{value:,}"


def many(value: int, one: str) -> str:
    return f"{word(value)} {one}{'' if value == 1 else 's'}"


def gaps(centers: np.ndarray) -> np.ndarray:
    away = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    return np.where(np.eye(len(centers), dtype=bool), np.inf, away).min(axis=1)


def sizes_of(step: Any, of: Context) -> tuple[np.ndarray, np.ndarray]:
    """Noisy sizes and their sds: at the end those that the run is told with everywhere."""
    return of.run.sizes if of.last else (step.noisy_counts, np.full(len(step.centers), step.count_noise_sd))


def moved_by_noise(step: Any, of: Context) -> np.ndarray:
    """How far noise may move each centre: over all coordinates and the least likely size, with the last move."""
    far = step.center_noise_sd * np.sqrt(step.centers.shape[1])
    widest = 2 * of.run.domain.region.radius
    if step.count_noise_sd is None or step.noisy_counts is None:
        return np.minimum(far, widest)
    sizes, sd = sizes_of(step, of)
    with np.errstate(divide="ignore"):
        far = np.where(sizes > 3 * sd, far * sizes / np.maximum(sizes - 3 * sd, 0), np.inf)
    moved = 0 if step.previous is None else np.linalg.norm(step.centers - step.previous, axis=1)
    return np.minimum(np.hypot(far, moved), widest)


def sizes_are_small(step: Any, of: Context) -> str:
    sizes, sd = sizes_of(step, of)
    small, k = int((sizes < 3 * sd).sum()), len(sizes)
    return f"{of.at}{f'all {k}' if small == k else f'{small} of {k}'} sizes may be noise alone"


def half_are_lost(step: Any, of: Context) -> str:
    assert (moved_by_noise(step, of) >= gaps(step.centers)).mean() >= 0.5
    at_the_edge = np.abs(step.centers) >= 0.99 * of.run.domain.region.half
    assert of.run.loss_diagnostic is None or at_the_edge.mean() > 0.1
    return f"{of.at}this run failed: it shows noise"


def lie_at_the_edge(step: Any, of: Context) -> str:
    edge = np.abs(step.centers) >= 0.99 * of.run.domain.region.half
    number, k = int((edge.mean(axis=1) >= 0.5).sum()), len(step.centers)
    assert number >= k / 2
    return f"{of.at}{number} of {k} centres lie at the edge of the bounds"


def the_sign_doubts(step: Any, of: Context) -> str:
    assert of.run.loss_diagnostic.doubts
    return f"{of.at}released values speak against this run"


def clusters_are_counted(step: Any, of: Context) -> str:
    got, number = measure_recovery(of.shown.reveal.everyone, step.centers, of.shown.reference)
    every = many(number, "cluster")
    some = f"{word(got) if got else 'none'} of {every} {'are' if got > 1 else 'is'}"
    return f"{of.at}{f'all {every} are' if got == number else some} found"


def no_row_was_read(step: Any, of: Context) -> str:
    assert step.noisy_counts is None and step.center_noise_sd is None and not step.released
    return f"{many(len(step.centers), 'centre')} placed before any row is read"


def noise_is_unknown(step: Any, of: Context) -> str:
    solved = of.solved and step.count_noise_sd is None
    assert step.center_noise_sd is None and (solved or step.released or step.noisy_counts is not None)
    return f"{many(len(step.centers), 'centre')} whose noise cannot be told"


def noise_is_known_in_part(step: Any, of: Context) -> str:
    assert of.solved and step.count_noise_sd is None
    typical = format_number(50 * float(np.median(moved_by_noise(step, of))))
    return f"noise moves a centre at least {typical} % of the width"


def noise_in_widths(step: Any, of: Context) -> str:
    far = moved_by_noise(step, of)
    assert (far <= gaps(step.centers) / 2).all()
    return f"{of.at}noise moves a centre {format_number(50 * float(np.median(far)))} % of the width"


def noise_in_ways(step: Any, of: Context) -> str:
    part = float(np.median(moved_by_noise(step, of) / gaps(step.centers)))
    return f"{of.at}noise moves a centre {format_number(100 * part)} % toward the next"


def noise_is_large(step: Any, of: Context) -> str:
    lost, k = int((moved_by_noise(step, of) > 0.5 * gaps(step.centers)).sum()), len(step.centers)
    who = f"{lost} of {k} centres" if of.last else f"{word(lost)} of {many(k, 'centre')}"
    return f"{of.at}{who} may be lost in noise"


def cells_stand_out(step: Any, of: Context) -> str:
    cells = int(np.prod(np.asarray(step.grid.cells_per_axis, dtype=np.int64)))
    return f"{int((step.noisy_counts > 3 * step.sd).sum()):,} of {cells:,} cells stand out from the noise"


Remade = dict[str, Callable[[Any, Context], str]]
OF_CENTERS: Remade = {
    **{"may be noise alone": sizes_are_small, "this run failed": half_are_lost, "edge of the bounds": lie_at_the_edge},
    **{"speak against": the_sign_doubts, "found": clusters_are_counted, "before any row": no_row_was_read},
    **{"cannot be told": noise_is_unknown, "at least": noise_is_known_in_part, "toward the next": noise_in_ways},
    **{r"centre \S+ % of the width": noise_in_widths, "lost in noise": noise_is_large},
}
OF_CELLS: Remade = {"stand out": cells_stand_out}
TITLES = {"CentersStep": OF_CENTERS, "PolishStep": OF_CENTERS, "GridStep": OF_CELLS, "SynopsisStep": OF_CELLS}


@cache
def shown(dim: int) -> Exhibit:
    return exhibit(dim, {1: 3, 2: 5, 6: 4}[dim], n=1500)


def titled(of: Run, truth: Exhibit | None = None) -> Iterator[tuple[Any, str]]:
    """The steps of a run with their titles, as its owner reads them who sees the rows, or nothing of them."""
    context = RenderContext(make_view(of.domain), choose_palette("light"), epsilon=of.epsilon)
    if truth is not None:
        found = lambda centers: measure_recovery(truth.reveal.everyone, centers, truth.reference)  # noqa: E731
        seen = {"reveal": truth.reveal, "reference": truth.reference, "found": found}
        context = RenderContext(context.view, context.palette, epsilon=of.epsilon, **seen)
    context = context.with_steps_of(of)
    for frame in of.frames:
        yield frame.step, draw_picture(frame.step, context).title


@pytest.mark.parametrize(("dim", "algorithm", "epsilon"), RUNS)
def test_every_title_of_a_run_is_short_and_those_of_centres_and_cells_are_computed_anew(
    dim: int, algorithm: str, epsilon: float
) -> None:
    delta = 1e-6 if algorithm in ("auto", "balcan", "lsh-coreset") else 0.0
    of = run(algorithm, shown(dim).table, k=shown(dim).k, epsilon=epsilon, delta=delta, seed=1)
    steps = [frame.step for frame in of.frames]
    for step, title in [*titled(of), *titled(of, shown(dim))]:
        kind, place = type(step).__name__, steps.index(step)
        if kind in TITLES:
            (remake,) = (remake for pattern, remake in TITLES[kind].items() if re.search(pattern, title))
            remade = remake(step, Context(shown(dim), of, steps[place - 1] if place else None, step is steps[-1]))
            assert title == remade[:1].upper() + remade[1:]
        assert len(title) <= (SHORT if kind in COMMON else LONGEST), title
        assert not any(never in title or never in step.title for never in NEVER), (title, step.title)


FEWEST = 72


class Walked(NamedTuple):
    """A sentence, the step that it is about, the rows, the centres of k-means++, and those of the step before."""

    sentence: str
    step: Any
    points: Array
    reference: Array
    before: Array | None
    spent: float


def near(said: str, true: float, digits: int = 3) -> bool:
    """Whether a number as it is read is the true one, to so many digits."""
    last = np.floor(np.log10(max(abs(true), 1e-9))) - digits + 1
    return abs(float(said.replace(",", "")) - true) <= 0.6 * 10.0**last


def stand_out(of: Walked, some: str, all_: str) -> bool:
    counts = np.asarray(of.step.noisy_counts)
    return near(some, np.sum(counts > 3 * of.step.sd), 9) and near(all_, counts.size, 9)


def hold_rows(of: Walked, some: str, all_: str) -> bool:
    grid = of.step.grid
    return near(some, len(np.unique(grid.assign(of.points))), 9) and near(all_, grid.n_cells, 9)


def is_farthest(of: Walked, centre: str, part: str) -> bool:
    partners = find_partners(of.step.centers, of.reference)
    which = np.linalg.norm(partners[:, None] - of.reference, axis=2).argmin(axis=1)
    parts = 100 * np.linalg.norm(of.step.centers - partners, axis=1) / gaps(of.reference)[which]
    return int(centre) == parts.argmax() + 1 and near(part, parts.max())


CLAIMS: tuple[tuple[str, Callable[..., bool]], ...] = (
    (r"([\d,]+) of ([\d,]+) (?:cells|counts) stand out", stand_out),
    (r"Noise sd of a cell: ([\d,.]*\d)", lambda of, sd: near(sd, of.step.sd)),
    (r"3 sd of the noise, ([\d,.]*\d) rows", lambda of, rows: near(rows, 3 * of.step.sd)),
    (r"over ([\d,.]*\d) rows, 3 sd of the noise", lambda of, rows: near(rows, 3 * of.step.sd)),
    (r"one bar for (\d+) counts", lambda of, many: int(many) == -(-len(of.step.noisy_counts) // 500)),
    (r"([\d,]+) of ([\d,]+) cells hold a row", hold_rows),
    (
        r"keeps ([\d,]+) of [\d,]+ cells; together they weigh ([\d,]+) rows",
        lambda of, cells, rows: near(cells, len(of.step.kept), 9) and near(rows, float(np.sum(of.step.weights))),
    ),
    (r"synopsis loss of ([\d,.]*\d)", lambda of, loss: near(loss, float(np.min(of.step.losses)))),
    (r"Farthest off: centre (\d+), ([\d.]+) % of the way", is_farthest),
    (
        r"typical centre moved ([\d.]*\d)",
        lambda of, far: near(far, float(np.median(np.linalg.norm(of.step.centers - of.before, axis=1)))),
    ),
    (r"^ε ([\d.]+) of [\d.]+ spent$", lambda of, spent: near(spent, of.spent, 2)),
)


def walk(name: str, algorithm: str, k: int, epsilon: float) -> Iterator[Walked]:
    """All sentences of a run, each with what it is about."""
    table = declare(*sample(name).load())
    rows = clip_rows(table.private.reveal(note="test"), table.domain.region)
    reference = find_reference(rows, k)
    finished = run_request(Request(Contender(algorithm), k, epsilon, seed=0), table.private)
    found = lambda centers: measure_recovery(rows.points, centers, reference)  # noqa: E731
    seen = (RevealedView.of(rows.points, "rows"), reference, found, epsilon)
    context, before = RenderContext(make_view(table.domain), choose_palette("light"), *seen), None
    for drawn, frame in zip(Animation.of_run(finished, context).to_data()["steps"], finished.frames, strict=True):
        pictures = (drawn, *drawn["sides"])
        sentences = [drawn["spent"], *(picture[part] for picture in pictures for part in ("title", "note", "alt"))]
        for sentence in dict.fromkeys(sentences):
            yield Walked(sentence, frame.step, rows.points, reference.centers, before, frame.spent_epsilon)
        before = getattr(frame.step, "centers", before)


@cache
def judged() -> list[tuple[Walked, Callable[..., bool], re.Match[str]]]:
    runs = [("fifteen", "auto", 15, 1.0), ("fifteen", "eugkm", 15, 1.0), ("outlier", "auto", 3, 1.0)]
    walked = [one for asked in [*runs, ("city", "auto", 8, 0.5)] for one in walk(*asked)]
    tried = ((one, holds, re.search(pattern, one.sentence)) for one in walked for pattern, holds in CLAIMS)
    return [(one, holds, found) for one, holds, found in tried if found]


def test_every_number_of_a_walk_is_true() -> None:
    assert not [one.sentence for one, holds, found in judged() if not holds(one, *found.groups())]
    assert len({(id(one.step), one.sentence) for one, *_ in judged()}) >= FEWEST


@for_each("pattern", [pattern for pattern, _ in CLAIMS])
def test_a_forged_number_turns_its_sentence_red(pattern: str) -> None:
    told = [(one, holds, found) for one, holds, found in judged() if found.re.pattern == pattern]
    assert told
    for one, holds, found in told:
        for place, said in enumerate(found.groups()):
            value = float(said.replace(",", ""))
            forged = f"{1.2 * value + 1:.4g}" if "." in said else f"{int(value) + 1 + int(value) // 50}"
            wrong = [*found.groups()[:place], forged, *found.groups()[place + 1 :]]
            assert not holds(one, *wrong), (one.sentence, wrong)


def test_a_run_whose_draws_lie_a_domain_apart_does_not_say_that_noise_moves_a_centre_a_little() -> None:
    table = declare(*sample("people").load())
    one, other = (run("auto", table.private, k=6, epsilon=0.01, delta=1e-6, seed=seed) for seed in (0, 1))
    moved = one.unit_centers - other.unit_centers[match(one.unit_centers, other.unit_centers)]
    assert np.median(np.linalg.norm(moved, axis=1)) > 0.5
    for of in (one, other):
        *_, (_, title) = titled(of)
        assert "noise moves a centre" not in title
        assert any(words in title for words in ("failed", "noise alone", "lost in noise", "edge of the bounds"))


def test_found_does_not_say_eleven_of_fifteen_beside_ninety_nine_percent() -> None:
    table = declare(*sample("fifteen").load())
    rows = clip_rows(table.private.reveal(note="test"), table.domain.region)
    points, reference, told = np.asarray(rows.points), find_reference(rows, 15), 0
    for seed in range(8):
        of = run("eugkm", table.private, k=15, epsilon=0.1, seed=seed)
        accuracy = label_accuracy(table.labels[rows.kept], assign(points, of.unit_centers))
        found = measure_recovery(points, of.unit_centers, reference).found
        assert found >= 14 or accuracy <= 0.98, (seed, accuracy)
        assert found < 15 or accuracy > 0.9
        told += accuracy > 0.98
    assert told, "no run that label accuracy calls good"
