"""Attacks on noise: its law, where it comes from, on which numbers it lies, and that none is left out."""

from dataclasses import replace
from math import exp, inf, nan

import numpy as np
import pytest

from dpviz.core import exact_noise
from dpviz.core.accounting import Accounting, Budget
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.core.exact_noise import ExactNoise, WholeTruth, _Finer
from dpviz.core.mechanisms import Exponential, Gaussian, KNorm, Laplace, NoisyThreshold
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import Everything
from dpviz.core.queries import Count, SparseCounts, Sum
from tests.attacks.cases import LINE, LINE_TABLE, attack, planted
from tests.contract.sessions import open_seeded
from tests.sequential import usually

ZCDP, PURE = Accounting.ZCDP, Accounting.PURE


def _study():
    return StudyNoise(np.random.default_rng(0))


def _release_steps(mechanism, truth, size):
    """So many releases of one truth, in steps of the public grid."""
    quantum = 2.0**-20
    step = quantum * 2.0 ** -_Finer.of(mechanism, quantum).bits
    return ExactNoise().add_noise(mechanism, WholeTruth(np.full(size, truth), quantum)) / step


@planted(exact_noise, "draw_noisy_least")
def _permute_and_flip(right, losses, *, sensitivity, scale, most, concentrated):
    return right(losses, sensitivity=sensitivity, scale=scale, most=inf, concentrated=False)


@attack("OpenDP 2911", twin=_permute_and_flip)
def a_choice_has_the_law_that_is_priced():
    mechanism = Exponential(1.0, 1.0)
    truth = WholeTruth(np.array([0, 2**20, 2**20]), 2.0**-20)
    best = (ExactNoise().answer(mechanism, truth, ZCDP) == 0 for _ in range(9000))
    # Permute-and-flip takes the best one in 0.677 of all draws.
    assert usually(best, often=1 / (1 + 2 * exp(-1)), rarely=0.677, error=1e-6)


@planted(Exponential, "_log_weights")
def _other_end(right, self, truth):
    return -right(self, truth)


@attack("OpenDP 2912", twin=_other_end)
def a_choice_is_the_best_entry():
    losses = np.array([3.0, 0.0, 5.0])
    assert Exponential(1.0, 1e-3).draw(losses, _study()) == 1
    assert ExactNoise().answer(Exponential(1.0, 1e-3), WholeTruth(losses.astype(np.int64), 1.0), ZCDP) == 1


@planted(NoisyThreshold, "draw")
def _at_the_threshold(right, self, *given):
    return right(replace(self, threshold=self.threshold - 1), *given)


@attack("OpenDP 2922", twin=_at_the_threshold)
def a_cell_is_released_as_often_as_is_priced():
    mechanism, counts = NoisyThreshold(Laplace(1.0, 2.0), 3.0), np.arange(1.0, 7.0)
    released = mechanism.draw(SparseCounts(np.arange(12_000), np.tile(counts, 2000), 12_000), _study())
    often = np.bincount(released % 6, minlength=6) / 2000
    assert np.abs(often - np.exp(mechanism.log_active(counts))).max() < 0.06


def _one_draw_for_all(monkeypatch):
    def laplace(self, scale, shape):
        return np.full(shape, self._rng.laplace(0.0, scale))

    right = exact_noise.draw_discrete_laplace
    monkeypatch.setattr(StudyNoise, "laplace", laplace)
    monkeypatch.setattr(exact_noise, "draw_discrete_laplace", lambda truth, **how: truth + right(truth[:1], **how))


@attack("OpenDP 2344", twin=_one_draw_for_all)
def every_empty_cell_has_noise_of_its_own():
    assert len(np.unique(Laplace(1.0, 2.0).draw(np.zeros(500), _study()))) == 500
    released = ExactNoise().add_noise(Laplace(1.0, 2.0), WholeTruth(np.zeros(500, dtype=np.int64), 1.0))
    assert len(np.unique(released)) > 490


@planted(StudyNoise, "laplace")
def _seeded_again(_, self, scale, shape):
    return np.random.default_rng(7).laplace(0, scale, shape)


@attack("diffprivlib 31", twin=_seeded_again)
def no_two_answers_share_their_noise():
    session = open_seeded(LINE_TABLE)
    first, second = (session.release(Count(Everything()), share, note="x") for share in session.budget.rounds(2))
    assert (first.value != second.value).all()


@planted(exact_noise, "draw_discrete_laplace")
def _from_numpy(_, truth, *, sensitivity, scale, most):
    seeded = np.random.RandomState(np.random.get_state()[1][0])  # noqa: NPY002
    return truth + np.rint(seeded.laplace(0, scale, truth.shape)).astype(int)


@attack("Fed-BioMed 1443", twin=_from_numpy)
def no_seed_has_a_say_in_a_release():
    drawn = []
    for _ in range(2):
        np.random.seed(3)  # noqa: NPY002  which is the attack
        drawn.append(ExactNoise().add_noise(Laplace(1.0, 2.0), WholeTruth(np.zeros(20, dtype=np.int64), 1.0)))
    assert (drawn[0] != drawn[1]).any()


@planted(ExactNoise, "add_noise")
def _float_noise(_, self, mechanism, truth):
    noise = np.random.default_rng().laplace(0.0, mechanism.scale, np.shape(truth.total))
    return np.asarray(truth.total) * truth.quantum + noise


@attack("diffprivlib 94", twin=_float_noise)
def all_truths_are_released_on_one_grid():
    for truth in (0, 1, 2**20 - 1, -(2**30) - 7):
        released = _release_steps(Laplace(1.0, 0.7), truth, 50)
        assert (released == np.rint(released)).all()


@planted(ExactNoise, "add_noise")
def _rounded_sum(right, self, mechanism, truth):
    noise = right(self, mechanism, replace(truth, total=np.asarray(truth.total) * 0))
    return (np.float32(np.asarray(truth.total) * truth.quantum) + np.float32(noise)).astype(np.float64)


@attack("Opacus 616", twin=_rounded_sum)
def the_last_digit_does_not_tell_how_large_a_truth_is():
    for truth in (0, 2**40):
        assert 0.3 < (_release_steps(Laplace(1.0, 1.0), truth, 400) % 2 == 1).mean() < 0.7


def _floats_instead(monkeypatch):
    def drawn(source, mechanism, truth, accounting):
        return mechanism.draw(np.asarray(truth.total) * truth.quantum, _study())

    monkeypatch.setitem(exact_noise._TWINS, KNorm, drawn)


@attack("SmartNoise 461", twin=_floats_instead)
def noise_without_an_exact_twin_is_refused():
    session = LINE_TABLE.open(epsilon=1.0, delta=0.0, accounting=PURE, noise=ExactNoise(), needs_n=False)
    with pytest.raises(RequestError, match="no release-grade"):
        session.ask(Sum(Everything()), KNorm, session.budget, note="x")
    assert not session.ledger.entries


def _no_noise_for_no_share(monkeypatch):
    right = Laplace.calibrated.__func__

    def calibrated(cls, share, sensitivity, **options):
        return cls(0.0, 1e-300) if not share.amount else right(cls, share, sensitivity, **options)

    monkeypatch.setattr(Laplace, "calibrated", classmethod(calibrated))
    monkeypatch.setattr("dpviz.core.ledger.Ledger.charge", lambda self, *entries: self.entries.extend(entries))


@attack("PrivCount 400", twin=_no_noise_for_no_share)
def a_share_of_nothing_buys_nothing():
    session = open_seeded(LINE_TABLE)
    shares = session.budget.split(nothing=0.0, rest=1.0)
    with pytest.raises(RequestError, match="share of 0"):
        session.release(Count(Everything()), shares.nothing, note="x")
    assert session.release(Count(Everything()), shares.rest, note="x").mechanism.scale == pytest.approx(1.0)


@planted(Domain, "of")
def _bounds_made_up(right, cls, names, lower, upper, **more):
    return right(cls, names, *np.nan_to_num([lower, upper], nan=0.0, posinf=1.0, neginf=-1.0), **more)


@attack("SmartNoise 317", twin=_bounds_made_up)
def a_column_without_bounds_is_refused():
    for lower, upper in ((-inf, 1.0), (0.0, inf), (nan, 1.0), (0.0, nan)):
        with pytest.raises(RequestError):
            Domain.of(["x"], lower, upper)
    for kind in (Laplace, Gaussian):
        accounting = PURE if kind is Laplace else ZCDP
        sensitivity = Count(Everything()).sensitivity(open_seeded(LINE_TABLE).relation, LINE.region).times(10**9)
        assert kind.calibrated(Budget(accounting, 1.0), sensitivity).scale > 1e8


@planted(_Finer, "truth")
def _wrapped(_, self, total):
    return total << self.bits


@attack("Google 40", twin=_wrapped)
def no_sum_runs_over():
    finer = _Finer.of(Laplace(1.0, 0.5), 2.0**-6)
    assert finer.bits > 10
    total = np.array([-(2**61), -5, 0, 5, 2**61])
    assert (np.diff(finer.truth(total)) > 0).all()
