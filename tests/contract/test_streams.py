"""Two streams: whoever knows the public coins knows nothing of the noise, and neither stream waits for the other."""

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from dpviz.algorithms.registry import CARDS
from dpviz.algorithms.steps import CentersStep
from dpviz.core.accounting import Accounting
from dpviz.core.domain import Region
from dpviz.core.partitions import Everything
from dpviz.core.queries import Count
from dpviz.runs.one_run import run
from tests.contract.laws import check_independent
from tests.contract.sessions import open_seeded
from tests.contract.tables import PUBLIC

NOBODY = PUBLIC.table(np.empty((0, 2)))
RUNS = 150
# The coin of the same law as the noise: from one stream, both would be the same number.
COINS: dict[Accounting, Callable[[np.random.Generator, int], np.ndarray]] = {
    Accounting.PURE: lambda rng, n: rng.laplace(0.0, np.sqrt(0.5), n),
    Accounting.GDP: lambda rng, n: rng.normal(0.0, 1.0, n),
}


def heard(seed: int | None, accounting: Accounting, *, tosses: int = 2, releases: int = 2) -> dict[str, np.ndarray]:
    """Coins and noise, in units of their deviation, of a run that tosses so many coins before each of its releases.

    Of no rows at all: a noisy count is noise.
    """
    coins, noise = [], []

    def listening(session, k, params, rng) -> Iterator[CentersStep]:
        for share in session.budget.rounds(releases):
            coins.append(COINS[accounting](rng, tosses))
            before = rng.bit_generator.state
            noisy = session.release(Count(Everything()), share, note="x")
            assert rng.bit_generator.state == before, "a release takes numbers from the public coins"
            noise.append(noisy.value / noisy.sd)
        yield CentersStep(title="heard", centers=np.zeros((k, session.dim)))

    card = dataclasses.replace(CARDS["dplloyd"], plan=listening, needs_n=False, accounting=lambda *_: accounting)
    run(card, NOBODY, k=1, epsilon=1.0, delta=1e-6, seed=seed)
    return {"coins": np.concatenate(coins), "noise": np.concatenate(noise)}


def check_no_number_twice(columns: np.ndarray) -> None:
    """No number comes again, to within rounding."""
    assert len(np.unique(np.round(columns, 12))) == columns.size, "numbers come again"


@pytest.mark.some(2)
@pytest.mark.parametrize("seeded", [True, False], ids=["seeded", "fresh"])
@pytest.mark.parametrize("accounting", COINS, ids=lambda a: a.value)
def test_the_coins_of_a_run_tell_nothing_of_its_noise(accounting, seeded):
    """Coins and noise know nothing of each other, nor do two runs, nor does one wait for the other."""
    runs = [heard(seed if seeded else None, accounting) for seed in range(RUNS)]
    columns = np.array([np.r_[each["coins"], each["noise"]] for each in runs])
    check_no_number_twice(columns)
    check_independent(columns)
    if seeded:
        check_independent(np.c_[columns[:-1], columns[1:]])
        usual, more, longer = (heard(5, accounting, **how) for how in ({}, {"tosses": 9}, {"releases": 1, "tosses": 4}))
        np.testing.assert_array_equal(usual["noise"], more["noise"], "the noise waits for coins")
        np.testing.assert_array_equal(usual["coins"], longer["coins"], "the coins wait for noise")


def test_every_door_draws_on_one_stream():
    """Sessions behind doors share one stream of noise: no number of it is drawn a second time, in whatever session."""

    def noises(seed: int) -> list[float]:
        session = open_seeded(NOBODY, Accounting.GDP, delta=1e-6, seed=seed)
        behind = [
            session.project(np.ones((1, 2)), Region.ball(1, 1.0)),
            session.sparsify(1),
            session.unfold(2),
            session.project(np.eye(2), session.region).sparsify(1),
        ]
        share = session.budget.fraction(0.1)
        found = [
            door.release(Count(Everything()), share, note="x") for door in (session, *behind, session, *behind[::-1])
        ]
        return [float(each.value[0] / each.sd) for each in found]

    columns = np.array([noises(seed) for seed in range(RUNS)])
    check_no_number_twice(columns)
    check_independent(columns)
