"""Where the error comes from: the parts add up, and each is what switching its cause off says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans

from dpviz.algorithms.registry import list_private_cards
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.error_parts import ErrorParts, compute_error_parts, explain_refusal, measure_error_rows
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.study import Yardstick, compute_study_rows
from dpviz.runs.worker import Progress
from tests.cases import for_each
from tests.contract.tables import make_blobs


def judged(table: PrivateTable) -> JudgedTable:
    return JudgedTable.of(table, table.reveal(note="test"), None)


def measured(table: PrivateTable, contender: Contender, *, repeats: int = 2, epsilon: float = 1.0) -> ErrorParts:
    grid = StudyGrid((contender,), (3,), (epsilon,), (1e-6,), repeats=repeats)
    base, *rows = (item for item in measure_error_rows(judged(table), grid) if not isinstance(item, Progress))
    assert isinstance(base, Yardstick) and len(rows) == repeats
    return compute_error_parts(base, rows)


def table_of(bound: float = 1.0, *, n: int = 600) -> PrivateTable:
    return PrivateTable(make_blobs(n, 2), Domain.of(["x", "y"], -bound, bound), n_public=n)


def of(found: ErrorParts, name: str) -> float:
    return next(part.value for part in (*found.parts, found.clip) if part.name == name)


@pytest.mark.slow
@for_each("algorithm", [card.id for card in list_private_cards()])
def test_parts_of_every_private_algorithm_add_up_or_it_says_why_not(algorithm: str) -> None:
    contender = Contender(algorithm)
    if explain_refusal(contender, 3) is not None:
        with pytest.raises(RequestError):
            measured(table_of(), contender)
        return
    found = measured(table_of(0.5), contender)
    assert found.kmeans + sum(part.value for part in found.parts) == pytest.approx(found.private, rel=1e-12)
    assert of(found, "clip") > 0


@pytest.mark.slow
def test_a_grid_quantises_and_its_parts_add_up() -> None:
    found = measured(table_of(), Contender("eugkm"), epsilon=0.2, repeats=3)
    assert found.quantised and of(found, "clip") == 0
    assert of(found, "noise") > 0
    assert found.kmeans + sum(part.value for part in found.parts) == pytest.approx(found.private, rel=1e-12)


@pytest.mark.slow
def test_coarser_cells_lose_more_to_quantising() -> None:
    coarse, fine = (
        measured(table_of(), Contender("eugkm", {"theta": theta}), epsilon=100.0, repeats=1) for theta in (900.0, 1.0)
    )
    assert of(coarse, "quantise") > 10 * abs(of(fine, "quantise"))


def test_without_a_synopsis_quantising_and_interaction_are_nought_and_said_so() -> None:
    found = measured(table_of(), Contender("dplloyd"), repeats=1)
    assert not found.quantised
    assert (of(found, "quantise"), of(found, "interaction")) == (0, 0)
    assert next(part.about for part in found.parts if part.name == "quantise").startswith("0:")


def test_all_losses_are_read_from_clipped_rows_and_clipping_is_how_far_these_were_moved() -> None:
    table = table_of(0.3)
    found = measured(table, Contender("dplloyd"), repeats=1)
    points = table.reveal(note="test").points
    inside = np.clip(points, -1, 1)
    assert (inside != points).any()
    assert of(found, "clip") == pytest.approx(((points - inside) ** 2).sum(axis=1).mean())
    best = KMeans(3, n_init=10, random_state=0).fit(inside).inertia_ / len(inside)
    assert found.kmeans == pytest.approx(best, rel=1e-3)
    run = next(item for item in study_of_one(table) if isinstance(item, dict))
    assert found.private / found.kmeans == pytest.approx(run["ratio"])


def study_of_one(table: PrivateTable) -> Iterator[Any]:
    """The run that ``measured`` makes with one repeat, as a study judges it."""
    return compute_study_rows(judged(table), StudyGrid((Contender("dplloyd"),), (3,), deltas=(1e-6,)))


def test_the_local_model_says_why_not() -> None:
    assert "random message" in str(explain_refusal(Contender("lsh-local"), 3))
