"""What noise of a known ε costs in zero-concentrated privacy: its exact ρ, and the ε that a ρ buys.

The three are suprema of the Rényi divergence of order α over α, proved in ``docs/proofs/concentrated.md``: each is
reached as α goes to 1, so that a smaller constant is wrong and a larger one wastes noise.

References
----------
Bun & Steinke 2016 (zCDP; ε²/2 as the bound of all that is ε-DP). Cesar & Rogers 2021 (ε²/8 as that of choices).
Harrison & Manurangsi 2026 (the same constants).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import log, sqrt, tanh

from scipy.optimize import brentq
from scipy.special import exprel, hyp1f1

# Powers of ε² of a choice's ρ: below this ε the closed form cancels.
_SERIES_BELOW = 0.5
_SERIES = (1 / 8, -1 / 576, 1 / 25_920, -1 / 1_075_200, 1 / 43_545_600, -691 / 1_207_084_032_000)
# What a ρ buys is rounded down by this, so that its price never exceeds the ρ.
_SOLVED = 1.0 - 1e-13


def compute_laplace_rho(epsilon: float) -> float:
    """ε + e^-ε - 1: of Laplace noise, and of all that it bounds; without cancellation where ε is small."""
    return epsilon**2 / 2 * float(hyp1f1(1, 3, -epsilon))


def compute_choice_rho(epsilon: float) -> float:
    """ln(sinh(h)/h) + h coth(h) - 1 with h = ε/2: of a loss of range ε. Hardly less than ε²/8 where ε is small."""
    if epsilon < _SERIES_BELOW:
        return sum(part * epsilon ** (2 * power) for power, part in enumerate(_SERIES, 1))
    half = epsilon / 2
    return half + log(exprel(-epsilon)) + half / tanh(half) - 1


def compute_pure_rho(epsilon: float) -> float:
    """ε tanh(ε/2): of whatever is ε-DP; randomised response needs it."""
    return epsilon * tanh(epsilon / 2)


@lru_cache(maxsize=4096)
def find_epsilon(cost: Callable[[float], float], rho: float) -> float:
    """The largest ε that ``cost``, one of the above, sells for ``rho``."""
    # No cost exceeds ε²/2, by more than it is rounded.
    most = sqrt(2 * rho)
    least = most / 2
    while cost(most) < rho:
        most *= 2
    return float(brentq(lambda epsilon: cost(epsilon) - rho, least, most, xtol=1e-300, rtol=1e-15)) * _SOLVED
