"""Studies: the same seed gives the same rows, and every point has its own."""

from math import inf, isnan, nan

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms.registry import list_private_cards
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.evaluation import find_reference
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import StudyGrid, Trial
from dpviz.runs.study.study import KEYS, MEASURES, Yardstick, compute_study_rows, summarise, tidy
from dpviz.runs.worker import Progress
from tests.cases import for_each
from tests.contract.tables import make_blobs, make_small_table

DPLLOYD = Contender("dplloyd")


def judged(table: PrivateTable, labels: np.ndarray | None = None) -> JudgedTable:
    return JudgedTable.of(table, table.reveal(note="test"), labels)


def rows_of(
    table: PrivateTable,
    contenders: list[Contender],
    labels: np.ndarray | None = None,
    trials: list[Trial] | None = None,
    **grid: object,
) -> list[dict]:
    settings = {"ks": (3,), "epsilons": (0.5, 4.0), "repeats": 2} | grid
    items = compute_study_rows(judged(table, labels), StudyGrid(tuple(contenders), **settings), trials=trials)
    return [item for item in items if isinstance(item, dict)]


def without_time(rows: list[dict]) -> pd.DataFrame:
    return tidy(rows).drop(columns="seconds")


def test_a_study_repeats_itself_and_another_seed_does_not() -> None:
    table = make_small_table(n_public=400)
    first, second, other = (without_time(rows_of(table, [DPLLOYD], seed=seed)) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, second)
    assert not np.allclose(first["nicv"], other["nicv"]) and first["nicv"].is_unique


def test_no_two_trials_share_a_seed() -> None:
    contenders = [DPLLOYD, Contender("dplloyd", {"preset": "su"}), Contender("dplloyd", {"rounds": 3})]
    grid = StudyGrid(tuple(contenders), (2, 3), (0.5, 1.0, 2.0), repeats=5).list_trials()
    assert len(grid) == 3 * 2 * 3 * 5
    assert len({trial.seed(0) for trial in grid}) == len({trial.key for trial in grid}) == len(grid)


@for_each("card", list_private_cards())
def test_every_algorithm_can_be_studied(card) -> None:
    table = make_small_table(n_public=400)
    (row,) = rows_of(table, [Contender(card.id)], deltas=(1e-6,), epsilons=(1.0,), repeats=1)
    assert set(KEYS) | set(MEASURES) <= set(row) and 0.9 < row["spent_epsilon"] <= 1.0
    assert row["ratio"] == pytest.approx(row["nicv"] / find_reference(judged(table).rows, 3).nicv)


@pytest.mark.slow
def test_a_study_over_n_runs_on_subsamples_and_judges_on_them() -> None:
    table = make_small_table(n_public=400)
    labels = (table.reveal(note="test").points[:, 0] > 0).astype(np.int64)
    both = rows_of(table, [DPLLOYD], ns=(None, 100), epsilons=(1.0,), labels=labels)
    plain = rows_of(table, [DPLLOYD], epsilons=(1.0,), labels=labels)
    small = tidy(both).query("n == 100")
    pd.testing.assert_frame_equal(
        without_time(plain), without_time([row for row in both if isnan(row["n"])]), check_dtype=False
    )
    assert len(small) == 2 and small["trial"].str.endswith(" n=100").all()
    again = judged(table, labels).subsample(100, seed=0)
    assert again.private.n_public == len(again.rows.points) == 100
    reference = find_reference(again.rows, 3)
    assert (small["nicv"] / small["ratio"]).to_numpy() == pytest.approx(reference.nicv)
    assert small["ratio"].median() > tidy(plain)["ratio"].median()
    assert summarise(tidy(both))["runs"].tolist() == [2, 2]


def test_a_subsample_depends_on_its_seed_and_size_alone_and_keeps_what_was_declared() -> None:
    domain, persons = Domain.of(["x", "y"], 0.0, [2.0, 6.0]), np.repeat(np.arange(30), 2)
    table = PrivateTable(domain.from_unit(make_blobs(60)), domain, persons=persons, rows_per_person=2)
    whole = judged(table)
    first, same, other = (whole.subsample(20, seed=seed).rows.points for seed in (1, 1, 2))
    assert np.array_equal(first, same) and not np.array_equal(first, other)
    assert {tuple(row) for row in first} <= {tuple(row) for row in whole.rows.points}
    private = whole.subsample(20, seed=1).private
    assert (private.unit, private.n_public, private.relation) == (table.unit, None, table.relation)
    assert np.allclose(private.reveal(note="test").points, first)
    assert whole.subsample(None, seed=1) is whole
    with pytest.raises(RequestError, match="fewer complete rows"):
        whole.subsample(61, seed=1)


def test_several_deltas_are_a_dimension_of_what_uses_them() -> None:
    gaussian = Contender("dplloyd", {"preset": "gaussian"})
    grid = StudyGrid((DPLLOYD, gaussian), (3,), deltas=(1e-6, 1e-4)).list_trials()
    assert [(trial.contender, trial.delta) for trial in grid] == [(DPLLOYD, 1e-6), (gaussian, 1e-6), (gaussian, 1e-4)]


def test_the_yardsticks_come_before_the_rows_and_progress_ends_at_the_total() -> None:
    table = make_small_table(n_public=400)
    items = list(compute_study_rows(judged(table), StudyGrid((DPLLOYD,), (2, 3), repeats=2)))
    kinds = [type(item) for item in items if not isinstance(item, Progress)]
    assert kinds == [Yardstick, Yardstick, dict, dict, dict, dict]
    progress = [item for item in items if isinstance(item, Progress)]
    assert [item.done for item in progress] == list(range(7)) and {item.total for item in progress} == {6}
    sticks = [item for item in items if isinstance(item, Yardstick)]
    assert all(stick.reference.nicv <= stick.data_independent for stick in sticks)
    assert sticks[0].one_center == sticks[1].one_center >= sticks[1].reference.nicv


@for_each(
    ("contender", "options"),
    [
        *((DPLLOYD, {name: values}) for name in ("epsilons", "deltas", "ns") for values in ((), (-1.5,))),
        *((DPLLOYD, options) for options in ({"ks": (0,)}, {"repeats": 0}, {"ns": (2,)}, {"ns": (401,)})),
        (Contender("dplloyd", {"preset": "gaussian"}), {"deltas": (0.0,)}),
        (Contender("dplloyd", {"preset": "nonsense"}), {}),
        (Contender("nonsense"), {}),
        (Contender("k-noisy-centers", {"rows": "tuples"}), {"deltas": (1e-6,)}),
    ],
)
def test_a_study_that_cannot_be_is_refused_before_anything_is_computed(contender, options) -> None:
    with pytest.raises(RequestError):
        rows_of(make_small_table(), [contender], **options)


def test_the_summary_is_the_median_and_quartiles_of_each_line() -> None:
    base = dict.fromkeys(KEYS, "") | {"k": 3, "epsilon": 1.0}
    frame = tidy([{**base, "ratio": float(value)} for value in (5, 1, 2, 4, 3)] + [{**base, "k": 4, "ratio": 7.0}])
    summary = summarise(frame)
    assert summary[["k", "median", "q25", "q75", "runs"]].to_numpy().tolist() == [[3, 3, 2, 4, 5], [4, 7, 7, 7, 1]]


def test_the_summary_survives_infinite_and_missing_values() -> None:
    frame = tidy([{**dict.fromkeys(KEYS, 0), "ratio": value} for value in (inf, inf, nan, inf)])
    line = summarise(frame).iloc[0]
    assert (line["median"], line["runs"]) == (inf, 3) and summarise(tidy([])).empty
    assert isnan(summarise(frame, "ari").iloc[0]["median"])
