"""What is read on a walk through runs of samples is computed anew from the steps and the rows, sentence by sentence.

Titles of centres and cells have their own cases (``pictures/test_title_claims.py``); here are the numbers of notes, of
what pictures say of themselves, and of what stands beside them. A forged number has to turn its sentence red.
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
from dpviz.app.charts.view import make_view
from dpviz.core import Array
from dpviz.runs import Contender, Request, clip_rows, declare, evaluation, run_request
from dpviz.tables import sample
from dpviz.words import choose_palette

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
    return abs(float(said.replace(",", "")) - true) <= 0.6 * 10.0 ** (
        np.floor(np.log10(max(abs(true), 1e-9))) - digits + 1
    )


def stand_out(of: Walked, some: str, all_: str) -> bool:
    counts = np.asarray(of.step.noisy_counts)
    return near(some, np.sum(counts > 3 * of.step.sd), 9) and near(all_, counts.size, 9)


def hold_rows(of: Walked, some: str, all_: str) -> bool:
    grid = of.step.grid
    return near(some, len(np.unique(grid.assign(of.points))), 9) and near(all_, grid.n_cells, 9)


def is_kept(of: Walked, cells: str, rows: str) -> bool:
    return near(cells, len(of.step.kept), 9) and near(rows, float(np.sum(of.step.weights)))


def is_farthest(of: Walked, centre: str, part: str) -> bool:
    partners = find_partners(of.step.centers, of.reference)
    apart = np.linalg.norm(of.reference[:, None] - of.reference, axis=2) + np.diag(np.full(len(of.reference), np.inf))
    which = np.linalg.norm(partners[:, None] - of.reference, axis=2).argmin(axis=1)
    parts = 100 * np.linalg.norm(of.step.centers - partners, axis=1) / apart.min(axis=1)[which]
    return int(centre) == parts.argmax() + 1 and near(part, parts.max())


def has_moved(of: Walked, far: str) -> bool:
    assert of.before is not None
    return near(far, float(np.median(np.linalg.norm(of.step.centers - of.before, axis=1))))


CLAIMS: tuple[tuple[str, Callable[..., bool]], ...] = (
    (r"([\d,]+) of ([\d,]+) (?:cells|counts) stand out", stand_out),
    (r"Noise sd of a cell: ([\d,.]*\d)", lambda of, sd: near(sd, of.step.sd)),
    (r"3 sd of the noise, ([\d,.]*\d) rows", lambda of, rows: near(rows, 3 * of.step.sd)),
    (r"over ([\d,.]*\d) rows, 3 sd of the noise", lambda of, rows: near(rows, 3 * of.step.sd)),
    (r"one bar for (\d+) counts", lambda of, many: int(many) == -(-len(of.step.noisy_counts) // 500)),
    (r"([\d,]+) of ([\d,]+) cells hold a row", hold_rows),
    (r"keeps ([\d,]+) of [\d,]+ cells; together they weigh ([\d,]+) rows", is_kept),
    (r"synopsis loss of ([\d,.]*\d)", lambda of, loss: near(loss, float(np.min(of.step.losses)))),
    (r"Farthest off: centre (\d+), ([\d.]+) % of the way", is_farthest),
    (r"typical centre moved ([\d.]*\d)", has_moved),
    (r"^ε ([\d.]+) of [\d.]+ spent$", lambda of, spent: near(spent, of.spent, 2)),
)


def walk(name: str, algorithm: str, k: int, epsilon: float) -> Iterator[Walked]:
    """All sentences of a run, each with what it is about."""
    table = declare(*sample(name).load())
    rows = clip_rows(table.private.reveal(note="test"), table.domain.region)
    reference = evaluation.find_reference(rows, k)
    finished = run_request(Request(Contender(algorithm), k, epsilon, seed=0), table.private)
    look = RenderContext(make_view(table.domain), choose_palette("light"), epsilon=epsilon, reference=reference)
    shown = RevealedView.of(rows.points, "rows")
    found = lambda centers: evaluation.measure_recovery(rows.points, centers, reference)  # noqa: E731
    context = RenderContext(look.view, look.palette, shown, reference, found, epsilon)
    before = None
    for drawn, frame in zip(Animation.of_run(finished, context).to_data()["steps"], finished.frames, strict=True):
        pictures = (drawn, *drawn["sides"])
        sentences = [drawn["spent"], *(picture[part] for picture in pictures for part in ("title", "note", "alt"))]
        for sentence in dict.fromkeys(sentences):
            yield Walked(sentence, frame.step, rows.points, reference.centers, before, frame.spent_epsilon)
        before = getattr(frame.step, "centers", before)


@cache
def walks() -> list[Walked]:
    runs = [("fifteen", "auto", 15, 1.0), ("fifteen", "eugkm", 15, 1.0), ("outlier", "auto", 3, 1.0)]
    return [one for asked in [*runs, ("city", "auto", 8, 0.5)] for one in walk(*asked)]


def judged() -> Iterator[tuple[Walked, Callable[..., bool], re.Match[str]]]:
    for one in walks():
        for pattern, holds in CLAIMS:
            if found := re.search(pattern, one.sentence):
                yield one, holds, found


def test_every_number_of_a_walk_is_true() -> None:
    false = [one.sentence for one, holds, found in judged() if not holds(one, *found.groups())]
    assert not false
    assert len({(id(one.step), one.sentence) for one, *_ in judged()}) >= FEWEST


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in CLAIMS])
def test_a_forged_number_turns_its_sentence_red(pattern: str) -> None:
    forged = 0
    for one, holds, found in judged():
        if found.re.pattern == pattern:
            for place, said in enumerate(found.groups()):
                wrong = [*found.groups()]
                wrong[place] = (
                    f"{1.2 * float(said.replace(',', '')) + 1:.4g}"
                    if "." in said
                    else f"{int(said.replace(',', '')) + 1 + int(said.replace(',', '')) // 50}"
                )
                assert not holds(one, *wrong), (one.sentence, wrong)
                forged += 1
    assert forged
