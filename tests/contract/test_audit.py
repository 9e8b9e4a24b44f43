"""A lower bound on ε from many runs on two tiny neighbouring tables: below the claim, above it for half the noise.

The statistic is the log likelihood ratio of the whole transcript, which by Neyman and Pearson tells the tables apart
best; only its frequencies enter the bound, so a wrong sampler shows even where densities are right.

References
----------
Jagielski, Ullman & Oprea 2020 (auditing by Clopper-Pearson intervals).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats

from dpviz.algorithms.card import Card
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.ledger import total_epsilon
from dpviz.privacy.noise import StudyNoise
from dpviz.privacy.queries import Relation
from dpviz.privacy.room import DataRoom, PrivateTable
from tests.contract.checks import run_of
from tests.contract.rooms import Tape, recording_room
from tests.contract.tables import OVER_BLOCKS, SETTINGS, World, lone_rows, named

RUNS = 1500
# Enough to refute the smaller ε of basic accounting, and to be surprised by a claim that does not hold.
FEW_RUNS = 400
# Gaussian noise shows its loss at a larger budget only.
EPSILON = {Accounting.PURE: 2.0, Accounting.BASIC: 2.0, Accounting.GDP: 10.0, Accounting.ZCDP: 10.0}
EPSILON |= {Accounting.PLD: 10.0}
# Noise on every row has no density that could be weighed: test_audit_tuples looks at it, and at tests of tuples, which
# answer ⊥ on tiny tables whatever is in them.
WEIGHED = [setting for setting in SETTINGS if setting[1].get("preset") != "naive"]
# Of every card one setting for each way in which its costs add up: other presets draw with the same mechanisms.
AUDITED = list({(s[0].id, s[0].accounting(s[0].params.parse(s[1]), s[2])): s for s in WEIGHED}.values())
# As few rounds as an algorithm allows: the loss of one release is easier to see than that of ten.
SHORT = {"rounds": 1, "starts": 1, "levels": 1, "swaps": 1, "shifts": 1, "polishing": 0}
# Among few rows a choice tells more: of no row and one row, or of two at the ends and one of them.
ALONE = {"pgkm": (np.empty((0, 1)), np.ones((1, 1))), "kvariates": (np.array([[-1.0], [1.0]]), np.array([[-1.0]]))}
# A tree of cubes never sees a lone row, and a choice among many seldom falls on a telling one: it takes a larger
# mistake to show.
# A row that comes moves the model of its block half as far as one that is replaced; medians lose little of their ε.
THINNED = {"balcan": 4, "balcan-sparse": 10, "balcan-kmedian": 4, "pgkm": 6, "kvariates": 4, "gkm": 4}
THINNED |= {"sample-aggregate": 64}
# One-sided, for each of two frequencies: together 95 %.
CONFIDENCE = 0.975


def _likelihood_room(tape: Tape, found: list[float]) -> type[DataRoom]:
    class Weighing(DataRoom):
        place: ClassVar[list[int]] = [0]

        def _draw(self, mechanism: Any, truth: Any) -> Any:
            i = self.place[0]
            self.place[0] += 1
            released = tape.released[i]
            found.append(mechanism.log_density(released, tape.truths[i]) - mechanism.log_density(released, truth))
            return released

    return Weighing


def _log_ratios(
    card: Card, here: PrivateTable, there: PrivateTable, seed: int, runs: int, **request: Any
) -> np.ndarray:
    """Log likelihood ratios, here over there, of runs on ``here``."""
    ratios = []
    for turn in range(runs):
        tape, found = Tape(), list[float]()
        run_of(card, here, room=recording_room(tape), seed=seed + turn, **request)
        run_of(card, there, room=_likelihood_room(tape, found), seed=seed + turn, **request)
        ratios.append(sum(found))
    return np.array(ratios)


def lower_bound(on_one: np.ndarray, on_other: np.ndarray, delta: float) -> float:
    """ε at ``delta`` that the frequencies of one event refute; the event is chosen on the first halves."""
    first, second = slice(None, len(on_one) // 2), slice(len(on_one) // 2, None)

    def refuted(part: slice, level: float) -> float:
        hits, trials = int((on_one[part] > level).sum()), len(on_one[part])
        misses = int((on_other[part] > level).sum())
        least = stats.beta.ppf(1 - CONFIDENCE, hits, trials - hits + 1) if hits else 0.0
        most = stats.beta.ppf(CONFIDENCE, misses + 1, trials - misses) if misses < trials else 1.0
        return float(np.log((least - delta) / most)) if least > delta else -np.inf

    levels = np.quantile(np.r_[on_one[first], on_other[first]], np.linspace(0.02, 0.995, 80))
    return refuted(second, max(levels, key=lambda level: refuted(first, level)))


def _audit(card, params, delta, relation, *, most_runs=RUNS) -> dict[float, tuple[float, float]]:
    """For each δ looked at: the refuted ε, and the claimed one."""
    known = {knob.name for knob in card.params.knobs()}
    params = {**params, **{name: value for name, value in SHORT.items() if name in known}}
    world = World("tiny", relation=relation, n_public=8 if relation is Relation.ADD_REMOVE else None, dim=1)
    crowd = np.full((8, 1), 0.9)
    if card.id in OVER_BLOCKS:
        # A lone row is the model of its block, and no row leaves the block's public point: half of the largest move.
        # A median by ranks takes three blocks to tell anything.
        n_public = 9 if (card.id, params.get("preset")) == ("sample-aggregate", "practical") else 1
        world = World("tiny", relation=relation, n_public=n_public if relation is Relation.ADD_REMOVE else None, dim=1)
        one, other = lone_rows(world)
        if relation is Relation.ADD_REMOVE:
            # A rank says most where the row is missing.
            none = world.table(np.empty((0, 1)))
            one, other = (none, one) if n_public > 1 else (one, none)
    elif relation is Relation.REPLACE:
        one, other = world.table(crowd), world.table(np.r_[crowd[1:], [[-1.0]]])
    else:
        one, other = map(world.table, ALONE.get(card.id, (np.r_[crowd, [[1.0]]], crowd)))
    accounting = card.accounting(card.params.parse(params), delta)
    request = {
        "k": 2 if accounting is Accounting.BASIC and card.id not in OVER_BLOCKS else 1,
        "epsilon": EPSILON[accounting],
        "delta": delta,
        "params": params,
    }
    runs = min(most_runs, RUNS if accounting is not Accounting.BASIC else FEW_RUNS)
    on_one = _log_ratios(card, one, other, 0, runs, **request)
    on_other = -_log_ratios(card, other, one, runs, runs, **request)
    done = run_of(card, one, seed=0, **request)
    deltas = [0.0] if accounting is Accounting.PURE else [0.03, 0.1, 0.3]
    return {d: (lower_bound(on_one, on_other, d), total_epsilon(accounting, done.entries, delta=d)) for d in deltas}


def _thin(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """So many times less noise behind the ledger's back; in selections, too."""
    for name in ("laplace", "normal", "spherical", "gumbel", "cauchy"):
        whole = getattr(StudyNoise, name)
        monkeypatch.setattr(StudyNoise, name, lambda self, scale, shape, whole=whole: whole(self, scale / times, shape))


@pytest.mark.slow
@pytest.mark.parametrize("relation", Relation, ids=lambda r: r.value)
@pytest.mark.parametrize(("card", "params", "delta"), AUDITED, ids=named)
def test_runs_do_not_refute_the_claim(card, params, delta, relation):
    for refuted, claimed in _audit(card, params, delta, relation, most_runs=FEW_RUNS).values():
        assert refuted <= claimed


@pytest.mark.slow
@pytest.mark.parametrize(("card", "params", "delta"), AUDITED, ids=named)
def test_runs_refute_half_the_noise(card, params, delta, monkeypatch):
    # Gaussian noise for a δ of a millionth is far from refuted at the δ that can be seen.
    basic = card.accounting(card.params.parse(params), delta) is Accounting.BASIC
    _thin(monkeypatch, 64 if basic else THINNED.get(card.id, 2))
    found = _audit(card, params, delta, Relation.ADD_REMOVE)
    assert any(refuted > claimed for refuted, claimed in found.values()), found


def test_the_bound_itself():
    # Randomised response with ε = 1: the bound is close below; with ε = 2 behind a claim of 1, above.
    rng = np.random.default_rng(0)
    for epsilon in (1.0, 2.0):
        honest = np.exp(epsilon) / (1 + np.exp(epsilon))
        one, other = rng.random(40_000) < honest, rng.random(40_000) < 1 - honest
        assert epsilon * 0.9 < lower_bound(one.astype(float), other.astype(float), 0.0) <= epsilon
