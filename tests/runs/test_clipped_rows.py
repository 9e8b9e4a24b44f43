"""Rows as the bounds leave them: what private algorithms read, and what everything is judged on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.core.revealed_rows import Revealed
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import evaluate, find_reference
from dpviz.runs.one_run import run
from tests.contract.tables import make_blobs

BOX = Domain.of(["x", "y"], 0.0, 10.0)


def heavy(n: int = 600) -> PrivateTable:
    """Three clusters inside the bounds, and a tail of one row in twenty far outside them."""
    rng = np.random.default_rng(0)
    values = 5 * (make_blobs(n, 2) + 1)
    values[: n // 20] = 10 + rng.pareto(1.0, (n // 20, 2)) * 20
    return PrivateTable(values, BOX, n_public=n)


def test_points_of_a_row_share_how_far_it_was_moved() -> None:
    revealed = Revealed(np.array([[3.0, 0.0, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4]]), np.array([4, 7]))
    rows = clip_rows(revealed, Domain.of(list("abcd"), -1.0, 1.0).region)
    points = rows.unfold(2)
    assert points.points.tolist() == [[1, 0], [0, 0], [0.1, 0.2], [0.3, 0.4]] and points.kept.tolist() == [4, 4, 7, 7]
    assert points.clipping == rows.clipping / 2 == 1.0


def test_of_sparse_rows_the_clipping_is_not_known_and_not_said() -> None:
    values = sparse.csr_array(np.eye(6))
    table = PrivateTable(values, Domain.of([f"c{j}" for j in range(6)], -1.0, 1.0, scaling="common"), n_public=6)
    rows = clip_rows(table.reveal(note="test"), table.domain.region)
    assert np.isnan(rows.clipping)
    assert "clipping" not in evaluate(rows, np.zeros((1, 6)), find_reference(rows, 1)).to_dict()


def test_a_heavy_tail_moves_neither_the_reference_nor_the_ratio_out_of_the_bounds() -> None:
    """The reference and the private centres are judged on the same rows: those inside."""
    table = heavy()
    revealed = table.reveal(note="test")
    rows = clip_rows(revealed, table.domain.region)
    reference = find_reference(rows, 3)
    assert np.abs(reference.centers).max() <= 1
    inside = np.clip(revealed.points, -1, 1)
    assert reference.nicv == pytest.approx(KMeans(3, n_init=10, random_state=0).fit(inside).inertia_ / len(inside))
    centers = run("auto", table, k=3, epsilon=10.0, seed=0).unit_centers
    scores = evaluate(rows, centers, reference)
    loss = ((inside[:, None] - centers[None]) ** 2).sum(axis=2).min(axis=1).mean()
    assert scores.ratio == pytest.approx(loss / reference.nicv) and 0.99 < scores.ratio < 1.2
    # Judged on the rows as they are, the same centres seem many times worse than k-means++ that may go anywhere.
    free = KMeans(3, n_init=10, random_state=0).fit(revealed.points).inertia_
    assert ((revealed.points[:, None] - centers[None]) ** 2).sum(axis=2).min(axis=1).sum() / free > 3
