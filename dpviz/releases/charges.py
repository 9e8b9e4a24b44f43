"""The ledger of a release in few lines: charges that are alike together, part by part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpviz.releases.card_facts import CardFacts
from dpviz.words import format_number

_QUESTIONS = {
    "Count": "numbers of rows",
    "Sum": "sums of coordinates",
    "ResidualSum": "sums of differences from the centres",
    "ScaledResidualSum": "sums of differences from the centres, over their clipping radii",
    "Spread": "how far rows spread",
    "Radii": "how far rows lie",
    "SegmentHistogram": "histograms of columns",
    "DistanceScales": "scales of distances",
    "CappedLosses": "capped distances",
    "SparseCount": "numbers of rows",
    "SwapLoss": "what a swap would save",
    "Loss": "losses of sets of centres",
    "Pull": "pulls on the centres",
    "MedianLoss": "what a move of a centre would save",
}


@dataclass(frozen=True)
class Charges:
    """Charges of one part with the same mechanism and the same question.

    Attributes
    ----------
    part, mechanism, query : str
    notes : tuple of str
        What each was for, in the order of the ledger.
    scales : tuple of float
        Their noise scales, in the mechanism's own norm.
    """

    part: str
    mechanism: str
    query: str
    notes: tuple[str, ...]
    scales: tuple[float, ...]

    @property
    def purpose(self) -> str:
        """What they were for: the first, and the last of many."""
        first, *others = dict.fromkeys(self.notes)
        if not others:
            return first
        return f"{first} … {others[-1]}" if first.split()[:1] == others[-1].split()[:1] else f"{first}, and others"

    @property
    def asked(self) -> str:
        """The question in plain words, where it has some."""
        return _QUESTIONS.get(self.query, self.query)

    @property
    def noise(self) -> str:
        """Their noise scale, or the range of it."""
        low, high = format_number(min(self.scales)), format_number(max(self.scales))
        return low if low == high else f"{low} to {high}"


def group_charges(facts: CardFacts) -> Iterator[Charges]:
    """The ledger's entries in groups, in the order in which the first of each was charged."""
    alike: dict[tuple[str, str, str], list[tuple[str, float]]] = {}
    for entry in facts.entries:
        key = (str(entry.get("part", "")), str(entry.get("mechanism", "")), str(entry.get("query", "")))
        alike.setdefault(key, []).append((str(entry.get("note", "")), float(entry.get("scale", 0.0))))
    for key, said in alike.items():
        notes, scales = zip(*said, strict=True)
        yield Charges(*key, notes, scales)
