"""Ratios to the loss of k-means++ in digits that tell them apart: what is above 1 never reads as 1."""

from __future__ import annotations

_FEWEST, _MOST = 3, 6


def told_apart(*ratios: float) -> tuple[str, ...]:
    """Three significant digits of each, or for all as many more as tell them from each other and from 1; at most six.

    >>> told_apart(1.0, 1.004), told_apart(1.371, 582.206), told_apart(1.0, 1.0), told_apart(1234.0)
    (('1.000', '1.004'), ('1.37', '582'), ('1.00', '1.00'), ('1,234',))
    """
    different = {round(value, _MOST - 1) for value in (1.0, *ratios)}
    digits = _FEWEST
    while digits < _MOST and len({_written(value, digits) for value in different}) < len(different):
        digits += 1
    return tuple(_written(value, digits) for value in ratios)


def _written(value: float, digits: int) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:#.{digits}g}"
