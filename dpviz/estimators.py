"""Private k-means behind scikit-learn's fit and predict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from dpviz.algorithms.registry import card_of
from dpviz.arrays import Array, Codes
from dpviz.check import RequestError
from dpviz.privacy.ledger import Ledger
from dpviz.privacy.queries import Relation
from dpviz.privacy.room import PrivateTable
from dpviz.runs.evaluation import assign, nicv
from dpviz.runs.run import Run, run
from dpviz.table.cluster_rows import ClusterRows
from dpviz.table.dask_tables import batches_of, in_parts, is_collection, shape_of
from dpviz.table.domain import Domain, Scaling

# Rows farther out than this many half-widths count as being there, so that squared distances stay finite.
_FAR = 1e9

RandomState = int | np.random.RandomState | np.random.Generator | None


class PrivateKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """k-means clustering whose centres are differentially private.

    **Guarantee.** One ``fit`` is (ε, δ)-DP for the chosen neighbouring relation, one row being one person, as long as
    ``bounds`` and all other parameters are public. Each further ``fit`` on the same rows spends again. Only
    ``cluster_centers_``, ``run_`` and ``ledger_`` are released; ``predict``, ``transform``, ``score`` and
    ``fit_predict`` read the rows that they are given without any privacy. An empty X is refused, as scikit-learn asks.
    The noise is study noise, not hardened against floating-point attacks.

    Parameters
    ----------
    n_clusters : int
    algorithm : str
        An id of ``dpviz.CARDS``, or ``"auto"``.
    epsilon, delta : float
        The budget of one ``fit``. δ is used by approximate algorithms only; it must be below 1/n where n is public.
    bounds : pair (lower, upper), each a number or an array of shape (d,)
        Declared bounds, data units; never taken from X. Rows outside are moved to the bounds.
    radius : float or None
        Largest distance of a row from the middle of the bounds (see ``Domain``).
    scaling : "unit" or "common"
        Each column by its own bounds, or one scale for all columns.
    relation : "add_remove" or "replace"
    n_public : int or None
        The number of rows, if it is public. Otherwise a noisy one is bought where the algorithm needs it.
    params : dict or None
        Parameters of the algorithm.
    random_state : int, RandomState, Generator or None
        None draws fresh noise. Anything else makes a study repeatable and is not fit for a release.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, d)
        Released centres, data units.
    ledger_ : Ledger
        What was spent, and on what.
    run_ : Run
        The frames of the run: released steps.
    n_features_in_ : int
    feature_names_in_ : array of shape (d,)
        If X had column names.

    Notes
    -----
    There is no ``labels_`` and no ``inertia_``: they are functions of private rows. ``predict`` and ``score`` compute
    them on request. Under ``add_remove`` a row with a missing or infinite cell is dropped; under ``replace`` the middle
    of the bounds stands in for it.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz import PrivateKMeans
    >>> X = np.random.default_rng(0).uniform(0, 10, (500, 2))
    >>> model = PrivateKMeans(n_clusters=3, epsilon=1.0, bounds=(0, 10)).fit(X)
    >>> model.cluster_centers_.shape
    (3, 2)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        algorithm: str = "auto",
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bounds: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        radius: float | None = None,
        scaling: str | Scaling = "unit",
        relation: str | Relation = "add_remove",
        n_public: int | None = None,
        params: Mapping[str, Any] | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.algorithm = algorithm
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.radius = radius
        self.scaling = scaling
        self.relation = relation
        self.n_public = n_public
        self.params = params
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> PrivateKMeans:
        """Spend (ε, δ) on private centres of X, shape (n, d), data units; ``y`` is ignored.

        X may be a Dask array or data frame: its rows stay where they are, and its number of rows need not be known.

        **Guarantee.** (ε, δ)-DP; see the class.

        Raises
        ------
        ValueError
            If no bounds are declared, or a parameter is outside its range; nothing is released then.
        """
        lower, upper = self._declared_bounds()
        table = self._table(X, lower, upper)
        card = card_of(self.algorithm)
        params = card.params.parse(self.params or {})
        if params.points_per_row(self.n_clusters) > 1:
            raise RequestError(
                "PrivateKMeans gives every row of X one cluster, and with these params a row holds several points: "
                "use dpviz.run, or rows = records."
            )
        self.run_: Run = run(
            card,
            table,
            k=self.n_clusters,
            epsilon=self.epsilon,
            delta=self.delta,
            params=params,
            seed=_seed(self.random_state),
        )
        self.cluster_centers_: Array = self.run_.centers
        self.ledger_: Ledger = self.run_.ledger
        return self

    def predict(self, X: Any) -> Codes:
        """Nearest centre of each row of X, shape (n,): what scikit-learn calls ``labels_``.

        A row with a missing or infinite cell gets -1. Of a Dask collection a Dask array is made, computed when asked.

        **Guarantee.** None: this reads the private rows of X. What it returns must not be released.
        """
        if is_collection(X):
            later: Codes = in_parts(self.predict, X)
            return later
        points = self._points(X)
        complete = np.isfinite(points).all(axis=1)
        labels = np.full(len(points), -1, dtype=np.int64)
        labels[complete] = assign(points[complete], self.run_.unit_centers)
        return labels

    def transform(self, X: npt.ArrayLike) -> Array:
        """Distances of each row of X to each centre, shape (n, n_clusters), unit coordinates.

        A row with a missing or infinite cell gets NaN.

        **Guarantee.** None: this reads the private rows of X. What it returns must not be released.
        """
        distances: Array = cdist(self._points(X), self.run_.unit_centers)
        return distances

    def score(self, X: npt.ArrayLike, y: object = None) -> float:
        """Minus the sum of squared distances of the rows of X to their centres (scikit-learn's ``-inertia_``).

        Distances are in unit coordinates; rows with a missing or infinite cell and ``y`` are ignored.

        **Guarantee.** None: this reads the private rows of X. Choosing ε, k or an algorithm by such a score leaks.
        """
        points = self._points(X)
        complete = points[np.isfinite(points).all(axis=1)]
        return -nicv(complete, self.run_.unit_centers) * len(complete)

    def fit_predict(self, X: npt.ArrayLike, y: object = None) -> Codes:
        """``fit`` on X, then ``predict`` on X, shape (n,).

        **Guarantee.** None for the labels, which read the private rows of X; the fitted centres are as private as ever.
        """
        return self.fit(X).predict(X)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        # Not by scikit-learn's ClusterMixin, which promises labels_.
        tags.estimator_type = "clusterer"
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _declared_bounds(self) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        if self.bounds is None:
            raise RequestError(
                "No bounds are declared: give PrivateKMeans(bounds=(lower, upper)), numbers or arrays of shape (d,), "
                "from what is known before anyone looks at X; they are never computed from X."
            )
        try:
            lower, upper = self.bounds
        except (TypeError, ValueError):
            raise RequestError("bounds is not a pair: give (lower, upper), numbers or arrays of shape (d,).") from None
        return lower, upper

    def _table(self, X: Any, lower: npt.ArrayLike, upper: npt.ArrayLike) -> PrivateTable:
        collection = is_collection(X)
        # Of a collection only the shape and the names are looked at here: a row is read where it lies.
        values = self._values(shape_of(X) if collection else X, reset=True)
        columns = getattr(self, "feature_names_in_", [f"x{place}" for place in range(self.n_features_in_)])
        domain = Domain.of(columns, lower, upper, radius=self.radius, scaling=self.scaling)
        if not collection:
            return PrivateTable(values, domain, relation=self.relation, n_public=self.n_public)
        drops = Relation(self.relation) is Relation.ADD_REMOVE
        rows = ClusterRows.of(batches_of(X), domain, drop_incomplete=drops)
        return PrivateTable.over(rows, domain, relation=self.relation, n_public=self.n_public)

    def _points(self, X: npt.ArrayLike) -> Array:
        """Rows in unit coordinates, NaN where a cell is missing or infinite."""
        check_is_fitted(self)
        domain = self.run_.domain
        values = self._values(X, reset=False)
        far = _FAR * domain.scale
        near = np.clip(values, domain.center - far, domain.center + far)
        return domain.to_unit(np.where(np.isfinite(values), near, np.nan))

    def _values(self, X: npt.ArrayLike, *, reset: bool) -> Array:
        """X as a checked float64 array. Missing cells are accepted: a refusal would tell that somebody has one."""
        try:
            values: Array = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite=False)
        except ValueError as error:
            raise RequestError(_without_values(str(error))) from None
        return values


# How scikit-learn's messages about shapes and names begin; its others may print the array, or quote a cell.
_NO_VALUES = ("Found array with", "X has ", "The feature names should match")


def _without_values(message: str) -> str:
    """Why scikit-learn refused X, with no value of X in it."""
    if message.startswith(_NO_VALUES):
        return message
    if message.startswith("Expected 2D array"):
        return "X does not have two dimensions: give rows and columns. Reshape your data to (n, d)."
    if message.startswith("Complex data not supported"):
        return "Complex data not supported: give real numbers."
    return "X is not a table of numbers: give numeric columns of one length, without text."


def _seed(random_state: RandomState) -> int | None:
    if random_state is None:
        return None
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, int | np.integer):
        if random_state < 0:
            raise RequestError(f"random_state is {random_state}: give a whole number of at least 0, or None.")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
