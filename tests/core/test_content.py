"""What follows from a row's content: which rows of a person are kept, orders, hashes and coins."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from dpviz.core.content import (
    compute_exact_log,
    draw_content_uniforms,
    draw_content_waits,
    draw_lots,
    hash_content,
    keep_rows_per_person,
    order_by_content,
    order_persons_by_content,
)

SEEDS = st.integers(0, 2**32 - 1)


def keep(values, persons, most):
    return keep_rows_per_person(draw_lots(values, persons), persons, most)


@given(SEEDS, st.integers(1, 4), st.booleans())
def test_at_most_m_rows_of_a_person_are_kept_and_nobody_else_can_change_which(seed, most, hashed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 40))
    names = rng.integers(0, 2**62, (6, 2)) if hashed else np.arange(6)
    values, persons = rng.integers(0, 4, (n, 2)).astype(float), rng.integers(0, 6, n)
    kept = keep(values, names[persons], most)
    assert (np.diff(kept) > 0).all()
    numbers = np.bincount(persons, minlength=6)
    np.testing.assert_array_equal(np.bincount(persons[kept], minlength=6), np.minimum(numbers, most))
    # Without one person, and in another order, the others keep the same rows (as values).
    order = rng.permutation(np.flatnonzero(persons != 3))
    again = order[keep(values[order], names[persons[order]], most)]
    for person in set(persons) - {3}:
        mine, then = (sorted(map(tuple, values[some[persons[some] == person]])) for some in (kept, again))
        assert mine == then


def test_which_rows_are_kept_is_a_fair_draw_for_each_person():
    """Of three rows, two of them equal, each stays as often as the others, in any order of the file."""
    rng = np.random.default_rng(1)
    values = rng.permuted(np.tile([0.0, 1.0, 1.0], (5000, 1)), axis=1).reshape(-1, 1)
    kept = keep(values, np.repeat(rng.integers(0, 2**62, (5000, 2)), 3, axis=0), 1)
    assert abs(values[kept].mean() - 2 / 3) < 0.02
    assert abs(np.bincount(kept % 3) / len(kept) - 1 / 3).max() < 0.02


@given(SEEDS)
def test_equal_rows_have_equal_hashes_in_every_size_of_number_and_sparse(seed):
    rows = np.random.default_rng(seed).integers(-2, 3, (30, 3)) / 4
    hashes = hash_content(rows)
    np.testing.assert_array_equal(hash_content(rows.astype(np.float32)), hashes)
    np.testing.assert_array_equal(hash_content(np.where(rows == 0, -0.0, rows)), hashes)
    lean, stored = sparse.csr_array(rows), sparse.csr_array(np.where(rows == 0, 1.0, rows))
    stored.data[rows.ravel() == 0] = 0.0
    np.testing.assert_array_equal(hash_content(stored), hash_content(lean))
    for found in (hashes, hash_content(lean)):
        np.testing.assert_array_equal(found[:, None] == found, (rows[:, None] == rows).all(axis=2))


@given(SEEDS)
def test_an_order_by_content_is_the_same_from_any_order_of_the_file(seed):
    rows = np.random.default_rng(seed).integers(-2, 3, (25, 2)) / 2
    shuffled = np.random.default_rng(seed).permutation(rows)
    np.testing.assert_array_equal(rows[order_by_content(rows)], shuffled[order_by_content(shuffled)])


@given(SEEDS)
def test_persons_are_numbered_by_their_rows_and_not_by_their_ids(seed):
    rng = np.random.default_rng(seed)
    rows, persons = rng.normal(size=(30, 2)), rng.integers(0, 8, 30)
    order, names = rng.permutation(30), rng.permutation(8)
    whose, place = order_persons_by_content(rows, persons)
    again, there = order_persons_by_content(rows[order], names[persons[order]])
    np.testing.assert_array_equal(place[whose][order], there[again])
    assert sorted(place) == list(range(len(set(persons))))


def test_coins_of_rows_are_uniform_and_waits_exponential():
    rows = np.unique(np.random.default_rng(0).integers(0, 1000, (4000, 2)) / 1024, axis=0)
    for salt in (0, 1):
        uniforms, waits = draw_content_uniforms(rows, salt), draw_content_waits(rows, salt)
        assert stats.kstest(uniforms, "uniform").pvalue > 1e-3
        assert stats.kstest(waits, "expon").pvalue > 1e-3
    one, other = draw_content_uniforms(rows, 0), draw_content_uniforms(rows, 1)
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.06


@given(st.floats(2.0**-53, 1.0, exclude_max=True))
def test_our_logarithm_is_that_of_others_to_the_last_digits(uniform):
    np.testing.assert_allclose(
        compute_exact_log(np.array([uniform]), 12)[0], np.log(uniform), rtol=4e-16 * 4, atol=1e-16
    )
