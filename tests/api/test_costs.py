"""What fits cost together: an account adds it up and refuses beyond its cap; without one, the second fit warns."""

import pickle
import sqlite3
import warnings
from contextlib import closing
from unittest.mock import Mock

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from dpviz import Account, ChoiceWarning, PrivacyWarning, PrivateKMeans, RequestError
from dpviz.api import costs
from dpviz.releases.account import AccountExceeded, State
from tests.cases import about
from tests.contract.tables import make_blobs

VALUES = make_blobs(120)


def model(**changes) -> PrivateKMeans:
    return PrivateKMeans(**{"n_clusters": 2, "algorithm": "dplloyd", "delta": 0.0, "bounds": (-1, 1), **changes})


def search(estimator: PrivateKMeans, **options) -> GridSearchCV:
    return GridSearchCV(estimator, {"n_clusters": [1, 2, 3]}, **options)


@pytest.fixture
def account() -> Account:
    return Account.temporary(cap_epsilon=5)


@pytest.fixture
def nothing_counted(monkeypatch):
    """A process that has fitted nothing yet."""
    monkeypatch.setattr(costs, "_uncounted", [])
    monkeypatch.setattr(costs, "_warned", set())


class Untouchable:
    """Rows that nobody may read."""

    shape = (120, 2)

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise AssertionError("a row was read")

    def __len__(self) -> int:
        raise AssertionError("the rows were counted")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more of the test scores")
def test_a_search_that_passes_over_failed_fits_is_charged_for_no_more(account):
    """By scikit-learn's default a fit that fails is a warning; the best model of all is refused when it is fitted."""
    with pytest.raises(AccountExceeded, match=r"0 of 5 is left"):
        search(model(account=account)).fit(VALUES)
    assert len(account.standing().entries) == 5


def test_a_search_without_account_warns_once_of_what_fits_cost_together(nothing_counted):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        search(model(epsilon=0.5), cv=2).fit(VALUES)
    fits = [str(one.message) for one in seen if one.category is PrivacyWarning]
    choices = [str(one.message) for one in seen if one.category is ChoiceWarning]
    assert len(fits) == 1 and "fitted 2 private models" in fits[0] and "ε = 1 together" in fits[0]
    assert len(choices) == 1 and "true scores, which no ε pays for" in choices[0]


def test_one_fit_and_its_score_and_models_without_privacy_warn_of_nothing(nothing_counted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model().fit(VALUES).score(VALUES)
        for _ in range(2):
            model(algorithm="kmeans++").fit(VALUES)


def test_delta_is_summed_where_it_is_spent(nothing_counted, account):
    model(delta=1e-6).fit(VALUES)  # pure: no δ is spent
    with pytest.warns(PrivacyWarning, match=r"ε = 2, δ = 1e-06 together.*cap_epsilon=\.\.\., cap_delta=\.\.\.\)"):
        model(algorithm="auto", delta=1e-6).fit(VALUES)
    with pytest.raises(AccountExceeded, match=r"δ = 1e-06, and 0 of 0 is left .*delta 0.*a cap for δ \(cap_delta"):
        model(algorithm="auto", delta=1e-6, account=account).fit(VALUES)
    model(delta=1e-6, account=account).fit(VALUES)
    assert account.standing().spent_delta == 0


@pytest.mark.slow
def test_other_processes_charge_an_account_in_a_file_and_none_that_ends_with_this_one(tmp_path, account):
    path = tmp_path / "account.sqlite"
    Account.new(path, name="town", cap_epsilon=50)
    cross_val_score(model(account=path), VALUES, n_jobs=2, cv=4)
    assert len(Account.open(path).standing().entries) == 4
    with Account.open(path):
        cross_val_score(model(), VALUES, n_jobs=2, cv=3)
    assert len(Account.open(path).standing().entries) == 7
    with pytest.raises(RequestError, match=r"ends with its process, and this is another one: .*Account\.new"):
        cross_val_score(model(account=account), VALUES, n_jobs=2, cv=2, error_score="raise")
    assert not account.standing().entries


def test_copies_and_a_with_block_share_an_account(account):
    paid = model(account=account)
    for one in (clone(paid), pickle.loads(pickle.dumps(paid)), paid):
        one.fit(VALUES)
    with account:
        assert Account.current() == account
        model(epsilon=0.5).fit(VALUES)
        with Account.temporary(cap_epsilon=1) as inner:
            model(epsilon=0.25).fit(VALUES)
    assert Account.current() is None
    assert "ε: 3.5 of 5 spent, 1.5 left" in account.summary()
    assert account.standing().spent_epsilon == 3.5 and inner.standing().spent_epsilon == 0.25


def test_what_an_account_does_not_bear_is_refused_before_a_row_is_read(account, tmp_path):
    full, damaged = Account.temporary(cap_epsilon=1), tmp_path / "damaged.sqlite"
    model(account=full).fit(VALUES)
    damaged.write_bytes(b"nothing of the kind" * 100)
    locked = Account.new(tmp_path / "locked.sqlite", name="locked", cap_epsilon=5).path
    with closing(sqlite3.connect(locked, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        for one, why in (
            (full, "0 of 1 is left"),
            (damaged, "is no account"),
            (tmp_path / "none.sqlite", "There is no account"),
            (Account(locked, patience=0.01), "is locked by another program"),
        ):
            with about(why), pytest.raises(RequestError, match=why):
                model(account=one).fit(Untouchable())
    with pytest.raises(RequestError, match="a cap for δ"):
        model(account=account, algorithm="auto", delta=1e-6).fit(Untouchable())
    # Rows of persons, and rows, are other units: their ε do not add up.
    model(account=account).fit(VALUES)
    with pytest.raises(RequestError, match="unit of privacy"):
        model(account=account).fit(VALUES, groups=np.arange(120))
    assert len(account.standing().entries) == 1


def test_a_fit_that_fails_stays_charged(account, monkeypatch):
    monkeypatch.setattr("dpviz.api.estimators.run_request", Mock(side_effect=MemoryError))
    with pytest.raises(MemoryError):
        model(account=account).fit(VALUES)
    (entry,) = account.standing().entries
    assert (entry.state, entry.why) == (State.FAILED, "MemoryError")


def test_a_refused_request_is_not_charged(account):
    for changes in ({"n_clusters": 0}, {"epsilon": -1.0}, {"params": {"unknown": 1}}, {"bounds": None}):
        with about(changes), pytest.raises(RequestError):
            model(account=account, **changes).fit(VALUES)
    assert not account.standing().entries


def test_groups_say_whose_each_row_is(account):
    names = [f"person {place // 3}" for place in range(120)]
    fitted = model(rows_per_person=3, account=account).fit(VALUES, groups=names)
    assert fitted.run_.unit == "1 person, up to 3 rows" == account.standing().unit
    # Missing ids: nobody knows whose row it is, so that it is dropped.
    half = [None if place % 2 else name for place, name in enumerate(names)]
    certain = model(epsilon=1e6, rows_per_person=3)
    sizes = [certain.fit(VALUES, groups=ids).run_.noisy_weights.sum() for ids in (names, half)]
    assert sizes == pytest.approx([120, 60], abs=0.1)
    for groups, why in ((names[1:], "not as long as the table"), (None, "no id column says whose")):
        with pytest.raises(RequestError, match=why):
            model(rows_per_person=3).fit(VALUES, groups=groups)
    with pytest.raises(RequestError, match="a weight is as private as its row"):
        model().fit(VALUES, sample_weight=np.ones(120))


def test_distances_are_in_the_units_that_are_asked_for():
    values = 100 * VALUES
    fitted = model(bounds=(-100, 100), distances="data", random_state=1).fit(values)
    expected = np.linalg.norm(values[:, None] - fitted.cluster_centers_, axis=2)
    np.testing.assert_allclose(fitted.transform(values), expected)
    np.testing.assert_allclose(fitted.set_params(distances="unit").transform(values), expected / 100)
    with pytest.raises(RequestError, match="distances is 'miles'"):
        model(distances="miles").fit(VALUES)
