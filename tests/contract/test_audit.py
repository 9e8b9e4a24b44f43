"""Lower bounds on ε from frequencies: what finds out a twin with too little noise does not refute the honest claim.

Full sizes, all algorithms and all pairs are those of ``python -m benchmarks.audits``.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import audits
from benchmarks.auditing.bounds import Audit, lower_bound, settled
from benchmarks.auditing.mechanisms import CASES, gaussian_audit
from benchmarks.auditing.runs import audit_of_runs, audited
from benchmarks.auditing.tiny_tables import tables_of
from benchmarks.auditing.tuples import (
    ALONE,
    MECHANISMS,
    audit_of_messages,
    audit_of_rows,
    audit_of_tuples,
    lone_pair,
    misfit_pair,
)
from dpviz.algorithms.registry import list_private_cards
from dpviz.core.local_model import LocalNoise, LocalReports
from dpviz.core.mechanisms import Gaussian
from dpviz.core.private_session import MECHANISMS as KNOWN
from dpviz.core.tuples import NoisyCenters, TupleAverages
from tests.contract.tables import LOCAL

# One for each way in which costs add up, of the quickest, and with how many runs its twin is found out.
RUNS = {
    "dplloyd (pure)": 250,
    "dplloyd (gdp)": 125,
    "gkm (zcdp)": 250,
    "lsh-coreset (pld)": 125,
    "sample-aggregate (basic)": 125,
}
OF_RUNS = {f"{setting.card.id} ({setting.accounting.value})": setting for setting in audited()}
# With how many draws the twin of a mechanism is found out: twice the ε is in the draws, or what its case says. A kernel
# draw without a floor is a floor of 0, whose law and densities tests/core/test_kernel_draw.py has exactly.
DRAWS = {
    **{"laplace": 500, "k-norm": 250, "exponential": 500, "noisy threshold": 500, "sparse laplace": 250, "excess": 250},
    **{"path counts": 500, "peeling": 2000, "kernel draw, a floor": 2000},
    **{"exponential quantile": 500, "smooth median": 125},
}
OTHERS = {
    **{name: (CASES[name].audit(), draws) for name, draws in DRAWS.items()},
    "gaussian": (gaussian_audit(), 250),
    "a test of tuples": (audit_of_tuples(MECHANISMS["noisy centres"], misfit_pair), 125),
    "an average without a test": (audit_of_tuples(ALONE, lone_pair), 1000),
    "noise on a row": (audit_of_rows(), 125),
    **{f"a message of group {group}": (audit_of_messages(group, 2.0), (125, 125, 500)[group]) for group in range(3)},
}


def check(audit: Audit, draws: int) -> None:
    """So many draws find out the twin: as many of the honest one, were they like those of the twin, would tell."""
    assert audit.thinned is not None and audit.thinned(draws) > 0, "the twin with too little noise is not found out"
    assert audit.honest(draws) <= 0, "the claim is refuted"


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_runs_refute_too_little_noise_and_not_the_claim(name):
    check(audit_of_runs(OF_RUNS[name]), RUNS[name])


@pytest.mark.some(4)
@pytest.mark.parametrize("name", OTHERS)
def test_draws_refute_too_little_noise_and_not_the_claim(name):
    check(*OTHERS[name])


def test_every_card_and_every_mechanism_is_audited_and_who_is_thinned_by_more_than_two_says_why():
    assert {setting.card.id for setting in audited()} | LOCAL == {card.id for card in list_private_cards()}
    assert {setting.accounting for setting in audited()} == {OF_RUNS[name].accounting for name in RUNS}
    drawn = {type(case.calibrated(1.0)) for case in CASES.values()} | {Gaussian}
    assert drawn | {LocalNoise, LocalReports, NoisyCenters, TupleAverages} == set(KNOWN)
    for setting in audited():
        found = tables_of(setting.card, setting.params)
        assert found.thinned == 2 or found.why


def test_the_bound_itself():
    # Randomised response with ε = 1: the bound is close below; with ε = 2 behind a claim of 1, above.
    rng = np.random.default_rng(0)
    for epsilon in (1.0, 2.0):
        honest = np.exp(epsilon) / (1 + np.exp(epsilon))
        one, other = rng.random(40_000) < honest, rng.random(40_000) < 1 - honest
        assert epsilon * 0.9 < lower_bound(one.astype(float), other.astype(float), 0.0) <= epsilon


def test_a_twin_is_found_out_with_the_least_number_of_draws_that_does():
    assert settled(Audit(lambda draws: -draws, lambda draws: draws - 400.0)) == (500, -500)
    assert settled(Audit(lambda draws: -1.0, lambda draws: -1.0)) is None


def test_the_full_audit_says_what_does_not_hold_and_ends_with_1(capsys, monkeypatch):
    made_up = [
        ("sound", Audit(lambda draws: -1.0, lambda draws: draws - 300.0), 1500),
        ("refuted", Audit(lambda draws: 0.1, lambda draws: 1.0), 1500),
        ("blind", Audit(lambda draws: -1.0, lambda draws: -1.0), 1500),
        ("alone", Audit(lambda draws: -1.0, None), 1500),
    ]
    monkeypatch.setattr(audits, "every_audit", lambda draws, runs: iter(made_up))
    assert audits.main(["--only", "sound"]) == 0
    assert (
        "held    sound: its twin was found out with 500 draws; with 1,500 the bound is -1.000"
        in capsys.readouterr().out
    )
    assert audits.main([]) == 1
    assert "Did not hold: refuted, blind." in capsys.readouterr().out


def test_the_full_audit_has_every_card_mechanism_and_attack():
    names = [name for name, _, _ in audits.every_audit(4000, 1500)]
    assert len(names) == len(set(names))
    over = (f"{name} over categories" for name in audits.OVER_CATEGORIES)
    for known in (*(f"runs of {name}" for name in (*OF_RUNS, *over)), *(f"draws of {name}" for name in CASES)):
        assert known in names
    assert sum("attacks on" in name for name in names) == 10
