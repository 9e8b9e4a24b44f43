"""PGkM: its rounds and selections, how it breeds, and what it finds."""

import numpy as np
import pytest

from dpviz.algorithms.steps import CentersStep
from dpviz.algorithms.su2016.pgkm import CARD, PGkMParams, PoolStep, plan_search
from dpviz.runs.evaluation import nicv
from dpviz.runs.one_run import run
from tests.contract.tables import NeighborSetting, make_blobs

PAPER = PGkMParams(preset="paper")


def test_the_paper_makes_seventy_one_selections_in_eight_rounds():
    search = plan_search(1000, 1.0, PAPER)
    assert (search.rounds, search.parents, search.selections) == (8, 10, 71)
    # 1.25e-3 n ε / m' from there on.
    assert plan_search(100_000, 1.0, PAPER).rounds == 12 and plan_search(10**9, 1.0, PAPER).rounds == 1000


def test_without_noise_the_best_score_never_gets_worse():
    rows = make_blobs(500, k=3, seed=4)
    table = NeighborSetting("p", n_public=500).table(rows)
    done = run(CARD, table, k=3, epsilon=1e9, params={"rounds": 12}, seed=1)
    scores = [nicv(rows, f.step.sets[f.step.chosen[0]]) for f in done.frames if isinstance(f.step, PoolStep)]
    assert (np.diff(scores) <= 1e-12).all() and scores[-1] < 0.8 * scores[0]
    last = done.frames[-1].step
    assert isinstance(last, CentersStep) and not last.public and nicv(rows, last.centers) == pytest.approx(scores[-1])
