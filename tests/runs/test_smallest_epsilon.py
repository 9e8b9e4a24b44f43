"""The smallest ε: where a known curve crosses the target, how sure it is, and when it is not reached."""

from itertools import count

import numpy as np
import pandas as pd
import pytest

from dpviz.runs.advice.advice import Target
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.request import Contender
from dpviz.runs.smallest_epsilon import SmallestEpsilon, sharpen_rows
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.study import compute_study_rows, tidy
from dpviz.runs.worker import Progress
from tests.contract.tables import make_blobs, make_small_table
from tests.sequential import usually

HALF = Target(1.1, 0.5)
EPSILONS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)


def planted(*, crossing: float, repeats: int, seed: int = 0, spread: float = 0.05, name: str = "A") -> pd.DataFrame:
    """Runs whose median loss is 1.1 exactly at ``crossing``."""
    rng = np.random.default_rng(seed)
    rows = [
        {"contender": name, "epsilon": e, "ratio": 1 + 0.1 * (crossing / e) * rng.lognormal(0, 10 * spread)}
        for e in EPSILONS
        for _ in range(repeats)
    ]
    return pd.DataFrame(rows)


def test_a_planted_crossing_is_found() -> None:
    (found,) = SmallestEpsilon.find_all(planted(crossing=0.7, repeats=400), HALF)
    assert (found.low, found.epsilon, found.high) == (0.5, 1.0, 1.0)
    runs = planted(crossing=0.7, repeats=400).query("epsilon == 1.0")["ratio"]
    assert found.typical == pytest.approx(runs.median()) and "likely between" in found.text


@pytest.mark.some(1)
@pytest.mark.parametrize(("repeats", "crossing"), [(5, 0.55), (20, 0.98)])
def test_its_interval_holds_the_truth_nine_times_in_ten(repeats: int, crossing: float) -> None:
    """The truth lies near an end of 0.5 to 1, where one who is too sure of the nearest ε tried misses it."""
    found = (
        SmallestEpsilon.find_all(planted(crossing=crossing, repeats=repeats, seed=seed), HALF)[0] for seed in count()
    )
    assert usually((one.low <= crossing <= one.high for one in found), often=0.9, rarely=0.7)


def test_what_is_not_reached_says_so_and_what_is_reached_at_once_says_or_less() -> None:
    (never,) = SmallestEpsilon.find_all(planted(crossing=500.0, repeats=9), HALF)
    assert not never.reached and never.text == "not reached up to ε = 10"
    (early,) = SmallestEpsilon.find_all(planted(crossing=0.001, repeats=9), HALF)
    assert early.epsilon == 0.1 and early.text == "ε = 0.1 or less"
    # Runs that are infinitely worse do no harm.
    frame = planted(crossing=0.7, repeats=9)
    frame.loc[:3, "ratio"] = np.inf
    assert np.isfinite(SmallestEpsilon.find_all(frame, HALF)[0].epsilon)


def test_more_runs_where_the_answer_may_lie_narrow_it() -> None:
    table = make_small_table(make_blobs(800), n_public=800)
    judged = JudgedTable.of(table, table.reveal(note="test"), None)
    grid = StudyGrid((Contender("dplloyd"),), (3,), (0.1, 1.0, 10.0), repeats=6, seed=1)
    yardstick, *rows = (item for item in compute_study_rows(judged, grid) if not isinstance(item, Progress))
    items = [*sharpen_rows(judged, grid, rows, HALF, yardstick=yardstick, rounds=3)]
    extra, done = ([item for item in items if isinstance(item, kind)] for kind in (dict, Progress))
    (before,), (after,) = (SmallestEpsilon.find_all(tidy(found), HALF) for found in (rows, rows + extra))
    assert len({row["epsilon"] for row in extra} - {*grid.epsilons}) == 3 and len(extra) == 3 * 6
    assert after.high / after.low < before.high / before.low and done[-1].fraction == 1
