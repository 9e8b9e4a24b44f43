"""Samples, studied beforehand: k-means++ on each, what draws on it cost at each ε. A first visitor waits for neither.

``python -m sample_data.curves`` makes them again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, cast

import numpy as np

from dpviz.core import Array
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Request
from dpviz.runs.work import CurvePoint
from dpviz.words import RESOURCES

CURVES = RESOURCES / "sample_data" / "curves.json"
"""``curves``: a name of each, and of each of its points ε and the losses of its draws; ``references``: a name of each,
and the centres of k-means++."""


def name_reference(table: OpenTable, k: int) -> str:
    """What k-means++ on a table follows from: rows and their declaration, and k."""
    return f"{table.key[:32]}?k={k}"


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
    points = _read_stored()["curves"].get(name_curve(table, request), [])
    return [CurvePoint(epsilon, tuple(losses)) for epsilon, losses in points]


def find_sample_reference(table: OpenTable, k: int) -> Array | None:
    """The stored centres of k-means++ on that very table.

    Parameters
    ----------
    table : OpenTable
    k : int

    Returns
    -------
    array of shape (k, d), unit coordinates, or None
    """
    stored = _read_stored()["references"].get(name_reference(table, k))
    return None if stored is None else np.array(stored)


@cache
def _read_stored() -> Mapping[str, Mapping[str, Any]]:
    if CURVES.is_file():
        return cast("dict[str, dict[str, Any]]", json.loads(CURVES.read_text(encoding="utf-8")))
    return {"curves": {}, "references": {}}
