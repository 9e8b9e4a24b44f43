"""What the figures of Balcan et al. 2017 share: their lines, and SuLQ as the accounting of 2017 would have it."""

from __future__ import annotations

from functools import lru_cache
from math import log, sqrt

from scipy.optimize import brentq

from dpviz.claims.trials import Line
from dpviz.privacy.accounting import gdp_mu

DELTA = 1e-6
BALCAN, PRACTICAL = "Balcan et al.", "Balcan et al. (practical)"
SULQ, SULQ_BASIC = "SuLQ", "SuLQ, basic composition"
SAMPLES = "sample & aggregate"
_ROUNDS = 20


@lru_cache(maxsize=64)
def as_basic(epsilon: float) -> float:
    """The ε at which exact composition of twenty Gaussian rounds has the noise of basic composition at ``epsilon``.

    Basic composition gives a round ε/20 and δ/20 and the textbook Gaussian: what a paper of 2017 would have used. SuLQ
    composed exactly, as everywhere in this package, has several times less noise.
    """
    basic = sqrt(2 * log(1.25 * _ROUNDS / DELTA)) * _ROUNDS / epsilon

    def excess(log_epsilon: float) -> float:
        return log(sqrt(_ROUNDS) / gdp_mu(10**log_epsilon, DELTA) / basic)

    return float(10 ** brentq(excess, -4, 1))


LINES = (
    Line(BALCAN, "balcan", {"preset": "paper"}, DELTA),
    Line(PRACTICAL, "balcan", {"preset": "practical"}, DELTA),
    Line(SULQ, "sulq", {"preset": "paper"}, DELTA),
    Line(SULQ_BASIC, "sulq", {"preset": "paper"}, DELTA, as_basic),
)
SAMPLES_LINE = Line(SAMPLES, "sample-aggregate", {"preset": "paper"}, DELTA)
ACCOUNTING = "tighter accounting of the baseline: composed exactly, SuLQ has several times less noise than in 2017"
MISSING_NOISE = "missing noise in the paper: its printed recovery has √d times too little for rows in a ball"
NOTES = (
    "Balcan et al. and SuLQ have δ = 1e-6: the Gaussian rounds of both need it.",
    "The noise of the recovery is the corrected one, √d larger than printed.",
)
