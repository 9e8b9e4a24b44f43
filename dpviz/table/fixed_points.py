"""Made-up tables of pairs: each row holds two measured points, in either order."""

from __future__ import annotations

import numpy as np

from dpviz.table.declaration import Declaration, FileKind
from dpviz.table.loaded_table import FloatArray, LoadedTable, numeric_table

COLUMNS = ("temperature_1", "resistance_1", "temperature_2", "resistance_2")
_LOWER, _UPPER = (0.0,) * 4, (1_000.0, 500.0) * 2
# Zinc and aluminium freeze, degrees Celsius; a platinum resistor of 100 Ω then has these many Ω.
_ZINC, _ALUMINIUM = (419.527, 253.8), (660.323, 332.9)
_THERMOMETERS, _MADE = "Two fixed points, 2 million thermometers", 2_000_000


def fixed_points(n: int, *, spread: float, wrong: int, seed: int) -> FloatArray:
    """Pairs of points (n, 4), temperature and resistance of one and then of the other.

    Parameters
    ----------
    n : int
        Rows.
    spread : float
        Standard deviation of a temperature, degrees; of a resistance it is half as many Ω.
    wrong : int
        Rows at the end that may be anything within the bounds.
    seed : int
    """
    rng = np.random.default_rng(seed)
    points = np.array([_ZINC, _ALUMINIUM]) + spread * np.array([1.0, 0.5]) * rng.standard_normal((n, 2, 2))
    swapped = rng.random(n) < 0.5
    points[swapped] = points[swapped, ::-1]
    rows = points.reshape(n, 4)
    rows[n - wrong :] = rng.uniform(_LOWER, _UPPER, (wrong, 4))
    return np.clip(rows, _LOWER, _UPPER)


def fixed_points_sidecar(title: str, description: str, n: int, *, unit_of_privacy: str, source: str) -> Declaration:
    """What is declared about such a table: a row may be replaced by another."""
    return Declaration(
        title=title,
        description=description,
        columns=COLUMNS,
        lower=_LOWER,
        upper=_UPPER,
        bounds_origin="The scales of the instruments: 0 to 1,000 °C and 0 to 500 Ω.",
        scaling="unit",
        unit_of_privacy=unit_of_privacy,
        relation="replace",
        n_public=n,
        kind=FileKind.PUBLIC,
        source=source,
        licence="CC0-1.0 (generated)",
    )


def thermometers() -> LoadedTable:
    """Two million thermometers that are off by a degree or so: a case for averages, which no file here could hold."""
    return numeric_table(fixed_points(_MADE, spread=1.0, wrong=20, seed=3), COLUMNS, name=_THERMOMETERS)


def thermometers_sidecar() -> Declaration:
    """What is declared about ``thermometers``."""
    return fixed_points_sidecar(
        _THERMOMETERS,
        "2,000,000 thermometers tested at these points, a pair a row: for k-averages with rows = tuples.",
        _MADE,
        unit_of_privacy="one thermometer (one row, a pair of points)",
        source="Generated on demand.",
    )
