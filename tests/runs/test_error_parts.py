"""Where the error comes from: the parts add up, and each is what switching its cause off says."""

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


def measured(table: PrivateTable, contender: Contender, *, repeats: int = 2) -> ErrorParts:
    grid = StudyGrid((contender,), (3,), (1.0,), (1e-6,), repeats=repeats)
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


def test_what_a_grid_released_is_solved_anew_and_what_reads_rows_to_the_end_is_not() -> None:
    found = (measured(table_of(), Contender(algorithm), repeats=1) for algorithm in ("eugkm", "dplloyd"))
    assert [one.quantised for one in found] == [True, False]


def test_all_losses_are_read_from_clipped_rows_and_clipping_is_how_far_these_were_moved() -> None:
    table = table_of(0.3)
    found = measured(table, Contender("dplloyd"), repeats=1)
    points = table.reveal(note="test").points
    inside = np.clip(points, -1, 1)
    assert (inside != points).any()
    assert of(found, "clip") == pytest.approx(((points - inside) ** 2).sum(axis=1).mean())
    best = KMeans(3, n_init=10, random_state=0).fit(inside).inertia_ / len(inside)
    assert found.kmeans == pytest.approx(best, rel=1e-3)
    one_run = compute_study_rows(judged(table), StudyGrid((Contender("dplloyd"),), (3,), deltas=(1e-6,)))
    run = next(item for item in one_run if isinstance(item, dict))
    assert found.private / found.kmeans == pytest.approx(run["ratio"])
