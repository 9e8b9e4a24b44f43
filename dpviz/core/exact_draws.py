"""Whole numbers in, whole numbers out: discrete noise by OpenDP, from the randomness of the operating system.

No float touches a truth here (a test reads the syntax tree): what comes in is whole, so is its sensitivity, and a scale
is an exact fraction that is rounded up. Each draw asks OpenDP what it costs and refuses to be more than was charged.
The proof is in ``docs/proofs/discrete-noise.md``.

References
----------
Canonne, Kamath & Steinke 2020 (exact samplers of the discrete Laplace and Gaussian laws, as OpenDP has them).
McKenna & Sheldon 2020 (choosing by noise that is added to scores).
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from dpviz.core.arrays import Codes
from dpviz.core.check import import_extra

# A float that a scale is rounded up to, and the margin within which two computations of one cost agree.
_AGREE = 1 + 1e-9


class CostsMore(AssertionError):
    """OpenDP says that a draw costs more than the ledger was charged: nothing is released."""


@cache
def load_opendp() -> Any:
    """OpenDP without idealised numerics: slow to import, for releases only; ``RequestError`` if it is not installed."""
    prelude = import_extra("opendp.prelude")
    prelude.enable_features("contrib")
    return prelude


def name_library() -> str:
    """What draws, by name and version.

    Raises
    ------
    RequestError
        If it is not installed.
    """
    import_extra("opendp")
    return f"OpenDP {version('opendp')}"


def draw_discrete_laplace(truth: Codes, *, sensitivity: int, scale: float, most: float) -> Codes:
    """``truth`` (m,) with independent discrete Laplace noise, for an l1 ``sensitivity``.

    **Guarantee.** ε-DP with ε = sensitivity / scale, at most ``most``.

    Raises ``CostsMore`` if OpenDP's own map says more.
    """
    dp = load_opendp()
    measurement = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=scale)
    return np.array(_draw(measurement, truth, sensitivity, most), dtype=np.int64)


def draw_discrete_gaussian(truth: Codes, *, sensitivity: float, scale: float, most: float) -> Codes:
    """``truth`` (m,) with independent discrete Gaussian noise, for an l2 ``sensitivity``.

    **Guarantee.** ρ-zCDP with ρ = (sensitivity / scale)² / 2, at most ``most``.

    Raises ``CostsMore`` if OpenDP's own map says more.
    """
    dp = load_opendp()
    measurement = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64"), scale=scale)
    return np.array(_draw(measurement, truth, sensitivity, most), dtype=np.int64)


def draw_noisy_least(losses: Codes, *, sensitivity: int, scale: float, most: float, concentrated: bool) -> int:
    """The place of the least of ``losses`` (m,) after noise, each of which one unit of privacy moves by
    ±``sensitivity``.

    **Guarantee.** ε-DP with ε = 2 reach / scale, at most ``most``; if ``concentrated``, ρ-zCDP with ρ = ε² / 8, at
    most ``most``.

    Raises ``CostsMore`` if OpenDP's own map says more.
    """
    dp = load_opendp()
    measure = dp.zero_concentrated_divergence() if concentrated else dp.max_divergence()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    measurement = dp.m.make_noisy_max(*space, measure, scale=scale, negate=True)
    return int(_draw(measurement, losses, sensitivity, most))


def _draw(measurement: Any, truth: Codes, sensitivity: int | float, charged: float) -> Any:
    cost = measurement.map(sensitivity)
    if not cost <= charged * _AGREE:
        raise CostsMore(f"A draw costs {cost!r} but {charged!r} was charged.")
    return measurement(truth.tolist())
