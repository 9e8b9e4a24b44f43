"""Public deployments and their ε, as a registry of them has them."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dpviz.core import zcdp_epsilon

SOURCE = "Differential Privacy Deployments Registry (opendp/deployments-registry-data, MIT licence), 15 July 2026"
"""Where the facts are from."""
USUAL_DELTA = 1e-6
"""At which ρ is told as an ε, where an entry names no δ."""

_FILE = Path(__file__).parent / "deployments.csv"
# Whom one unit of privacy protects, by words of the registry: the first that fits.
_UNITS = (
    ("one person's day, trip or device", ("day", "month", "quarter", "trip", "device")),
    ("one event or record", ("event", "record", "tuple", "birth")),
    ("one business", ("business",)),
    ("one person", ("user", "person", "individual")),
)
UNITS = ("one person", "one person's day, trip or device", "one event or record", "one business", "not said")
"""Whom one unit of privacy protects, from the strongest promise on."""


class Deployment(NamedTuple):
    """One entry: ``epsilon`` is as published, or follows from ρ at ``delta`` where ``converted``."""

    name: str
    curator: str
    year: int
    unit: str
    model: str
    epsilon: float
    delta: float
    converted: bool


@cache
def load_deployments() -> tuple[Deployment, ...]:
    """All entries with an ε or a ρ, by ε.

    >>> others = load_deployments()
    >>> len(others), round(others[0].epsilon, 2), sum(one.converted for one in others)
    (35, 0.01, 8)
    """
    with _FILE.open(encoding="utf-8", newline="") as file:
        return tuple(sorted(map(_read_entry, csv.DictReader(file)), key=lambda one: (one.epsilon, one.name)))


def _read_entry(row: dict[str, str]) -> Deployment:
    delta, converted, protects = float(row["delta"] or USUAL_DELTA), not row["epsilon"], row["unit"].lower()
    unit = next((unit for unit, signs in _UNITS if any(sign in protects for sign in signs)), "not said")
    epsilon = zcdp_epsilon(float(row["rho"]), delta) if converted else float(row["epsilon"])
    slack = delta if converted or row["delta"] else 0.0
    model, year = row["model"].lower(), int(row["year"])
    return Deployment(row["name"], row["curator"], year, unit, model, epsilon, slack, converted)
