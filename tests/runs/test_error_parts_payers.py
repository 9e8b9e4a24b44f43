"""Who pays: small clusters lose most, a group in them is missed with them, and the formula agrees with the draws."""

import numpy as np
import pytest

from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.error_parts import Payer, WhoPays, measure_payer_rows, summarise_payers
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.study import Yardstick
from dpviz.runs.worker import Progress

SIZES = (3000, 1000, 60)
CENTERS = np.array([[-0.6, -0.6], [0.6, 0.5], [0.5, -0.7]])


def judged(seed: int = 0) -> JudgedTable:
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(3), SIZES)
    points = np.clip(CENTERS[who] + rng.normal(0, 0.05, (len(who), 2)), -1, 1)
    table = PrivateTable(points, Domain.of(["x", "y"], -1, 1), n_public=len(who))
    return JudgedTable.of(table, table.reveal(note="test"), who)


def measured(epsilon: float, *, repeats: int = 6) -> WhoPays:
    grid = StudyGrid((Contender("auto"),), (3,), (epsilon,), (1e-6,), repeats=repeats)
    items = [item for item in measure_payer_rows(judged(), grid) if not isinstance(item, Progress)]
    assert isinstance(items[0], Yardstick) and len(items) == repeats + 1
    return summarise_payers(items[1:])


@pytest.fixture(scope="module")
def paid() -> dict[float, WhoPays]:
    return {epsilon: measured(epsilon) for epsilon in (0.05, 500.0)}


def test_a_great_deal_of_epsilon_costs_nobody_anything(paid) -> None:
    found = paid[500.0]
    assert [one.rows for one in found.clusters] == sorted(SIZES) and found.draws == 6
    assert [one[1:3] for one in found.payers if one.kind == "group"] == [("2", 60), ("1", 1000), ("0", 3000)]
    assert all(one.loss == pytest.approx(1.0, abs=0.1) and one.missed == 0 for one in found.payers)
    assert all(one.size_error < 0.1 for one in found.clusters) and found.smallest_shown == 60
    assert found.smallest < 60


def test_a_cluster_that_just_eight_of_ten_draws_find_is_shown() -> None:
    for missed, shown in ((0.2, 60), (0.25, None)):
        assert WhoPays((Payer("cluster", "1", 60, 1.0, missed, 0.0),), 50.0, 20).smallest_shown == shown


def test_the_smallest_pays_most_and_the_formula_says_from_where_on(paid) -> None:
    found = paid[0.05]
    small, *_, large = found.clusters
    assert small.loss > 2 * large.loss and small.missed > large.missed and small.size_error > large.size_error
    (group,) = [one for one in found.payers if one.kind == "group" and one.rows == 60]
    assert group.loss == pytest.approx(small.loss, rel=0.2) and group.missed == pytest.approx(small.missed, abs=0.2)
    assert found.smallest > 60 and (found.smallest_shown is None or found.smallest_shown > 60)
