"""Checks of a request that need no file, so that a slip is told before a large table is read."""

from __future__ import annotations

from collections.abc import Sequence

from dpviz import check
from dpviz.check import RequestError


def parameters(settings: Sequence[str]) -> dict[str, str]:
    """``name=value`` texts as a mapping.

    Raises
    ------
    RequestError
        If one has no ``=``, or a name is given twice.
    """
    found: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise RequestError(f"--set {setting!r} has no name or no value: write name=value.")
        if name in found:
            raise RequestError(f"--set names {name!r} twice: give it one value.")
        found[name] = value
    return found


def check_numbers(*, ks: Sequence[int], epsilons: Sequence[float], delta: float, seed: int | None) -> None:
    """Refuse numbers that no table would make right."""
    for k in ks:
        check.clusters(k=k)
    for epsilon in epsilons:
        check.epsilon(epsilon=epsilon)
    check.delta_for(None, delta=delta)
    if seed is not None:
        check.seed(seed=seed)
