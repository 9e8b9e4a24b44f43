"""Columns of a data frame declared by name: what an estimator reads, and what it refuses."""

import ast

import numpy as np
import pandas as pd
import pytest

from dpviz import PrivateKMeans
from dpviz.core.check import RequestError
from dpviz.tables.given_rows import DeclaredFrame
from tests.cases import about, for_each
from tests.tables.told import compare_cases

BOUNDS = {
    "age": [0, 100],
    "income": {"bounds": [1, 1e6], "scale": "log"},
    "sex": {"categories": ["F", "M"], "closed": True},
    "hour": {"cycle": 24},
}
REGIONS = {"region": ["N", "S"]}


def frame(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """Two kinds of people: young ones of the north at noon, old ones of the south at midnight."""
    rng = np.random.default_rng(seed)
    old = rng.random(n) < 0.5
    return pd.DataFrame(
        {
            "age": np.where(old, 70, 25) + rng.normal(0, 3, n),
            "income": np.exp(np.where(old, 11, 7) + rng.normal(0, 0.2, n)),
            "sex": rng.choice(["F", "M"], n),
            "hour": np.where(old, 0, 12) + rng.uniform(-1, 1, n),
            "region": pd.Categorical(np.where(old, "S", "N")),
        }
    )


@pytest.fixture(scope="module")
def model() -> PrivateKMeans:
    return PrivateKMeans(2, epsilon=3.0, bounds=BOUNDS, categories=REGIONS, n_public=600, random_state=0).fit(frame())


def test_centres_are_told_in_the_words_of_the_declaration(model):
    young, old = sorted(model.cluster_profiles_, key=lambda one: one["age"])
    assert list(young) == ["age", "income", "sex", "hour", "region"] and model.n_features_in_ == 5
    assert model.cluster_centers_.shape == (2, 9)
    assert young["age"] == pytest.approx(25, abs=5) and old["income"] == pytest.approx(np.exp(11), rel=0.3)
    assert young["region"]["N"] > 0.9 and old["region"]["S"] > 0.9 and young["hour"] == pytest.approx(12, abs=1)
    assert sum(young["region"].values()) == pytest.approx(1) and sum(old["sex"].values()) == pytest.approx(1)


def test_what_was_never_declared_is_a_value_of_its_own_and_an_empty_number_has_no_cluster(model):
    new = frame(40, seed=1).astype({"region": object})
    nearest = model.predict(new)
    assert len({*nearest}) == 2 and np.isfinite(model.transform(new)).all() and model.score(new) < 0
    new["region"] = "elsewhere"
    np.testing.assert_array_equal(model.predict(new), nearest)
    new.loc[3, "age"] = np.nan
    new.loc[4, "sex"] = "unknown"
    new.loc[5, "region"] = None
    assert np.flatnonzero(model.predict(new) < 0).tolist() == [3, 4]


def test_categories_of_a_pandas_column_are_never_looked_at():
    one, other = frame(60), frame(60)
    other["region"] = pd.Categorical(other["region"], categories=["Z", "S", "N", "Y"])
    declared = DeclaredFrame.of(list(one.columns), BOUNDS, REGIONS, None)
    np.testing.assert_array_equal(declared.encode(one), declared.encode(other))
    np.testing.assert_array_equal(declared.encode(one)[:, 4], np.where(one["age"] > 50, 1, 0))
    labels = declared.make_domain().columns[-4:]
    assert labels == ("region = N", "region = S", "region = (any other)", "region = (missing)")


@for_each(
    "changes, why",
    [
        ({"bounds": {"age": [0, 1]}}, 'Nothing is declared of column "income"'),
        ({"categories": {}}, 'declared of column "region"'),
        ({"bounds": BOUNDS | {"zip": [0, 1]}}, 'no column "zip"'),
        ({"weights": {"zip": 1.0}}, 'no column "zip"'),
        ({"weights": {"age": 7.0}}, "no number from 0.1 to 4"),
        ({"bounds": BOUNDS | {"age": [None, 1]}}, "still open"),
        ({"bounds": BOUNDS | {"age": "0,1"}}, "not a pair of numbers"),
        ({"bounds": ([0, 1], [2, 3])}, "for the 4 columns of numbers"),
        ({"categories": {"region": ["N"] * 2}}, "repeat"),
    ],
)
def test_what_is_not_declared_or_not_there_is_one_sentence(changes, why):
    with about(changes), pytest.raises(RequestError, match=why):
        PrivateKMeans(2, **{"bounds": BOUNDS, "categories": REGIONS, **changes}).fit(frame(20))


def tell(case: str) -> str:
    """The bounds of so many columns, lower ones first, or why their form says none."""
    try:
        lower, upper = DeclaredFrame.read_bounds(*ast.literal_eval(case))
    except RequestError as refused:
        return str(refused)
    return f"{np.asarray(lower).tolist()} {np.asarray(upper).tolist()}"


def test_bounds_are_read_by_their_form_and_never_guessed():
    compare_cases("bounds.txt", tell)
    two = DeclaredFrame.read_bounds(np.array([[0, 10], [5, 9]]), 2)  # only one way has every lower bound below
    np.testing.assert_array_equal(two, ([0, 5], [10, 9]))
    np.testing.assert_array_equal(DeclaredFrame.read_bounds(np.arange(6).reshape(2, 3), 3), ([0, 1, 2], [3, 4, 5]))
    with pytest.raises(RequestError, match="two ways"):
        DeclaredFrame.read_bounds(np.array([[0, 1], [2, 3]]), 2)
