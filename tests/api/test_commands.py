"""The command line in Python: the same names, the same answers, and the same refusals."""

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz import Account, RequestError
from dpviz.releases.verifying import verify
from dpviz.tables.declarations import to_json
from tests.command_line import told_by, write_points
from tests.releases.people import DECLARED, unrehearsed, write_people


def test_a_sweep_finds_what_the_command_finds(tmp_path):
    declared = {"bounds": {"x": [-1, 1], "y": [-1, 1]}}
    data, out = write_points(tmp_path / "points.csv", declaration_file=declared), tmp_path / "out"
    asked = ("--algorithms", "dplloyd,kmeans++", "--epsilons", "0.5,2", "--ks", "2", "--repeats", "2", "--jobs", 1)
    assert told_by("sweep", data, *asked, "--delta", "0", "--seed", 3, "--out", out).code == 0
    grid = {"algorithms": ["dplloyd", "kmeans++"], "epsilons": [0.5, 2.0], "ks": [2], "deltas": [0.0], "repeats": 2}
    expected = pd.read_csv(out / "results.csv")
    expected["preset"] = expected["preset"].fillna("")
    for given in ((data,), (pd.read_csv(data), declared)):
        found = dpviz.sweep(*given, **grid, seed=3, jobs=1).drop(columns="seconds")
        assert found.columns.isin(expected.columns).all()
        pd.testing.assert_frame_equal(found, expected[found.columns], check_dtype=False)
    with pytest.raises(RequestError, match="jobs"):
        dpviz.sweep(data, **grid, jobs=0)


def test_a_proposal_is_that_of_the_command(tmp_path):
    data, _ = write_people(tmp_path)
    declared = dpviz.declare(data)
    assert to_json(declared).rstrip("\n") == told_by("declare", data).out.rstrip("\n")
    assert declared.proposed and declared.columns == ("age", "income") and set(declared.lower) == {None}
    complete = dpviz.declare(data, {"bounds": {"age": [0, 100]}, "bounds_origin": "by design"})
    assert complete.proposed and (complete.columns, complete.lower) == (("age",), (0.0,))
    with pytest.raises(RequestError, match="height"):
        dpviz.declare(data, {"height": 3})


def test_a_release_is_charged_saved_and_verified(tmp_path):
    data, declaration = write_people(tmp_path)
    account = Account.temporary(cap_epsilon=1)
    made = dpviz.release(declaration, data, k=3, epsilon=1.0, account=account, words={"region": "Town"})
    saved = made.save(tmp_path / "release.zip")
    assert verify(saved).holds and account.standing().spent_epsilon == 1
    assert b"Town" in made.files["card.html"]
    with pytest.raises(RequestError, match="paid for: do not release again"):
        made.save(saved)
    with pytest.raises(RequestError, match="0 of 1 is left"):
        dpviz.release(declaration, data, k=3, epsilon=1.0, account=account)


# Each is done in the process of a release, to its rows; and what the card says of it.
BEFORE = {
    "nothing": (lambda rows: None, "it showed no row"),
    "a run": (lambda rows: dpviz.run("dplloyd", dpviz.open_table(rows, DECLARED), k=3, epsilon=10.0), "ε = 10 in all"),
    "k-means++": (
        lambda rows: dpviz.run("kmeans++", dpviz.open_table(rows, DECLARED), k=3, epsilon=1.0),
        "one look at the centres of k-means++",
    ),
    "rows": (lambda rows: dpviz.open_table(rows, DECLARED).reveal(note="a look"), "one look at rows"),
    "a study": (
        lambda rows: dpviz.sweep(rows, DECLARED, algorithms=["dplloyd"], epsilons=[1], ks=[2], repeats=2, jobs=1),
        "one look at losses on the rows and one study on them",
    ),
    "a fit without an account": (lambda rows: fit(rows), "ε = 1.5 in all"),
    "a score": (lambda rows: fit(rows, account=Account.temporary(cap_epsilon=9)).score(rows), "one look at losses"),
}


def fit(rows, **named) -> dpviz.PrivateKMeans:
    bounds = [DECLARED["bounds"][name] for name in rows.columns]
    return dpviz.PrivateKMeans(3, epsilon=1.5, delta=0.0, bounds=bounds, **named).fit(rows)


@pytest.mark.parametrize("before", BEFORE)
def test_the_card_tells_what_its_process_saw_of_the_table(tmp_path, before):
    data, _ = write_people(tmp_path)
    rows = pd.read_csv(data)[list(DECLARED["bounds"])]
    do, said = BEFORE[before]
    do(rows)
    dpviz.open_table(pd.DataFrame({"x": [0.1, 0.9]}), {"bounds": {"x": [0, 1]}}).reveal(note="another table")
    account = Account.new(tmp_path / "people.sqlite", name="people", cap_epsilon=1.0)
    with unrehearsed():
        made = dpviz.release(DECLARED, rows, k=3, epsilon=1.0, account=account)
    card = made.files["card.html"].decode()
    assert verify(made.save(tmp_path / "release.zip")).holds
    assert said in card and "by another one, is not counted" in card
    assert ("it showed no row" in card) == (before == "nothing")


@pytest.mark.filterwarnings("error::dpviz.core.check.PrivacyWarning")
def test_k_is_read_from_one_paid_synopsis():
    groups = np.array([[-0.7, -0.7], [0.7, -0.7], [0.0, 0.7]])
    values = np.repeat(groups, 1500, axis=0) + np.random.default_rng(0).normal(0, 0.04, (4500, 2))
    account = Account.temporary(cap_epsilon=1, cap_delta=1e-6)
    read = dpviz.select_k(values, most=8, epsilon=1.0, bounds=(-1, 1), random_state=1, account=account)
    assert read.suggested == 3
    assert [entry.charge.epsilon for entry in account.standing().entries] == [1.0]
    with pytest.raises(RequestError, match="most"):
        dpviz.select_k(values, most=1, epsilon=1.0, bounds=(-1, 1))
