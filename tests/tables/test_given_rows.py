"""What the estimator does with each kind of table: the same centres, or one sentence that names the columns."""

from collections.abc import Callable
from typing import Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from dpviz import CARDS, PrivateKMeans, RequestError
from dpviz.api.estimators import list_parts
from dpviz.tables.given_rows import GivenRows

ROWS = np.random.default_rng(0).integers(-96, 97, (60, 2)) / 32
FRAME = pd.DataFrame(ROWS, columns=["length", "width"])
NAMED = {"length": [-3, 3], "width": [-3, 3]}
SECRET = "wd40-secret"
DATES = FRAME.assign(width=pd.date_range("2024-01-01", periods=60))
TEXT = FRAME.assign(width=SECRET)
TWICE = FRAME.set_axis(["length", "length"], axis="columns")


def in_polars(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("polars").from_pandas(frame)


class Kind(NamedTuple):
    """A table, and what happens where bounds are a pair, and where they are by the names of columns.

    ok, or that all rows lack a number, or why not.
    """

    make: Callable[[], Any]
    pair: str = "ok"
    named: str = "ok"


INCOMPLETE = "incomplete"

NO_NAMES = "X has no column names"
OF_ARRAYS = "not of numbers"
SCHEMA = '"width" of X hold no numbers'
KINDS = {
    "array": Kind(lambda: ROWS, named=NO_NAMES),
    "list": Kind(ROWS.tolist, named=NO_NAMES),
    "pandas": Kind(lambda: FRAME),
    "pandas, nullable": Kind(lambda: FRAME.astype("Float64")),
    "pandas, sparse": Kind(lambda: FRAME.astype(pd.SparseDtype("float"))),
    "pandas, numbers in words": Kind(lambda: FRAME.astype(str)),
    "Polars": Kind(lambda: in_polars(FRAME)),
    "Arrow": Kind(lambda: pa.Table.from_pandas(FRAME)),
    "Dask array": Kind(lambda: da.from_array(ROWS, chunks=(25, 2)), named=NO_NAMES),
    "Dask frame": Kind(lambda: dd.from_pandas(FRAME, npartitions=3)),
    "sparse": Kind(lambda: sparse.csr_array(ROWS), "choose one of .*balcan-sparse", NO_NAMES),
    "dates": Kind(lambda: ROWS.astype("M8[s]"), f"array of dates, {OF_ARRAYS}", f"array of dates, {OF_ARRAYS}"),
    "dates, pandas": Kind(lambda: DATES, INCOMPLETE, INCOMPLETE),
    "dates, Polars": Kind(lambda: in_polars(DATES), SCHEMA, SCHEMA),
    "complex": Kind(lambda: ROWS + 1j, "complex numbers", "complex numbers"),
    "records": Kind(lambda: FRAME.to_records(index=False), f"array of records, {OF_ARRAYS}", "records"),
    "one column, no table": Kind(lambda: ROWS[:, 0], "two dimensions", NO_NAMES),
    "duplicates": Kind(lambda: TWICE, 'Two columns are called "length"', 'Two columns are called "length"'),
    "duplicates, Arrow": Kind(lambda: pa.table([ROWS[:, 0]] * 2, ["a", "a"]), 'are called "a"', 'called "a"'),
    "text": Kind(lambda: np.array([[SECRET, SECRET]]), INCOMPLETE, NO_NAMES),
    "text, pandas": Kind(lambda: TEXT, INCOMPLETE, INCOMPLETE),
    "text, categories": Kind(lambda: TEXT.astype({"width": "category"}), INCOMPLETE, INCOMPLETE),
    "text, Polars": Kind(lambda: in_polars(TEXT), SCHEMA, SCHEMA),
}


def model(**changes: Any) -> PrivateKMeans:
    return PrivateKMeans(**{"n_clusters": 2, "algorithm": "dplloyd", "bounds": (-3, 3), "random_state": 0, **changes})


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    return model().fit(ROWS).cluster_centers_


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("bounds", ["pair", "named"])
def test_each_kind_of_table_gives_the_same_centres_or_one_sentence(
    name: str, bounds: str, expected: np.ndarray
) -> None:
    kind = KINDS[name]
    happens, given = getattr(kind, bounds), kind.make()
    asked = model(bounds=NAMED if bounds == "named" else (-3, 3))
    if happens == INCOMPLETE:  # the type of a column of pandas is made of its rows, and refuses none
        fitted = asked.fit(given)
        assert fitted.cluster_centers_.shape == (2, 2) and (np.asarray(fitted.predict(given)) == -1).all()
        return
    if happens == "ok":
        fitted = asked.fit(given)
        np.testing.assert_array_equal(fitted.cluster_centers_, expected)
        np.testing.assert_array_equal(np.asarray(fitted.predict(given)), model().fit(ROWS).predict(ROWS))
        return
    with pytest.raises(RequestError, match=happens) as refused:
        asked.fit(given)
    said = str(refused.value)
    assert SECRET not in said and "\n" not in said and "2024" not in said


def test_a_masked_cell_is_a_missing_one_whatever_lies_behind_it() -> None:
    holes = ROWS.copy()
    holes[::7, 1] = np.nan
    missing = model().fit(holes)
    for behind in (0.0, 2.5):
        masked = np.ma.masked_array(np.where(np.isnan(holes), behind, holes), mask=np.isnan(holes))
        np.testing.assert_array_equal(model().fit(masked).cluster_centers_, missing.cluster_centers_)
        np.testing.assert_array_equal(missing.predict(masked), missing.predict(holes))
    whole = np.ma.masked_array(np.arange(8).reshape(4, 2), mask=np.eye(4, 2))
    assert np.isnan(GivenRows.read(whole).values).sum() == 2


def test_sparse_rows_are_served_where_an_algorithm_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = sparse.random_array((60, 200), density=0.05, format="csr", rng=np.random.default_rng(0))
    fitted = model(algorithm="balcan-sparse", epsilon=5.0, relation="replace").fit(rows)
    dense = rows.toarray()
    monkeypatch.setattr("dpviz.api.estimators._WRITTEN_OUT", 200 * 7)  # parts of seven rows
    assert len(list_parts(rows, 7)) == 9
    np.testing.assert_array_equal(fitted.predict(rows), fitted.predict(dense))
    np.testing.assert_array_equal(fitted.transform(rows), fitted.transform(dense))
    assert fitted.score(rows) == pytest.approx(fitted.score(dense), rel=1e-12)
    few = model(algorithm="balcan-sparse", epsilon=5.0).fit(sparse.csr_array(ROWS))
    np.testing.assert_array_equal(
        few.cluster_centers_, model(algorithm="balcan-sparse", epsilon=5.0).fit(ROWS).cluster_centers_
    )
    with pytest.raises(RequestError, match="evenly around 0"):
        model(algorithm="balcan-sparse", bounds=(0, 3)).fit(rows)


def test_what_needs_memory_names_all_that_does_not() -> None:
    with pytest.raises(RequestError, match="balcan-sparse") as refused:
        model(algorithm="kvariates").fit(da.from_array(ROWS))
    named = str(refused.value)
    assert [card.id for card in CARDS.values() if card.private and not card.at_once and card.id not in named] == []
