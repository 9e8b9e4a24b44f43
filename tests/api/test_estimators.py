"""The estimator keeps scikit-learn's contract, and its privacy."""

import pickle
import traceback
from contextlib import suppress
from unittest import SkipTest

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpviz import CARDS, Domain, PrivateKMeans, RequestError
from dpviz.tables.codings import make_coded_domain
from tests.cases import about, for_each
from tests.contract.tables import make_blobs

SECRET, XY = "wd40-secret", Domain.of(["x", "y"], -1, 1)


def model(**changes) -> PrivateKMeans:
    return PrivateKMeans(**{"n_clusters": 3, "epsilon": 5.0, "bounds": (-1, 1), "random_state": 0, **changes})


# What the checks look at is the same code whatever the algorithm: two go through all of them, unlike in all else.
@pytest.mark.parametrize(
    "model",
    [
        PrivateKMeans(bounds=(-10, 10)),
        pytest.param(
            PrivateKMeans(bounds=(-10, 10), algorithm="dplloyd", relation="replace", delta=0, scaling="common"),
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda model: model.algorithm,
)
def test_scikit_learn_contract(model):
    checked = 0
    for estimator, check in parametrize_with_checks([model]).args[1]:
        with about(check), suppress(SkipTest):  # what asks for a library that is not here
            check(estimator)
            checked += 1
    assert checked > 40


@pytest.mark.some(8)
@pytest.mark.parametrize(
    ("algorithm", "relation"), [*((card, "add_remove") for card in CARDS), ("auto", "replace"), ("dplloyd", "replace")]
)
def test_every_algorithm_keeps_the_contract(algorithm, relation):
    """Of scikit-learn's checks what an algorithm could break: what comes in, what is kept, and that it repeats."""
    made = model(algorithm=algorithm, relation=relation)
    settings, values = pickle.dumps(made.get_params()), make_blobs(120)
    values.flags.writeable = False
    before = values.tobytes()
    assert made.fit(values) is made
    assert values.tobytes() == before and pickle.dumps(made.get_params()) == settings
    assert made.n_features_in_ == 2 and made.cluster_centers_.shape == (3, 2)
    labels = made.predict(values)
    assert labels.shape == (120,) and set(labels) <= {0, 1, 2}

    # Once more, from a copy, in another order of memory, and with the names of columns.
    np.testing.assert_array_equal(clone(made).fit(values).predict(values), labels)
    np.testing.assert_array_equal(made.fit(np.asfortranarray(values)).predict(values), labels)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(made)).predict(values), labels)
    frame = pd.DataFrame(values, columns=["length", "width"])
    np.testing.assert_array_equal(clone(made).fit(frame).predict(frame), labels)

    # One column, one row, other settings, and what it was not fitted to.
    made.set_params(n_clusters=1, random_state=2)
    assert made.fit(values[:, :1]).cluster_centers_.shape == (1, 1)
    with pytest.raises(ValueError, match="X has 2 features"):
        made.predict(values)
    assert np.isfinite(made.fit(values[:1]).cluster_centers_).all()
    with pytest.raises(NotFittedError):
        clone(made).predict(values)


def test_rows_that_are_tuples_have_no_cluster_of_their_own():
    tuples = model(n_clusters=2, algorithm="k-noisy-centers", relation="replace", params={"rows": "tuples"})
    with pytest.raises(RequestError, match=r"use dpviz\.run"):
        tuples.fit(make_blobs(100, 4))


def test_no_function_of_the_rows_is_kept():
    values = make_blobs(5000)
    fitted = model().fit(values)
    assert not hasattr(fitted, "labels_") and not hasattr(fitted, "inertia_")
    kept = pickle.dumps(fitted)
    assert values[0].tobytes() not in kept and len(kept) < values.nbytes


def test_labels_distances_and_score_agree():
    values = make_blobs(300)
    fitted = model().fit(values)
    distances = fitted.transform(values)
    np.testing.assert_array_equal(fitted.predict(values), distances.argmin(axis=1))
    assert fitted.score(values) == pytest.approx(-(distances.min(axis=1) ** 2).sum())
    np.testing.assert_array_equal(model().fit_predict(values), fitted.predict(values))


def test_incomplete_rows_are_dropped_in_fit_and_marked_in_predict():
    values = make_blobs(300)
    holes = np.vstack([values, [[np.nan, 0.5], [0.5, np.inf]]])
    np.testing.assert_array_equal(model().fit(holes).cluster_centers_, model().fit(values).cluster_centers_)
    fitted = model().fit(holes)
    assert fitted.predict(holes)[-2:].tolist() == [-1, -1]
    assert np.isnan(fitted.transform(holes)[-2:]).any()
    assert fitted.score(holes) == pytest.approx(fitted.score(values))


@pytest.mark.parametrize("make", [lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)])
def test_a_random_state_repeats_a_study(make):
    values = make_blobs(300)
    fits = [model(random_state=state).fit(values).cluster_centers_ for state in (make(), make(), None, None)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[2], fits[3]), "without one, noise is fresh"


@for_each(
    ("changes", "sentence"),
    [
        ({"bounds": None}, r"bounds=\(lower, upper\).*never computed from X"),
        *(({"bounds": 3}, "not a pair"), ({"bounds": (1, 1)}, "not below")),
        *(({"bounds": ([0, 0, 0], 1)}, "lower has shape"), ({"n_public": 1000, "delta": 1e-3}, "1/n")),
        *(({"relation": "replace", "delta": 0.03}, "1/n"), ({"relation": "swap"}, "relation")),
        *(({"epsilon": 0}, "from 0.001"), ({"epsilon": np.inf}, "from 0.001")),
        *(({"n_clusters": 0}, "from 1"), ({"n_public": 2}, "at most that many")),
        *(({"algorithm": "dbscan"}, "choose one of"), ({"params": {"depth": 3}}, "no parameter 'depth'")),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_a_wrong_request_is_one_sentence(changes, sentence):
    with pytest.raises(RequestError, match=sentence):
        model(**changes).fit(make_blobs(50))


@for_each(
    "rows",
    [
        *([[[0.5, SECRET]]], np.array(SECRET), pa.table({"x": [0.5], "y": [SECRET]}), [0.123987, 0.5]),
        *(np.array([[0.123987, 1j]]), [[0.123987], [0.5, 0.5]], np.full((2, 2, 2), 0.123987)),
    ],
)
def test_an_error_never_quotes_a_cell(rows):
    with pytest.raises(RequestError) as caught:
        model().fit(rows)
    shown = "".join(traceback.format_exception_only(caught.value))
    assert SECRET not in shown and "123987" not in shown
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_list_of_pairs_is_a_pair_a_column_and_two_arrays_are_all_lower_and_all_upper():
    X = np.random.default_rng(0).uniform([0, 20], [10, 30], (400, 2))
    told = {"n_clusters": 2, "epsilon": 5.0, "random_state": 0}
    pairs = PrivateKMeans(bounds=[(0, 10), (20, 30)], **told).fit(X)
    arrays = PrivateKMeans(bounds=([0, 20], [10, 30]), **told).fit(X)
    np.testing.assert_array_equal(pairs.cluster_centers_, arrays.cluster_centers_)
    np.testing.assert_array_equal(pairs.run_.domain.lower, [0, 20])
    whole = PrivateKMeans(bounds=Domain.of(["x", "y"], [0, 20], [10, 30]), **told).fit(X)
    np.testing.assert_array_equal(whole.cluster_centers_, arrays.cluster_centers_)
    assert clone(whole).fit(pd.DataFrame(X, columns=["x", "y"])).run_.domain.columns == ("x", "y")


@for_each(
    ("changes", "sentence"),
    [
        ({"bounds": [[-1, 1], [1, 2]]}, "can be read in two ways"),
        *(({"bounds": Domain.of(names, -1, 1)}, "in this order") for names in (["y", "x"], ["x", "y", "z"])),
        *(({"bounds": XY, **more}, "its own radius") for more in ({"radius": 1.0}, {"scaling": "common"})),
        ({"bounds": XY, "weights": {"x": 0.5}}, "bounds is a Domain: declare"),
        (
            {"bounds": make_coded_domain(("x", "y"), [-1, -1], [1, 1], codings={}, weights={"x": 0.5})},
            "names of columns",
        ),
    ],
)
def test_bounds_that_may_mean_something_else_are_refused(changes, sentence):
    with pytest.raises(RequestError, match=sentence):
        model(**changes).fit(pd.DataFrame(make_blobs(50), columns=["x", "y"]))


def test_numbers_that_are_categories_pass_and_a_date_is_no_number_of_nanoseconds():
    numbers = pd.DataFrame({"x": pd.Categorical([1, 2] * 20)})
    for given in (numbers, dd.from_pandas(numbers, npartitions=2)):
        assert PrivateKMeans(n_clusters=2, bounds=(0, 3)).fit(given).cluster_centers_.shape == (2, 1)
    fitted = PrivateKMeans(n_clusters=2, bounds=(0, 3)).fit(numbers)
    dates = pd.DataFrame({"x": pd.date_range("1970-01-01", periods=40)})
    assert (fitted.predict(dates) == -1).all()
    assert {one.row_loss(dates).incomplete for one in (fitted, clone(fitted))} == {40}
    with pytest.raises(ValueError, match="complex numbers"):
        PrivateKMeans(n_clusters=2, bounds=(0, 3)).fit(da.from_array(np.ones((40, 1), dtype=complex)))
