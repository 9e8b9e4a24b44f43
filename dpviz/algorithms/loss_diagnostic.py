"""A loss diagnostic: what a finished run says of itself, from what it released anyway, to whoever has no rows."""

from __future__ import annotations

from typing import NamedTuple

from dpviz.words import format_percent


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

    @property
    def words(self) -> str:
        """The same in words, without a full stop.

        >>> LossDiagnostic(0.0512, 0.02, 0.31, ()).words
        'By released values alone, the loss is about 5.1 % of that of one centre (2 % to 31 %)'
        >>> LossDiagnostic(0.996, 1e-9, 7.0, ()).words
        'By released values alone, the loss is about 100 % of that of one centre (under 0.1 % to 100 %)'
        """
        ends = (self.share, self.low, self.high)
        # Two digits; a part that next to nothing is left of has none that mean anything.
        share, low, high = (format_percent(float(f"{min(one, 1.0):.2g}"), least=1e-3) for one in ends)
        share = share if share.startswith("under") else f"about {share}"
        told = f"By released values alone, the loss is {share} of that of one centre ({low} to {high})"
        return ". ".join((told, *(doubt.rstrip(".") for doubt in self.doubts)))
