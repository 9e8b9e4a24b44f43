"""The loss diagnostic of auto: near the truth where a run went well, and in doubt where a group was missed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpviz.algorithms.auto.loss_diagnostic import collect_seen, diagnose_loss
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.card import LossDiagnostic
from dpviz.core.domain import Domain, Scaling
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import nicv
from dpviz.runs.one_run import Run, run

WAY = "the last round moved it as far as a row may pull."


def _groups(*sizes: int, dim: int) -> PrivateTable:
    rng = np.random.default_rng(3)
    middles = 0.6 * np.sign(rng.normal(size=(len(sizes), dim)))
    middles[:, 0] = np.linspace(-0.7, 0.7, len(sizes))
    middles /= np.maximum(1.0, np.linalg.norm(middles, axis=1, keepdims=True) / 0.8)
    rows = np.concatenate([middle + 0.05 * rng.normal(size=(n, dim)) for middle, n in zip(middles, sizes, strict=True)])
    radius = 1.0 if dim > 3 else None
    domain = Domain.of([f"x{j}" for j in range(dim)], -1.0, 1.0, radius=radius, scaling=Scaling.COMMON)
    return PrivateTable(rows, domain, n_public=len(rows))


@cache
def _fine(dim: int) -> Run:
    """A run in which all went well."""
    return run("auto", _groups(6000, 8000, 7000, dim=dim), k=3, epsilon=3.0, delta=1e-6, seed=0)


def _steps_of(done: Run) -> tuple[list[Any], Any, int]:
    """Its steps, the last one, and where the histogram stands."""
    steps = [frame.step for frame in done.frames]
    return steps, steps[-1], next(i for i, step in enumerate(steps) if isinstance(step, SynopsisStep))


def _share(table: PrivateTable, done: Run) -> float:
    points = np.asarray(clip_rows(table.reveal(note="a test"), table.domain.region).points)
    return nicv(points, done.unit_centers) / nicv(points, points.mean(axis=0)[None])


@pytest.mark.parametrize("dim", [1, 2, 6])
def test_where_all_is_well_it_says_so_and_the_truth_lies_in_its_range(dim):
    table, done = _groups(6000, 8000, 7000, dim=dim), _fine(dim)
    assert done.loss_diagnostic is not None and done.loss_diagnostic.doubts == ()
    assert done.loss_diagnostic.low <= _share(table, done) <= done.loss_diagnostic.high < 0.4
    assert done.loss_diagnostic.low <= done.loss_diagnostic.share <= done.loss_diagnostic.high


def test_a_group_that_noise_may_hide_raises_doubt():
    table = _groups(1250, 1200, 100, dim=6)
    done = run("auto", table, k=3, epsilon=0.1, delta=1e-6, seed=0)
    assert done.loss_diagnostic is not None and done.loss_diagnostic.doubts
    assert all(doubt in done.loss_diagnostic.words + "." for doubt in done.loss_diagnostic.doubts)


def test_a_centre_without_rows_is_named_where_the_histogram_is_in_doubt_too():
    """A light cluster has few rows in every good run: alone that is no reason to doubt one."""
    done = _fine(2)
    steps, last, place = _steps_of(done)
    steps[-1] = replace(last, noisy_counts=np.array([9000.0, 1.5 * last.count_noise_sd, 9000.0]))
    light = diagnose_loss(steps, done.domain.region)
    steps[place] = replace(steps[place], sd=1000 * steps[place].sd)
    idle = diagnose_loss(steps, done.domain.region)
    assert light is not None and light.doubts == ()
    assert idle is not None and "Centre 2 has hardly more rows" in idle.doubts[0] and len(idle.doubts) == 2


def test_more_noise_makes_the_range_wider_and_hides_larger_groups():
    done, ends = _fine(2), []
    (steps, last, place), region = _steps_of(done), done.domain.region
    for times in (1, 10, 100, 1000):
        steps[place] = replace(done.frames[place].step, sd=times * done.frames[place].step.sd)
        steps[-1] = replace(last, count_noise_sd=times * last.count_noise_sd)
        diagnostic = diagnose_loss(steps, region)
        ends.append((diagnostic.low, diagnostic.high, len(diagnostic.doubts)))
    low, high, doubts = np.array(ends).T
    assert (np.diff(low) <= 0).all() and (np.diff(high) > 0).all()
    assert doubts[0] == 0 and doubts[-1] == 2


def test_no_number_of_a_diagnostic_reads_like_a_machine():
    for share, low, high, said in (
        (0.0512, 0.02, 0.31, "about 5.1 % of that of one centre (2 % to 31 %). So"),
        (0.996, 1e-9, 7.0, "about 100 % of that of one centre (under 0.1 % to 100 %). So"),
        (1e-11, 1e-21, 0.035, "is under 0.1 % of that of one centre (under 0.1 % to 3.5 %). So"),
    ):
        assert LossDiagnostic(share, low, high, ("So.",)).words.endswith(said)


def test_without_a_histogram_or_counts_nothing_is_said():
    (steps, *_), region = _steps_of(_fine(2)), _fine(2).domain.region
    assert diagnose_loss(steps[:1], region) is None and diagnose_loss([], region) is None
    assert diagnose_loss([s for s in steps if not isinstance(s, SynopsisStep)], region) is None
    assert run("dplloyd", _groups(600, 800, 700, dim=2), k=3, epsilon=3.0, seed=0).loss_diagnostic is None


def test_rows_in_wide_cells_are_counted_as_what_is_left():
    """Rows lie some way from the middle of their cell: a run whose cells are as wide as its clusters says no less."""
    (steps, last, _), region = _steps_of(_fine(2)), _fine(2).domain.region
    seen, said = collect_seen(steps, region), diagnose_loss(steps, region)
    assert seen is not None and said is not None and seen.flat and seen.k == 3 and not seen.tail
    assert said.share == pytest.approx((seen.loss + seen.width) / (seen.of_one + seen.width))
    assert 1 <= seen.crowded <= 3 and seen.moved < seen.loss
    assert seen.noise == pytest.approx(2 * (last.noisy_counts * last.center_noise_sd**2).sum() / 21_000)


def test_a_centre_that_the_last_round_moved_as_far_as_a_row_may_pull_had_not_arrived():
    """A light group far away is on its way for many rounds: middles of wide cells do not tell, and this does."""
    done = _fine(6)
    steps, last, _ = _steps_of(done)
    noise = np.sqrt(6) * last.center_noise_sd[1]
    for part, doubted in ((0.6, False), (0.8, True)):
        before = last.centers.copy()
        before[1, 0] -= part * last.clipping_radius + noise
        for radii in (None, np.full(3, last.clipping_radius)):
            steps[-1] = replace(last, previous=before, clipping_radii=radii)
            said = diagnose_loss(steps, done.domain.region)
            assert said is not None and said.doubts == ("Centre 2 was still on its way: " + WAY,) * doubted
