"""Rows as the bounds leave them: what private algorithms read, and what everything is judged on."""

import numpy as np
from scipy import sparse

from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.core.revealed_rows import Revealed
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import evaluate, find_reference


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
