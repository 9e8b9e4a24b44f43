"""Attacks on what is said of how far a row, or a person, moves an answer."""

from dataclasses import replace
from math import sqrt
from unittest.mock import patch

import numpy as np

from dpviz.core import domain as domain_module
from dpviz.core import exact_noise, private_session, queries
from dpviz.core import rows as rows_module
from dpviz.core.accounting import Accounting, Budget
from dpviz.core.domain import Domain, Region
from dpviz.core.exact_noise import ExactNoise, WholeTruth, _Finer
from dpviz.core.mechanisms import Gaussian, Laplace, PathCounts, count_below
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import Everything, Grid, HashCodes, Voronoi
from dpviz.core.private_session import PrivateSession, PrivateTable
from dpviz.core.queries import (
    ChosenSum,
    Count,
    Pull,
    Relation,
    ResidualSum,
    Sensitivity,
    SparseCount,
    Spread,
    Sum,
    Tallies,
    _Residuals,
)
from dpviz.core.rows import Rows
from tests.attacks.cases import attack, planted
from tests.contract.questions import check_move, mixed_regions, room_over

ADD_REMOVE, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE
SQUARE = Domain.of(["x", "y"], -1.0, 1.0)
CORNER = np.array([[1.0, 1.0]])
MIDDLE = np.zeros((1, 2))


def _room(values, domain=SQUARE, relation=ADD_REMOVE, **declared):
    return room_over(np.array(values, dtype=float), domain, relation, **declared)


def _truth(session, query):
    return session._compute_true_answers([query])[0]


def _tally(session, query):
    """In whole numbers, as a release has it."""
    return session._rows.total(Tallies((query,)), query.width)[0]


@planted(Sum, "sensitivity")
def _a_change_as_a_size(right, self, relation, region):
    return right(self, ADD_REMOVE, region)


@attack("OpenDP 2945", twin=_a_change_as_a_size)
def an_exchange_counts_twice():
    for one, other in ((CORNER, -CORNER), (CORNER, CORNER * [[1, -1]])):
        check_move(Sum(Everything()), _room(one, relation=REPLACE), _room(other, relation=REPLACE))


@planted(Sensitivity, "times")
def _rows_of_a_person_apart(right, self, rows):
    return replace(right(self, rows), l2=sqrt(rows) * self.l2)


@attack("OpenDP 2924", twin=_rows_of_a_person_apart)
def a_person_moves_a_tree_by_what_is_paid():
    hashes = HashCodes(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.zeros(3))
    rows = np.array([[0.9, 0.8], [0.8, -0.9], [0.2, -0.1], [-0.5, 0.5]])
    declared = {"rows_per_person": 3}
    whole = _room(rows, persons=np.array([0, 0, 0, 1]), **declared)
    without = _room(rows[3:], persons=np.array([1]), **declared)
    query, share = SparseCount(hashes), Budget(Accounting.GDP, 1.0)
    mechanism = whole.mechanism(query, PathCounts, share, levels=3, min_branch=0.0)
    nodes = np.arange(2, 16)
    moved = count_below(nodes, _truth(whole, query)) - count_below(nodes, _truth(without, query))
    assert (moved**2).sum() / mechanism.scale**2 <= share.amount * (1 + 1e-9)


@planted(PrivateSession, "project")
def _still_few_entries(right, self, frame, region):
    return right(self, frame, replace(region, nonzeros=self.region.nonzeros))


@attack("OpenDP 2949", twin=_still_few_entries)
def what_was_known_of_rows_ends_where_they_change():
    frame, region = np.array([[0.7, 0.7], [0.7, -0.7]]), Region.ball(2, 1.0)
    one, none = (_room(rows).sparsify(1).project(frame, region) for rows in ([[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0]]))
    check_move(ChosenSum(Voronoi(MIDDLE), np.array([[0, 1]])), one, none)


@planted(private_session, "find_rows_in_use")
def _complete_rows_only(right, values, persons, **_):
    return right(values, persons, drop_incomplete=True)


@attack("OpenDP 2938", twin=_complete_rows_only)
def a_missing_cell_does_not_change_a_public_number():
    rows = (np.array([[0.1, 0.2], [cell, 0.3]]) for cell in (0.4, np.nan))
    whole, missing = (PrivateTable(some, SQUARE, relation=REPLACE) for some in rows)
    assert whole.n_public == missing.n_public and len(whole._rows) == len(missing._rows)


@planted(Count, "tally")
def _as_long_as_needed(_, self, rows, cell):
    return np.bincount(cell)


@attack("OpenDP 2930", twin=_as_long_as_needed)
def the_length_of_an_answer_is_public():
    query = Count(Voronoi(np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.9]])))
    shapes = {_truth(_room(rows), query).shape for rows in ([[-0.5, 0.0]], [[-0.5, 0.0], [0.0, 0.9]], np.empty((0, 2)))}
    assert shapes == {(3,)}


@planted(Rows, "cap")
def _dealt_from_a_shuffled_table(_, self, most):
    order = np.random.default_rng(len(self)).permutation(len(self))
    kept = np.sort(np.concatenate([order[self.persons[order] == one][:most] for one in np.unique(self.persons)]))
    return Rows(self._stored[kept], self._region, persons=self.persons[kept]), kept


@attack("OpenDP 2927", twin=_dealt_from_a_shuffled_table)
def a_person_who_comes_leaves_the_rows_of_others():
    rows = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    persons = np.arange(40) // 5
    declared = {"rows_per_person": 2}
    whole = _room(rows, persons=persons, **declared)._rows
    without = _room(rows[:35], persons=persons[:35], **declared)._rows
    assert {*map(tuple, without.values)} <= {*map(tuple, whole.values)}


@planted(Rows, "cap")
def _rows_like_others_are_free(right, self, most):
    content = [tuple(row) for row in self.values]
    whose = {row: {p for r, p in zip(content, self.persons, strict=True) if r == row} for row in content}
    kept = np.union1d(right(self, most)[1], [i for i, row in enumerate(content) if len(whose[row]) > 1]).astype(int)
    return Rows(self._stored[kept], self._region, persons=self.persons[kept]), kept


@attack("Google 84", twin=_rows_like_others_are_free)
def rows_like_those_of_others_count_too():
    rows, persons = np.tile([[0.25, 0.5]], (9, 1)), np.array([0] * 7 + [1, 2])
    whole, without = _room(rows, persons=persons), _room(rows[7:], persons=persons[7:])
    check_move(Count(Everything()), whole, without)


@planted(_Finer, "whole_sensitivity")
def _rounded_down(_, self):
    return int(self.sensitivity)


@attack("OpenDP 314", twin=_rounded_down)
def a_whole_sensitivity_is_rounded_up():
    asked = []

    def drawn(truth, *, sensitivity, scale, most):
        asked.append(sensitivity)
        return truth

    for sensitivity, quantum in ((1.0, 1 / 3), (0.7, 2.0**-20), (2.5, 0.1)):
        mechanism = Laplace(sensitivity, 1.1)
        with patch.object(exact_noise, "draw_discrete_laplace", drawn):
            ExactNoise().add_noise(mechanism, WholeTruth(np.zeros(1, dtype=np.int64), quantum))
        step = quantum * 2.0 ** -_Finer.of(mechanism, quantum).bits
        assert asked[-1] * step >= sensitivity


@planted(queries, "_compute_residuals")
def _around_the_private_mean(right, rows, cell, at):
    return right(rows, cell, np.tile(np.mean(rows.values, axis=0), (len(at), 1)))


@attack("OpenDP 2923", twin=_around_the_private_mean)
def a_row_adds_what_it_comes_to_alone():
    rows = np.random.default_rng(1).uniform(-1, 1, (30, 2))
    at = np.array([[0.25, -0.5]])
    for query in (ResidualSum(Voronoi(at), at, 0.4), Spread(Voronoi(at), at, 0.4), Pull(Voronoi(at), at)):
        whole, others, alone = (_tally(_room(some), query) for some in (rows, rows[1:], rows[:1]))
        np.testing.assert_array_equal(whole - others, alone)


@planted(queries, "sum_coordinates")
def _added_in_floats(_, rows, cell, n_cells):
    return np.cumsum(np.float32(rows.values * 2.0**rows.bits / 3), axis=0, dtype=np.float32)[-1:].astype(np.float64)


@attack("Google 126", twin=_added_in_floats)
def a_sum_knows_no_order():
    rows = np.random.default_rng(2).uniform(-1, 1, (400, 2)) * 10.0 ** -(np.arange(400)[:, None] ** 0.3)
    query = Sum(Everything())
    told = {_truth(_room(some), query).tobytes() for some in (rows, rows[::-1], rows[np.argsort(rows[:, 0])])}
    assert len(told) == 1


@planted(PrivateSession, "sensitivity")
def _divided_by_the_rows(right, self, query):
    found = right(self, query)
    return replace(found, l1=found.l1 / max(1, len(self._rows)))


@attack("SmartNoise core 356", twin=_divided_by_the_rows)
def no_sensitivity_knows_the_number_of_rows():
    few, many = _room(np.zeros((2, 2))), _room(np.zeros((200, 2)))
    for query in (Sum(Everything()), Count(Voronoi(MIDDLE)), ResidualSum(Voronoi(MIDDLE), MIDDLE, 0.3)):
        assert few.sensitivity(query) == many.sensitivity(query)


@planted(_Residuals, "shorten")
def _not_shortened(_, self, clipping_radius):
    return self.values.copy()


@attack("SmartNoise 622", twin=_not_shortened)
def products_are_made_of_clipped_rows():
    check_move(Spread(Voronoi(MIDDLE), MIDDLE, 0.2), _room(np.r_[CORNER, MIDDLE]), _room(MIDDLE))


@planted(domain_module, "_compute_l1")
def _one_bound_for_both(right, half, radius):
    return right(np.full(len(half), half.min()), radius)


@attack("diffprivlib 105", twin=_one_bound_for_both)
def both_bounds_of_every_column_count():
    domain = Domain.of(["x", "y"], [0.0, 0.0], [1.0, 100.0], scaling="common")
    for x in (0.0, 1.0):
        for y in (0.0, 100.0):
            check_move(Sum(Everything()), _room([[x, y], [0.5, 50.0]], domain), _room([[0.5, 50.0]], domain))


@planted(Count, "sensitivity")
def _divided_by_dimensions(right, self, relation, region):
    return replace(right(self, relation, region), l1=1 / region.dim)


@attack("SmartNoise 472", twin=_divided_by_dimensions)
def a_histogram_of_more_columns_has_no_less_noise():
    check_move(Count(Grid.over(SQUARE.region, 3)), _room(np.r_[CORNER, MIDDLE]), _room(MIDDLE))


@planted(PrivateSession, "mechanism")
def _scaled_by_the_rows(right, self, query, kind, share, **options):
    found = right(self, query, kind, share, **options)
    return replace(found, scale=found.scale * len(self._rows))


@attack("Opacus 571", twin=_scaled_by_the_rows)
def the_noise_does_not_know_the_rows():
    share = Budget(Accounting.PURE, 1.0)
    rooms = [_room(np.zeros((n, 2))) for n in (0, 1, 2, 3)]
    assert len({room.mechanism(Sum(Everything()), Laplace, share) for room in rooms}) == 1


@planted(PrivateSession, "_draw_secret_blocks")
def _batches_of_a_permutation(_, self, number):
    return np.argsort(self._noise.uniform((len(self._rows),))) % number


@attack("Opacus 80", twin=_batches_of_a_permutation)
@attack("JAX Privacy 272", twin=_batches_of_a_permutation)
def a_row_is_drawn_into_its_block_by_itself():
    rows = np.random.default_rng(3).uniform(-1, 1, (60, 2))
    domain = SQUARE

    def dealt(some, seed):
        session = room_over(some, domain, ADD_REMOVE)
        session._noise = StudyNoise(np.random.default_rng(seed))
        return session, session._draw_secret_blocks(3)

    sizes = {tuple(np.bincount(dealt(rows, seed)[1], minlength=3)) for seed in range(5)}
    assert len(sizes) > 1
    session, blocks = dealt(rows, 0)
    last = np.argmax(np.argsort(np.argsort(session._rows.hash_rows(), kind="stable")))
    kept = np.arange(len(rows)) != last
    np.testing.assert_array_equal(dealt(rows[kept], 0)[1], blocks[kept])


@planted(private_session, "move_into_region")
def _incomplete_rows_uncounted(right, values, kept, domain):
    return right(values, kept[~np.isnan(values[kept]).any(axis=1)], domain)


@attack("OpenDP 2939", twin=_incomplete_rows_uncounted)
def what_fits_no_bin_still_counts():
    for domain in mixed_regions().values():
        rows = np.tile([0.5, 1.0, 1.0, 4.0], (5, 1))
        rows[np.arange(4), np.arange(4)] = np.nan
        assert float(_truth(_room(rows, domain, REPLACE), Count(Everything())).sum()) == 5


@planted(rows_module, "convert_to_unit")
def _refused_where_garbled(right, values, domain):
    if (np.abs(values[np.isfinite(values)]) > 1e15).any():
        raise OverflowError
    return right(values, domain)


@attack("OpenDP 2942", twin=_refused_where_garbled)
def no_cell_ends_a_run():
    for cell in (9e18, -9e18, 1e308, -1e308, 5e-324, np.inf, -np.inf, np.nan):
        for domain in mixed_regions().values():
            for column in range(4):
                rows = np.tile([0.5, 1.0, 1.0, 4.0], (3, 1))
                rows[0, column] = cell
                try:
                    _truth(_room(rows, domain), Count(Everything()))
                except Exception as error:
                    raise AssertionError(cell, column) from error


@planted(PrivateSession, "_draw_secret_blocks")
def _dealt_once(right, self, number):
    self.__dict__.setdefault("kept", right(self, number))
    return self.kept


@attack("OpenDP 2933", twin=_dealt_once)
def no_secret_deal_is_used_twice():
    session = _room(np.random.default_rng(4).uniform(-1, 1, (50, 2)))
    assert (session._draw_secret_blocks(5) != session._draw_secret_blocks(5)).any()


@planted(Gaussian, "calibrated")
def _one_record_of_two(right, cls, share, sensitivity):
    return right(cls, share, replace(sensitivity, l2=sensitivity.l2 / 2))


@attack("Google 464", twin=_one_record_of_two)
def gaussian_noise_pays_for_both_records():
    one, other = (_room(rows, relation=REPLACE) for rows in (CORNER, -CORNER))
    share = Budget(Accounting.GDP, 1.0)
    moved = np.linalg.norm(_truth(one, Sum(Everything())) - _truth(other, Sum(Everything())))
    assert (moved / one.mechanism(Sum(Everything()), Gaussian, share).scale) ** 2 <= share.amount * (1 + 1e-9)


@planted(queries, "sum_by_cell")
def _short_sums(_, values, cell, n_cells, *, weights=None):
    return np.add.reduce(np.float32(values), axis=0, dtype=np.float32, keepdims=True).astype(np.float64)


@attack("OpenDP 2941", twin=_short_sums)
def a_long_sum_is_as_exact_as_a_short_one():
    rows = np.full((60_000, 2), 1 - 2.0**-20)
    query = Sum(Everything())
    whole, others, alone = (_tally(_room(some), query) for some in (rows, rows[1:], rows[:1]))
    np.testing.assert_array_equal(whole - others, alone)
