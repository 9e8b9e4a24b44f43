"""What draws on the samples cost at each ε of a curve, made beforehand: the first verdict of a sample waits for none.

``python -m sample_data.curves`` makes them again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Request
from dpviz.runs.work import CurvePoint
from dpviz.words import RESOURCES

CURVES = RESOURCES / "sample_data" / "curves.json"
"""A name of a curve, and of each of its points ε and the losses of its draws."""


def name_curve(table: OpenTable, request: Request) -> str:
    """What a curve follows from: rows and their declaration, algorithm, parameters, k and δ; not an ε, nor a seed."""
    return f"{table.key[:32]}?{replace(request, epsilon=1.0, seed=None).to_query()}"


def find_sample_curve(table: OpenTable, request: Request) -> Sequence[CurvePoint]:
    """The stored curve of that very table and request; empty if there is none.

    Parameters
    ----------
    table : OpenTable
    request : Request
        Its ε and its seed are not read.

    Returns
    -------
    sequence of CurvePoint
    """
    return _read_curves().get(name_curve(table, request), ())


@cache
def _read_curves() -> Mapping[str, Sequence[CurvePoint]]:
    stored = json.loads(CURVES.read_text(encoding="utf-8")) if CURVES.is_file() else {}
    return {name: [CurvePoint(epsilon, tuple(losses)) for epsilon, losses in points] for name, points in stored.items()}
