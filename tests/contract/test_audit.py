"""Lower bounds on ε from frequencies: what finds out a twin with too little noise does not refute the honest claim.

Full sizes, all algorithms and all pairs are those of ``python -m benchmarks.audits``.
"""

import numpy as np
import pytest

from benchmarks.auditing.bounds import Audit, lower_bound
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
