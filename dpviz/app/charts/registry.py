"""The pictures of all kinds of steps. A new one is a file beside the others and a word here."""

from __future__ import annotations

from typing import Any

from dpviz.algorithms import Step
from dpviz.app.charts.picture import Picture
from dpviz.app.charts.pictures import (
    blocks,
    centers,
    coordinates,
    hashes,
    histogram,
    many_starts,
    messages,
    mixture,
    plan,
    pool,
    projection_axes,
    rounds,
    seeds,
    swaps,
    synopsis,
    tree,
    tuple_check,
)

_MODULES = (
    *(centers, histogram, many_starts, tree, swaps, coordinates),
    *(plan, projection_axes, synopsis, rounds),
    *(blocks, pool, seeds),
    *(hashes, messages),
    *(tuple_check, mixture),
)

# By name, not by class: a step made before a hot reload is an instance of a class that no longer exists.
_PICTURES: dict[str, type[Picture[Any]]] = {
    f"{name.removesuffix('Picture')}Step": thing
    for module in _MODULES
    for name, thing in vars(module).items()
    if name.endswith("Picture") and name != "Picture"
}


def find_picture(step: Step) -> Picture[Any]:
    """The picture of a step: ``find_picture(step).draw(context)`` is its plot under its title."""
    name = type(step).__name__
    if name not in _PICTURES:
        raise TypeError(f"no picture for a {name}: write one in charts/pictures, and name it here")
    return _PICTURES[name](step)
