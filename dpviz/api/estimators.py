"""Private k-means behind scikit-learn's fit and predict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from dpviz.algorithms import CARDS, find_card
from dpviz.api.api_sentences import make_refusal
from dpviz.api.costs import count_fit, warn_of_choice
from dpviz.core import (
    ACCESS_LOG,
    AccessKind,
    Array,
    Codes,
    Domain,
    Ledger,
    PrivateTable,
    Relation,
    RequestError,
    Scaling,
    check,
    is_sparse,
)
from dpviz.releases import Account, Charge
from dpviz.runs import Contender, Request, Run, evaluation, run_request
from dpviz.tables import DeclaredFrame, GivenRows, RowLoss, hash_ids

# Rows farther out than this many half-widths count as being there, so that squared distances stay finite.
_FAR = 1e9
# So many numbers of a sparse table are written out at once.
_WRITTEN_OUT = 2**22

RandomState = int | np.random.RandomState | np.random.Generator | None


class PrivateKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """k-means clustering whose centres are differentially private.

    **Guarantee.** One ``fit`` is (ε, δ)-DP for the chosen neighbouring relation, one row being one person (or, with
    ``groups``, one group of rows), as long as ``bounds`` and all other parameters are public. Each further ``fit`` on
    the same rows spends again: an ``account`` adds up what they cost, and refuses what goes beyond its cap. Only
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
    bounds : pair (lower, upper), each a number or an array of shape (d,), or d pairs, Domain, or dict by column name
        Declared bounds, data units; never taken from X. Rows outside are moved to the bounds. A list of pairs of
        numbers, such as ``[(0, 10), (20, 30)]``, has one pair a column; a pair of arrays, such as ``([0, 20], [10,
        30])``, is all lower and all upper bounds. Of two columns other forms that can be read both ways are refused. A
        ``Domain`` of numbers has its own radius and scaling. A dict is for a data
        frame and says of each column what a declaration says: ``[0, 100]``, ``{"bounds": [1, 1e6], "scale": "log"}``
        (or ``"root"``), ``{"categories": ["N", "S"]}``, ``{"categories": ["F", "M"], "closed": True}``, ``{"order":
        ["I", "II"]}``, ``{"dates": ["2015-01-01", "2024-12-31"]}`` or ``{"cycle": 24}``.
    categories : dict of column name to list of str, or None
        The values of columns of text, in place of ``{"categories": ...}`` in ``bounds``; never taken from X, nor from
        the categories of a pandas column, which are. Any other value, and an empty cell, is a value of its own.
    weights : dict of column name to float, or None
        How much a column counts: the half-width of numbers (1), how far two categories lie apart (√½).
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
    account : Account, path or None
        Every ``fit`` is charged to it before a row is asked about, and refused beyond its cap; copies and clones share
        it. None: the account of the ``with`` block around, if there is one.
    rows_per_person : int
        At most this many rows of a person, as ``fit`` is told by ``groups``, are used: a fair draw says which.
    distances : "unit" or "data"
        The units of what ``transform`` returns.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, d)
        Released centres, data units; of a category one coordinate for each value, the share of it.
    cluster_profiles_ : list of dict
        What each centre says of each declared column: a number, a date, or the shares of its values.
    ledger_ : Ledger
        What was spent, and on what.
    run_ : Run
        The frames of the run: released steps.
    n_features_in_ : int
        Declared columns, of which some make several coordinates.
    feature_names_in_ : array of shape (d,)
        If X had column names.

    Notes
    -----
    There is no ``labels_`` and no ``inertia_``: they are functions of private rows. ``predict`` and ``score`` compute
    them on request. Under ``add_remove`` a row with a missing or infinite cell is dropped; under ``replace`` the middle
    of the bounds stands in for it. A cell that is not as declared, such as text among numbers, is a missing one:
    what type pandas gave a column, which follows from its rows, refuses nothing (``row_loss`` tells what is lost).

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
        bounds: tuple[npt.ArrayLike, npt.ArrayLike] | npt.ArrayLike | Domain | Mapping[str, Any] | None = None,
        radius: float | None = None,
        scaling: str | Scaling = "unit",
        relation: str | Relation = "add_remove",
        n_public: int | None = None,
        params: Mapping[str, Any] | None = None,
        random_state: RandomState = None,
        categories: Mapping[str, Any] | None = None,
        weights: Mapping[str, float] | None = None,
        account: Account | str | Path | None = None,
        rows_per_person: int = 1,
        distances: str = "unit",
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
        self.categories = categories
        self.weights = weights
        self.account = account
        self.rows_per_person = rows_per_person
        self.distances = distances

    def fit(self, X: Any, y: object = None, groups: Any = None, **others: object) -> PrivateKMeans:
        """Spend (ε, δ) on private centres of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Data units: an array, a masked one (a masked cell is a missing one), a frame of pandas, Polars or Arrow, or
            a sparse array where the algorithm takes one (``dpviz.CARDS[id].sparse``). It may be a Dask array or data
            frame: its rows stay where they are, and its number of rows need not be known.
        y : ignored
        groups : array-like of shape (n,) or None
            Whose each row is: text or whole numbers, missing where nobody knows (such a row is dropped); whole numbers
            from 2^53 on as text or as pandas' ``Int64``, since others are rounded where one is missing. A person is
            then the unit of privacy, with at most ``rows_per_person`` rows.
        **others
            What scikit-learn may pass on; refused unless it is known.

        Returns
        -------
        PrivateKMeans
            Itself, with centres in data units.

        **Guarantee.** (ε, δ)-DP; see the class.

        Raises
        ------
        ValueError
            If no bounds are declared, a parameter is outside its range, or the account does not bear it (as
            ``AccountExceeded``); nothing is charged or released then.
        """
        _refuse_others(others)
        given = GivenRows.read(X)
        check.one_of(("unit", "data"), distances=self.distances)
        card, account = find_card(self.algorithm), Account.current() if self.account is None else self.account
        if account is not None and not isinstance(account, Account):
            account = Account.open(account)
        params = card.params.parse(self.params or {})
        request = Request(Contender.of(card, params), self.n_clusters, self.epsilon, self.delta)
        if account is not None and card.private:  # before a row is read
            check.check_delta(None, delta=self.delta)
            account.standing().refuse_cost(check.epsilon(epsilon=self.epsilon), request.spent_delta)
        table = self._make_table(given, groups)
        if params.points_per_row(self.n_clusters) > 1:
            raise make_refusal("several_points")
        request = replace(request, seed=_choose_seed(self.random_state))
        request.check(table)
        with count_fit(_make_charge(request, table), account) if card.private else nullcontext():
            self.run_: Run = run_request(request, table)
        self.cluster_centers_: Array = self.run_.centers
        self.cluster_profiles_: list[dict[str, Any]] = [self.run_.domain.describe(one) for one in self.cluster_centers_]
        self.ledger_: Ledger = self.run_.ledger
        return self

    def predict(self, X: Any) -> Codes:
        """Nearest centre of each row of X, shape (n,): what scikit-learn calls ``labels_``.

        A row with a missing or infinite cell gets -1. Of a Dask collection a Dask array is made, computed when asked.

        **Guarantee.** None: this reads the private rows of X. What it returns must not be released.
        """
        if (given := GivenRows(X)).is_collection:
            later: Codes = given.compute_in_parts(self.predict)
            return later
        labels = []
        for points in self._scale_points(X):
            complete = np.isfinite(points).all(axis=1)
            labels.append(np.full(len(points), -1, dtype=np.int64))
            labels[-1][complete] = evaluation.assign(points[complete], self.run_.unit_centers)
        return np.concatenate(labels)

    def transform(self, X: npt.ArrayLike) -> Array:
        """Distances of each row of X to each centre, shape (n, n_clusters), in units as ``distances`` says.

        A row with a missing or infinite cell gets NaN.

        **Guarantee.** None: this reads the private rows of X. What it returns must not be released.
        """
        parts = self._scale_points(X)
        if self.distances == "data":
            return np.concatenate([cdist(self.run_.domain.from_unit(one), self.run_.centers) for one in parts])
        return np.concatenate([cdist(one, self.run_.unit_centers) for one in parts])

    def score(self, X: npt.ArrayLike, y: object = None) -> float:
        """Minus the sum of squared distances of the rows of X to their centres (scikit-learn's ``-inertia_``).

        Distances are in unit coordinates; rows with a missing or infinite cell and ``y`` are ignored.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Data units.
        y : ignored

        Returns
        -------
        float
            At most 0.

        **Guarantee.** None: this reads the private rows of X. Choosing ε, k or an algorithm by such a score leaks.
        """
        ACCESS_LOG.add_look("", AccessKind.LOSS)
        parts = self._scale_points(X)
        warn_of_choice()
        whole = [points[np.isfinite(points).all(axis=1)] for points in parts]
        return -fsum(evaluation.nicv(rows, self.run_.unit_centers) * len(rows) for rows in whole if len(rows))

    def row_loss(self, X: Any) -> RowLoss:
        """What of X counts for nothing: missing or infinite cells by column, and the rows that they cost.

        It needs no fit: what is declared decides.

        **Guarantee.** None: this reads the private rows of X. What it returns must not be released.
        """
        ACCESS_LOG.add_look("", AccessKind.ROWS)
        given, asked = GivenRows.read(X), clone(self)
        asked._frame = asked._declare_frame(given)
        values = asked._check_values(given, reset=True)
        names = getattr(asked, "feature_names_in_", [f"x{place}" for place in range(asked.n_features_in_)])
        return RowLoss.count(values, list(names), dropped=Relation(self.relation) is Relation.ADD_REMOVE)

    def fit_predict(self, X: npt.ArrayLike, y: object = None, groups: Any = None) -> Codes:
        """``fit`` on X, then ``predict`` on X, shape (n,).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Data units.
        y : ignored
        groups : array-like of shape (n,) or None
            Whose each row is.

        Returns
        -------
        int array of shape (n,)
            The cluster of each row.

        **Guarantee.** None for the labels, which read the private rows of X; the fitted centres are as private as ever.
        """
        return self.fit(X, groups=groups).predict(X)

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets; the account of a ``with`` block goes with it, so that it is charged there, too."""
        state: dict[str, Any] = super().__getstate__()
        if state.get("account") is None:
            state = {**state, "account": Account.current()}
        return state

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        # Not by scikit-learn's ClusterMixin, which promises labels_.
        tags.estimator_type = "clusterer"
        tags.input_tags.allow_nan = True
        # A cell of text is no reason to refuse the others: it is a missing one.
        tags.input_tags.string = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _make_domain(self) -> Domain:
        """The domain of what is declared by name, or of as many numbers as X has columns."""
        if self._frame is not None:
            return replace(self._frame, radius=self.radius, scaling=self.scaling).make_domain()
        columns = getattr(self, "feature_names_in_", None)
        if isinstance(given := self.bounds, Domain):
            if given.declared:
                raise make_refusal("domain_of_values")
            if given.dim != self.n_features_in_ or (columns is not None and tuple(columns) != given.columns):
                raise make_refusal("other_domain", columns=given.columns)
            if self.radius not in (None, given.radius) or self.scaling not in (Scaling.UNIT, given.scaling):
                raise RequestError("bounds is a Domain, which has its own radius and scaling: leave them out.")
            return given
        names = [f"x{place}" for place in range(self.n_features_in_)] if columns is None else columns
        lower, upper = DeclaredFrame.read_bounds(self.bounds, len(names))
        return Domain.of(names, lower, upper, radius=self.radius, scaling=self.scaling)

    def _make_table(self, given: GivenRows, groups: Any) -> PrivateTable:
        if given.is_collection and groups is not None:
            raise RequestError("Of a Dask collection no groups are taken: use `dpviz run` with an id column instead.")
        if self.bounds is None and self.categories is None:
            raise make_refusal("nothing_declared")
        self._frame: DeclaredFrame | None = self._declare_frame(given)
        if given.is_collection:
            return self._make_table_of_parts(given)
        # What is declared is refused before a row is looked at; how many plain numbers there are, only X says.
        domain = None if self._frame is None else self._make_domain()
        return PrivateTable(
            self._check_values(given, reset=True),
            domain or self._make_domain(),
            relation=self.relation,
            n_public=self.n_public,
            # Each id is read by itself, whatever type the others make of it.
            persons=None if groups is None else hash_ids(groups),
            rows_per_person=self.rows_per_person,
        )

    def _make_table_of_parts(self, given: GivenRows) -> PrivateTable:
        """Of a collection only the shape and the names are looked at here: a row is read where it lies."""
        if self._frame is None:
            self._check_values(given.make_example(), reset=True)
        domain = self._make_domain()
        if self._frame is not None:
            validate_data(self, pd.DataFrame(columns=list(given.values.columns)), reset=True, skip_check_array=True)
        if self.rows_per_person != 1:
            raise RequestError("Of a Dask collection every row is a person's only one: leave rows_per_person at 1.")
        rows = given.prepare(domain, self._frame, drop_incomplete=Relation(self.relation) is Relation.ADD_REMOVE)
        return PrivateTable.over(rows, domain, relation=self.relation, n_public=self.n_public)

    def _declare_frame(self, given: GivenRows) -> DeclaredFrame | None:
        """What is declared of the columns by their names; None where a pair of bounds is all there is."""
        if not isinstance(self.bounds, Mapping) and self.categories is None and self.weights is None:
            return None
        if not hasattr(given.values, "columns"):
            raise RequestError("X has no column names: give a data frame where columns are declared by name.")
        if isinstance(self.bounds, Domain):
            raise RequestError("bounds is a Domain: declare categories and weights with bounds by column name.")
        return DeclaredFrame.of(list(given.values.columns), self.bounds, self.categories, self.weights)

    def _scale_points(self, X: npt.ArrayLike) -> Iterator[Array]:
        """Rows in unit coordinates, NaN where a cell is missing or infinite; those of a sparse table in parts."""
        check_is_fitted(self)
        values = self._check_values(GivenRows.read(X), reset=False)
        return (self._place(part) for part in list_parts(values, max(1, _WRITTEN_OUT // self.run_.domain.dim)))

    def _place(self, part: Any) -> Array:
        values: Array = part.toarray() if is_sparse(part) else part
        domain = self.run_.domain
        whole = np.isfinite(values).all(axis=1)
        points = np.full((len(values), domain.dim), np.nan)
        points[whole] = domain.to_unit(domain.limit(values[whole], far=_FAR))
        return points

    def _check_values(self, given: GivenRows, *, reset: bool) -> Array:
        """Their numbers, checked. Missing cells are accepted: a refusal would tell that somebody has one."""
        declared = self._frame
        options: dict[str, Any] = {"skip_check_array": True}
        if declared is None:
            given.refuse_other_types()
            X = given.list_numbers()
            if is_sparse(X) and not find_card(self.algorithm).sparse:
                able = ", ".join(card.id for card in CARDS.values() if card.sparse)
                raise make_refusal("written_out", who=find_card(self.algorithm).title, able=able)
            options = {"dtype": np.float64, "ensure_all_finite": False, "accept_sparse": "csr"}
        elif hasattr(given.values, "columns"):
            X = given.values
            given.refuse_other_types(declared.textual)
        else:
            raise RequestError("X has no column names: give a data frame with the columns of the declared ones.")
        try:
            values: Array = validate_data(self, X, reset=reset, **options)
        except ValueError as error:
            raise RequestError(_describe_refusal(str(error))) from None
        if declared is None:
            return values
        if len(X) == 0:
            raise RequestError("Found array with 0 sample(s): give a data frame with rows.")
        return declared.encode(X)


PrivateKMeans.__module__ = "dpviz"


# How scikit-learn's messages about shapes and names begin; its others may print the array, or quote a cell.
_NO_VALUES = ("Found array with", "X has ", "The feature names should match")


def _describe_refusal(message: str) -> str:
    """Why scikit-learn refused X, with no value of X in it."""
    if message.startswith(_NO_VALUES):
        return message
    if message.startswith("Expected 2D array"):
        return "X does not have two dimensions: give rows and columns. Reshape your data to (n, d)."
    if message.startswith("Complex data not supported"):
        return "Complex data not supported: give real numbers."
    return "X is not a table of numbers: give numeric columns of one length, without text."


def list_parts(values: Any, rows: int) -> list[Any]:
    """Sparse rows in parts of at most so many rows; whatever else as one part."""
    if not is_sparse(values):
        return [values]
    return [values[start : start + rows] for start in range(0, max(1, values.shape[0]), rows)]


def _make_charge(request: Request, table: PrivateTable) -> Charge:
    """What a fit costs, and what it is about."""
    domain = table.domain
    return Charge(
        epsilon=float(request.epsilon),
        delta=float(request.spent_delta),
        algorithm=request.algorithm,
        k=int(request.k),
        unit=table.unit,
        relation=table.relation.value,
        columns=tuple(map(str, domain.columns)),
        lower=tuple(domain.lower.tolist()),
        upper=tuple(domain.upper.tolist()),
    )


def _refuse_others(others: Mapping[str, object]) -> None:
    if others.get("sample_weight") is not None:
        raise make_refusal("no_weights")
    if unknown := others.keys() - {"sample_weight"}:
        raise TypeError(f"fit() takes X, y and groups, not {', '.join(sorted(unknown))}.")


def _choose_seed(random_state: RandomState) -> int | None:
    if random_state is None:
        return None
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, int | np.integer):
        if random_state < 0:
            raise RequestError(f"random_state is {random_state}: give a whole number of at least 0, or None.")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
