"""A loss diagnostic: what a finished run says of itself, from what it released anyway, to whoever has no rows."""

from __future__ import annotations

from typing import NamedTuple


class LossDiagnostic(NamedTuple):
    """How much is left of the loss of one centre, and what speaks against the centres.

    ``share`` is an estimate of the loss over that of one centre in the middle of all rows; for nine runs in ten of a
    bench of generated tables it lay between ``low`` and ``high``. ``doubts`` are sentences; none where nothing that was
    released speaks against the centres.
    """

    share: float
    low: float
    high: float
    doubts: tuple[str, ...]
