"""The loss diagnostic of auto: near the truth where a run went well, and in doubt where a group was missed."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpviz.algorithms.auto.loss_diagnostic import diagnose_loss
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.core.domain import Domain, Scaling
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import nicv
from dpviz.runs.one_run import Run, run
from dpviz.runs.verdict import collect_evidence
from tests.contract.tables import NeighborSetting


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


@pytest.mark.parametrize("dim", [1, 2, 6])
def test_where_all_is_well_it_says_so_and_the_truth_lies_in_its_range(dim):
    table, done = _groups(6000, 8000, 7000, dim=dim), _fine(dim)
    assert done.loss_diagnostic is not None and done.loss_diagnostic.doubts == ()
    points = np.asarray(clip_rows(table.reveal(note="a test"), table.domain.region).points)
    share = nicv(points, done.unit_centers) / nicv(points, points.mean(axis=0)[None])
    assert done.loss_diagnostic.low <= share <= done.loss_diagnostic.high < 0.4
    assert done.loss_diagnostic.low <= done.loss_diagnostic.share <= done.loss_diagnostic.high


def test_a_group_that_noise_may_hide_raises_doubt():
    done = run("auto", _groups(1250, 1200, 100, dim=6), k=3, epsilon=0.1, delta=1e-6, seed=0)
    assert done.loss_diagnostic is not None and done.loss_diagnostic.doubts
    assert all(doubt in done.loss_diagnostic.words + "." for doubt in done.loss_diagnostic.doubts)


def test_more_noise_makes_the_range_wider_and_hides_larger_groups():
    done, ends = _fine(2), []
    steps: list[Any] = done.steps
    place = next(i for i, step in enumerate(steps) if isinstance(step, SynopsisStep))
    histogram, last = steps[place], steps[-1]
    for times in (1, 10, 100, 1000):
        steps[place] = replace(histogram, sd=times * histogram.sd)
        steps[-1] = replace(last, count_noise_sd=times * last.count_noise_sd)
        diagnostic = diagnose_loss(steps, done.domain.region)
        ends.append((diagnostic.low, diagnostic.high, len(diagnostic.doubts)))
    low, high, doubts = np.array(ends).T
    assert (np.diff(low) <= 0).all() and (np.diff(high) > 0).all() and doubts[0] == 0 and doubts[-1] == 2


def test_shares_that_are_moved_to_where_means_of_rows_can_be_are_no_way_that_a_centre_has_still_to_go() -> None:
    setting = NeighborSetting("categories", dim=4, mixed=True)
    made: Any = run("auto", setting.table(), k=3, epsilon=1.0, delta=1e-6, seed=15)
    assert "on its way" not in str(made.loss_diagnostic.doubts)
    *_, before, last = made.steps
    seen: Any = collect_evidence(made.steps, made.domain.region)
    noise = seen.sizes.widen(last.center_noise_sd * np.sqrt(made.domain.dim))
    way = np.linalg.norm(last.centers - before.centers, axis=1)
    assert seen.errors == pytest.approx(np.minimum(np.hypot(noise, way), made.domain.region.diameter))
