"""Titles that once were false of what they stood beside: each on the run that showed it."""

from __future__ import annotations

import numpy as np

from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.pictures.centers import describe_recovery
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import make_view
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import assign, find_reference, label_accuracy, match, measure_recovery
from dpviz.runs.one_run import Run, run
from dpviz.runs.open_table import OpenTable, declare
from dpviz.tables.named import sample
from dpviz.words.theme import choose_palette


def opened(sample_id: str) -> OpenTable:
    return declare(*sample(sample_id).load())


def title_of(of: Run) -> str:
    context = RenderContext(make_view(of.domain), choose_palette("light"), epsilon=of.epsilon).with_steps_of(of)
    return draw_picture(of.frames[-1].step, context).title


def test_a_run_whose_draws_lie_a_domain_apart_does_not_say_that_noise_moves_a_centre_a_little() -> None:
    table = opened("people")
    one, other = (run("auto", table.private, k=6, epsilon=0.01, delta=1e-6, seed=seed) for seed in (0, 1))
    moved = one.unit_centers - other.unit_centers[match(one.unit_centers, other.unit_centers)]
    assert np.median(np.linalg.norm(moved, axis=1)) > 0.5
    for of in (one, other):
        assert "noise moves a centre" not in title_of(of)
        assert any(words in title_of(of) for words in ("failed", "noise alone", "lost in noise", "edge of the bounds"))


def test_found_does_not_say_eleven_of_fifteen_beside_ninety_nine_percent() -> None:
    table = opened("fifteen")
    rows = clip_rows(table.private.reveal(note="test"), table.domain.region)
    points, reference = np.asarray(rows.points), find_reference(rows, 15)
    labels = table.labels
    assert labels is not None
    told = 0
    for seed in range(8):
        of = run("eugkm", table.private, k=15, epsilon=0.1, seed=seed)
        accuracy = label_accuracy(labels[rows.kept], assign(points, of.unit_centers))
        found = measure_recovery(points, of.unit_centers, reference)
        if accuracy > 0.98:
            told += 1
            assert found.found >= 14, (seed, accuracy, describe_recovery(found))
        if found.found == 15:
            assert accuracy > 0.9
    assert told, "no run that label accuracy calls good"


def test_a_refused_test_says_refused_in_the_picture() -> None:
    of = run("k-averages", opened("fifteen").private, k=5, epsilon=0.5, delta=1e-6, seed=0)
    context = RenderContext(make_view(of.domain), choose_palette("light"), epsilon=of.epsilon).with_steps_of(of)
    last = draw_picture(of.frames[-1].step, context)
    assert "nothing was released" in last.title and "refused (⊥)" in last.note
    assert "refused (⊥)" in {note["text"] for note in last.plot().layout["annotations"]}
