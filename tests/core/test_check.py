"""Validators: one sentence that says what is allowed, and never a value of the data."""

from functools import partial

import numpy as np
import pytest

from dpviz.core import check
from dpviz.core.check import RequestError
from tests.cases import about, for_each


def test_a_missing_library_of_an_extra_is_a_command_and_any_other_one_is_a_defect(monkeypatch):
    monkeypatch.setitem(check._EXTRAS, "no_such_library", "app")
    with pytest.raises(RequestError, match=r'^no_such_library is not installed: pip install "dpviz\[app\]" brings it'):
        check.import_extra("no_such_library.part")
    with pytest.raises(ModuleNotFoundError):
        check.import_extra("dpviz.no_such_module")
    assert check.import_extra("math").pi > 3


def test_what_is_allowed_passes_and_anything_else_is_named_without_a_traceback():
    no_numbers = [0, -3, 1.5, np.nan, np.inf, True, "3", None, -(10**400)]
    for judge, allowed, others, said in (
        (check.positive, [1e-300, 1, 35.0, np.float64(2)], [0.0, -1.0, np.nan, np.inf], "a finite number above 0"),
        (partial(check.at_least, 1), [1, 2.0, np.int64(7), 10**400], no_numbers, "a whole number of at least 1"),
        (partial(check.within, 0.0, 1.0), [0.0, 1.0], [-1e-9, 1.1, np.nan, np.inf], "a number from 0 to 1"),
        (partial(check.one_of, ("a", "b")), ["a"], ["c", "", None], "a, b"),
    ):
        for value in allowed:
            with about(said, value):
                judge(asked=value)
        for value in others:
            refused = pytest.raises(RequestError, match=rf"^asked is .*: (give|choose one of) {said}\.$")
            with about(said, value), refused:
                judge(asked=value)


@for_each(
    ("n", "delta"),
    [(None, 0.0), (None, check.LEAST_DELTA), (10**400, 0.0), (None, 0.99), (100, 0.0099), (1, 0.5), (0, 0.0)],
)
def test_deltas_that_mean_something(n, delta):
    check.check_delta(n, delta=delta)


@for_each(
    ("n", "delta"),
    [(None, 1.0), (100, 0.01), (100, 0.5), (10**400, 1e-100), *((None, x) for x in (-1e-9, 1e-300, np.nan, np.inf))],
)
def test_a_delta_of_one_in_n_would_publish_a_row(n, delta):
    with pytest.raises(RequestError, match="delta is"):
        check.check_delta(n, delta=delta)


RANGED = [check.epsilon, check.clusters, check.rows_per_person, check.records, check.repeats, check.seed]
STRANGE = [np.nan, np.inf, -1, -(10**400), 10**400, 10**5000, "5", None, [1], True, 1j, b"x", object()]


@for_each("judge", [*RANGED, check.positive, check.check_delta])
def test_nothing_strange_passes_or_makes_a_long_sentence(judge):
    for value in STRANGE:
        with about(type(value)):
            with pytest.raises(RequestError) as said:
                judge(None, delta=value) if judge is check.check_delta else judge(number=value)
            assert len(str(said.value)) < 200


@for_each(
    ("judge", "low", "high"),
    [
        (check.epsilon, check.LEAST_EPSILON, check.MOST_EPSILON),
        (check.clusters, 1, check.MOST_CLUSTERS),
        (check.rows_per_person, 1, check.MOST_ROWS_PER_PERSON),
        (check.records, 1, check.MOST_RECORDS),
        (check.repeats, 1, check.MOST_REPEATS),
        (check.seed, 0, check.MOST_SEED),
    ],
)
def test_a_range_holds_both_of_its_ends_and_nothing_beyond(judge, low, high):
    judge(number=low)
    judge(number=high)
    for beyond in (low / 2 if isinstance(low, float) else low - 1, high * 2):
        with pytest.raises(RequestError, match=r"number is .*: give a (whole )?number from"):
            judge(number=beyond)
