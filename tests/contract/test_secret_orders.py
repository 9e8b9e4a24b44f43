"""Orders and places that nobody may know: each is uniform, whatever the order of the file, and drawn afresh.

Proofs rest on these laws (one row changes one block, one pair, one place), and no density shows them: the replay of a
whole run holds them still. So all outcomes of small cases are counted.
"""

from collections import Counter
from itertools import permutations, product
from math import perm

import numpy as np
import pytest

from dpviz.core.accounting import Accounting
from dpviz.core.block_models import BlockKMeans
from dpviz.core.content import order_by_content, order_persons_by_content
from dpviz.core.domain import Region
from dpviz.core.local_model import LocalNoise, LocalReports, UserAnswers
from dpviz.core.mechanisms import KNorm
from dpviz.core.noise import StudyNoise
from dpviz.core.private_session import PrivateSession
from dpviz.core.tuples import NoisyCenters, TupleTable, measure_pair_distances
from tests.cases import about
from tests.contract.laws import check_frequencies
from tests.contract.sessions import CoupledBlocks, open_as
from tests.contract.tables import make_small_table
from tests.core.tuple_checks import CHEAP


class Quiet(StudyNoise):
    """Draws orders, and no noise."""

    def spherical(self, scale, shape):
        return np.zeros(shape)


def noise_of(seed: int = 0) -> StudyNoise:
    return Quiet(np.random.default_rng(seed))


def check_all_alike(outcomes: list[tuple], possible: int) -> None:
    """So many outcomes are possible, and all are equally likely."""
    counts = Counter(outcomes)
    assert len(counts) == possible, f"{len(counts)} of {possible} outcomes"
    check_frequencies(np.array([*counts.values()]), np.full(possible, 1 / possible))


def _session(values: np.ndarray, persons: np.ndarray | None = None, seed: int = 0, kind=PrivateSession):
    most = 1 if persons is None else int(np.bincount(persons).max())
    table = make_small_table(values, n_public=400, persons=persons, rows_per_person=most)
    return open_as(table, kind).open(epsilon=1.0, delta=0.0, accounting=Accounting.PURE, noise=noise_of(seed))


@pytest.mark.some(1)
@pytest.mark.parametrize("persons", [None, np.array([0, 0, 1, 1, 2, 2])], ids=["rows", "persons"])
def test_a_secret_block_is_drawn_for_each_row_or_person_by_itself(persons):
    """Every way to deal rows (or persons) to two blocks is as likely as every other, by the means of the blocks."""
    rows = np.array([0.1, 0.2, 0.4, 0.8]) if persons is None else np.array([0.1, 0.3, 0.2, 0.6, 0.5, 0.9])
    whose = np.arange(4) if persons is None else persons
    units = len(set(whose))
    known = {}
    for deal in product((0, 1), repeat=units):
        block = np.array(deal)[whose]
        means = tuple(rows[block == b].mean() if (block == b).any() else -1.0 for b in (0, 1))
        known[tuple(np.round(means, 4))] = deal
    assert len(known) == 2**units
    session, model = _session(rows[:, None], persons), BlockKMeans(np.array([[-1.0]]))
    found = []
    for _ in range(60 * 2**units):
        lines = session.blocks(model, 2)._rows.values[:, 0]
        found.append(known[tuple(np.round(lines, 4))])
    check_all_alike(found, 2**units)


def test_a_row_that_goes_moves_no_other():
    """From the same noise, a table without its last row (by content) deals all others to the blocks they had."""
    values = np.linspace(-1, 1, 40)[:, None]
    for persons in (None, np.arange(40) // 2):
        for seed in range(5):
            whole = _session(values, persons, seed)
            if persons is None:
                kept = np.arange(40) != order_by_content(whole._rows.values)[-1]
            else:
                whose, place = order_persons_by_content(whole._rows.values, persons)
                kept = place[whose] < len(place) - 1
            left = _session(values[kept], None if persons is None else persons[kept], seed)
            np.testing.assert_array_equal(whole._draw_secret_blocks(7)[kept], left._draw_secret_blocks(7))


DOORS = {
    "the session itself": lambda session: session,
    "projected": lambda session: session.project(np.eye(4)[:2], Region.ball(2, 1.0)),
    "sparsified": lambda session: session.sparsify(2),
    "unfolded": lambda session: session.unfold(2),
    "projected and sparsified": lambda session: session.project(np.eye(4), session.region).sparsify(1),
}


def test_behind_every_door_the_rows_of_a_person_share_a_block():
    for door, most, kind in product(DOORS, (1, 3), (PrivateSession, CoupledBlocks)):
        with about(door, f"{most} rows a person", kind):
            persons = None if most == 1 else np.arange(24) // most
            session = DOORS[door](_session(np.random.default_rng(0).uniform(-1, 1, (24, 4)), persons, kind=kind))
            points = 2 if door == "unfolded" else 1
            blocks = session._draw_secret_blocks(50).reshape(-1, most * points)
            assert (blocks == blocks[:, :1]).all()
            assert len(set(blocks[:, 0])) > len(blocks) / 2, "and others have their own"


def test_models_of_blocks_lie_where_their_sensitivity_is_declared():
    # Anchors beyond the region stand in for blocks without rows: a row that comes must not move a line from there.
    session = _session(np.array([[0.9, 0.9]]))
    models = session.blocks(BlockKMeans(np.full((1, 2), 40.0)), 5)
    lines = models._rows.values
    np.testing.assert_array_equal(models.region.clip(lines), lines)
    assert np.abs(lines).max() <= 1.0


def test_the_tuple_that_is_tried_and_the_order_of_its_points_are_uniform():
    test = NoisyCenters(**{**CHEAP, "k": 3}, far=1400.0).test
    # Each tuple says its number, too little for the test to notice, and has its points in one order.
    number, places = np.arange(test.number), np.array([-0.8, 0.0, 0.8])
    tuples = places[None, :, None] + 1e-9 * number[:, None, None]
    noise, orders, tried = noise_of(), [], []
    while len(orders) < 400:
        found = test.centers(tuples, noise)
        if found is not None:
            orders.append(tuple(np.argsort(found[:, 0]).tolist()))
            tried.append((int(round((found.sum() - places.sum()) / 3e-9) * 7 // test.number),))
    check_all_alike(orders, 6)
    check_all_alike(tried, 7)


def test_every_way_to_pair_four_points_or_two_of_three_is_as_likely():
    for points in (np.array([0.0, 1.0, 3.0, 7.0]), np.array([0.0, 1.0, 3.0])):
        noise = noise_of()
        found = [tuple(sorted(measure_pair_distances(points[:, None], noise).tolist())) for _ in range(900)]
        check_all_alike(found, 3)


def local_noise(rows, places, noise):
    """Who stands at each place."""
    return LocalNoise(KNorm(1.0, 1.0), places).draw(TupleTable(rows[:, None]), noise)[:, 0]


def local_reports(rows, places, noise):
    """Who takes each seat."""
    mechanism = LocalReports(1.0, 1.0, 2.0, (1,), 1, np.zeros(places, dtype=np.int64), 0)
    return mechanism.seat(UserAnswers(np.zeros(len(rows), dtype=np.int64), rows), noise).vectors[:, 0]


@pytest.mark.parametrize("draw", [local_noise, local_reports])
def test_who_takes_which_place_is_uniform(draw):
    """Every way to take so many places, or to leave them empty (0), is as likely as every other."""
    for rows, places in ((3, 4), (3, 3), (4, 2)):
        with about(f"{rows} rows, {places} places"):
            possible, noise = perm(max(rows, places), min(rows, places)), noise_of()
            found = [tuple(draw(np.arange(1.0, rows + 1)[:, None], places, noise)) for _ in range(60 * possible)]
            assert set(found) <= set(permutations([*range(1, rows + 1), *[0] * max(0, places - rows)], places))
            check_all_alike(found, possible)
