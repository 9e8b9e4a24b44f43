"""A lower bound on ε from many runs on two tiny neighbouring tables: below the claim, above it for half the noise.

The statistic is the log likelihood ratio of the whole transcript, which by Neyman and Pearson tells the tables apart
best; only its frequencies enter the bound, so a wrong sampler shows even where densities are right.

References
----------
Jagielski, Ullman & Oprea 2020 (auditing by Clopper-Pearson intervals).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats

from dpviz.algorithms.card import Card
from dpviz.algorithms.registry import private_cards
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.noise import StudyNoise
from dpviz.privacy.queries import Relation
from dpviz.privacy.room import DataRoom, PrivateTable
from tests.contract.audit_pairs import SHORT, audit_of, claimed
from tests.contract.checks import run_of
from tests.contract.rooms import Tape, recording_room
from tests.contract.tables import LOCAL, SETTINGS, named

# Enough to be surprised by a claim that does not hold, and to refute it with half of the noise.
FEW_RUNS, RUNS = 375, 1500
# Noise on every row has no density that could be weighed: test_audit_tuples looks at it, and at tests of tuples, which
# answer ⊥ on tiny tables whatever is in them. test_local has the audit of messages.
WEIGHED = [setting for setting in SETTINGS if setting[1].get("preset") != "naive"]
# Of every card one setting for each way in which its costs add up: other presets draw with the same mechanisms.
AUDITED = list({(s[0].id, s[0].accounting(s[0].params.parse(s[1]), s[2])): s for s in WEIGHED}.values())
# One-sided, for each of two frequencies: together 95 %.
CONFIDENCE = 0.975


@pytest.fixture(autouse=True)
def _pool_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """A choice between two candidates tells more than one among two hundred."""
    monkeypatch.setattr("dpviz.algorithms.su2016.pgkm.POOL", 2)


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


def lower_bound(on_one: np.ndarray, on_other: np.ndarray, delta: float, *, confidence: float = CONFIDENCE) -> float:
    """ε at ``delta`` that the frequencies of one event refute; the event is chosen on the first third."""
    first, second = slice(None, len(on_one) // 3), slice(len(on_one) // 3, None)

    def refuted(part: slice, level: float) -> float:
        hits, trials = int((on_one[part] > level).sum()), len(on_one[part])
        misses = int((on_other[part] > level).sum())
        least = stats.beta.ppf(1 - confidence, hits, trials - hits + 1) if hits else 0.0
        most = stats.beta.ppf(confidence, misses + 1, trials - misses) if misses < trials else 1.0
        return float(np.log((least - delta) / most)) if least > delta else -np.inf

    levels = np.quantile(np.r_[on_one[first], on_other[first]], np.linspace(0.02, 0.995, 80))
    return refuted(second, max(levels, key=lambda level: refuted(first, level)))


def _audit(
    card: Card, params: Mapping[str, Any], delta: float, relation: Relation, runs: int
) -> dict[float, tuple[float, float]]:
    """For each δ looked at: the refuted ε, and the claimed one."""
    audit, known = audit_of(card, params), {knob.name for knob in card.params.knobs()}
    params = {**params, **{name: value for name, value in SHORT.items() if name in known}}
    accounting = card.accounting(card.params.parse(params), delta)
    request = {"k": audit.k, "epsilon": audit.epsilon_at(accounting), "delta": delta, "params": params}
    one, other = audit.pair(relation)
    on_one = _log_ratios(card, one, other, 0, runs, **request)
    on_other = -_log_ratios(card, other, one, runs, runs, **request)
    # The total variation of the two laws: a pair that tells nothing audits nothing.
    assert np.maximum(0, 1 - np.exp(-on_one)).mean() > 0.05
    done = run_of(card, one, seed=0, **request)
    deltas = [0.0] if accounting is Accounting.PURE else [0.03, 0.1, 0.3]
    return {d: (lower_bound(on_one, on_other, d), claimed(done, d)) for d in deltas}


def _thin(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """So many times less noise behind the ledger's back; in selections, too."""
    for name in ("laplace", "normal", "spherical", "gumbel", "cauchy"):
        whole = getattr(StudyNoise, name)
        monkeypatch.setattr(StudyNoise, name, lambda self, scale, shape, whole=whole: whole(self, scale / times, shape))


@pytest.mark.slow
@pytest.mark.parametrize("relation", Relation, ids=lambda r: r.value)
@pytest.mark.parametrize(("card", "params", "delta"), AUDITED, ids=named)
def test_runs_do_not_refute_the_claim(card, params, delta, relation):
    for refuted, claim in _audit(card, params, delta, relation, FEW_RUNS).values():
        assert refuted <= claim


@pytest.mark.slow
@pytest.mark.parametrize(("card", "params", "delta"), AUDITED, ids=named)
def test_runs_refute_half_the_noise(card, params, delta, monkeypatch):
    audit = audit_of(card, params)
    assert audit.thinned == 2 or audit.why
    _thin(monkeypatch, audit.thinned)
    found = []
    # One pair that shows it is enough, and a quarter of the runs often shows it.
    for runs, relation in product((FEW_RUNS, RUNS), Relation):
        found += list(_audit(card, params, delta, relation, runs).values())
        if any(refuted > claim for refuted, claim in found):
            return
    pytest.fail(f"no claim was refuted: {found}")


def test_every_card_is_audited():
    assert {card.id for card, _, _ in AUDITED} | LOCAL == {card.id for card in private_cards()}


def test_the_bound_itself():
    # Randomised response with ε = 1: the bound is close below; with ε = 2 behind a claim of 1, above.
    rng = np.random.default_rng(0)
    for epsilon in (1.0, 2.0):
        honest = np.exp(epsilon) / (1 + np.exp(epsilon))
        one, other = rng.random(40_000) < honest, rng.random(40_000) < 1 - honest
        assert epsilon * 0.9 < lower_bound(one.astype(float), other.astype(float), 0.0) <= epsilon
