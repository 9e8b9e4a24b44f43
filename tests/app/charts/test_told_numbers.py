"""What pictures say of a run is computed here anew, from the numbers of its steps and from the rows.

Of titles, of notes, of what pictures say of themselves, and of what stands beside them each number is judged, and a
forged one has to turn its sentence red. Whole titles are stored, with the picture that they stand over.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dpviz.algorithms.steps import CentersStep
from dpviz.app.charts.animation import Animation
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.pictures.centers import find_partners
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import make_view
from dpviz.core import Array
from dpviz.runs import Contender, Request, clip_rows, declare, run, run_request
from dpviz.runs.evaluation import find_reference, match, measure_recovery
from dpviz.tables import sample
from dpviz.words import choose_palette
from tests.cases import for_each
from tests.contract.tables import NeighborSetting


def gaps(centers: np.ndarray) -> np.ndarray:
    away = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    return np.where(np.eye(len(centers), dtype=bool), np.inf, away).min(axis=1)


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
    return near(some, len(np.unique(of.step.grid.assign(of.points))), 9) and near(all_, of.step.grid.n_cells, 9)


def choose_coordinates(of: Walked, some: str, all_: str) -> bool:
    return near(some, np.sum(of.step.noisy_means != 0), 9) and near(all_, of.step.noisy_means.size, 9)


def is_farthest(of: Walked, centre: str, part: str) -> bool:
    partners = find_partners(of.step.centers, of.reference)
    which = np.linalg.norm(partners[:, None] - of.reference, axis=2).argmin(axis=1)
    parts = 100 * np.linalg.norm(of.step.centers - partners, axis=1) / gaps(of.reference)[which]
    return int(centre) == parts.argmax() + 1 and near(part, parts.max())


def find_typical_move(before: Array, after: Array) -> float:
    return float(np.median(np.linalg.norm(after - before, axis=1)))


MOVED = r"typical centre moved ([\d.]*\d)"
CLAIMS: tuple[tuple[str, Callable[..., bool]], ...] = (
    (r"([\d,]+) of ([\d,]+) (?:cells|counts) stand out", stand_out),
    (r"Noise sd of a cell: ([\d,.]*\d)", lambda of, sd: near(sd, of.step.sd)),
    (r"3 sd of the noise, ([\d,.]*\d) rows", lambda of, rows: near(rows, 3 * of.step.sd)),
    (r"over ([\d,.]*\d) rows, 3 sd of the noise", lambda of, rows: near(rows, 3 * of.step.sd)),
    (r"one bar for (\d+) counts", lambda of, many: int(many) == -(-len(of.step.noisy_counts) // 500)),
    (r"([\d,]+) of ([\d,]+) cells hold a row", hold_rows),
    (r"^([\d,]+) of ([\d,]+) chosen coordinates stand out of the noise$", choose_coordinates),
    (
        r"keeps ([\d,]+) of [\d,]+ cells; together they are taken for ([\d,]+) rows",
        lambda of, cells, rows: near(cells, len(of.step.kept), 9) and near(rows, float(np.sum(of.step.weights))),
    ),
    (r"synopsis loss of ([\d,.]*\d)", lambda of, loss: near(loss, float(np.min(of.step.losses)))),
    (r"Farthest off: centre (\d+), ([\d.]+) % of the way", is_farthest),
    (MOVED, lambda of, far: near(far, find_typical_move(of.before, of.step.centers))),
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
    more = [("city", "auto", 8, 0.5), ("fifteen", "balcan-sparse", 15, 1.0)]
    walked = [one for asked in [*runs, *more] for one in walk(*asked)]
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
        context = RenderContext(make_view(of.domain), choose_palette("light"), epsilon=of.epsilon).with_steps_of(of)
        title = draw_picture(of.frames[-1].step, context).title
        assert "noise may move a centre" not in title
        assert any(words in title for words in ("failed", "noise alone", "lost in noise", "edge of the bounds"))


def test_a_centre_has_not_moved_whose_shares_alone_are_moved_to_where_means_of_rows_can_be() -> None:
    made = run("auto", NeighborSetting("categories", dim=4, mixed=True).table(), k=3, epsilon=1.0, delta=1e-6, seed=0)
    context, told = RenderContext(make_view(made.domain), choose_palette("light")), []
    for before, after in pairwise(frame.step for frame in made.frames):
        if isinstance(before, CentersStep) and (found := re.search(MOVED, draw_picture(after, context).words)):
            told.append(find_typical_move(before.centers, after.centers))
            assert near(found[1], told[-1]), found[0]
    assert len(told) > 3 and 0.0 in told
