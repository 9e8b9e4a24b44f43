"""Where the numbers of marks stand: beside their mark, on the side that is free, so that none covers another."""

from __future__ import annotations

import numpy as np

from dpviz.core import Array

# A picture has at least about this many pixels along an axis.
_PIXELS = 420.0
# The eight places beside a mark, by their direction, up is positive.
_SIDES = {
    **{"top right": (1, 1), "top left": (-1, 1), "bottom right": (1, -1), "bottom left": (-1, -1)},
    **{"middle right": (1, 0), "middle left": (-1, 0), "top center": (0, 1), "bottom center": (0, -1)},
}
_WIDE = 0.6  # of the font size, for a digit


class LabelBoxes:
    """What stands on a picture of drawn ranges ``low`` to ``high`` (2,) already: boxes in pixels."""

    def __init__(self, low: Array, high: Array) -> None:
        self._low, self._scale = low, _PIXELS / np.where(high > low, high - low, 1.0)
        self._boxes: list[Array] = []

    def pixels(self, places: Array) -> Array:
        """Drawn places (m, 2) in pixels, up is positive."""
        at: Array = (places - self._low) * self._scale
        return at

    def takes(self, places: Array, size: float) -> None:
        """Marks of a diameter at drawn places (m, 2): no number may cover them.

        ``places`` (m, 2), drawn units.
        """
        half = size / 2
        self._boxes += [np.r_[at - half, at + half] for at in self.pixels(places)]

    def places(self, texts: list[str], places: Array, away: Array, *, size: float, font: float) -> list[str]:
        """On which side of its mark each text stands, "" where there is no room at all.

        ``away`` (m, 2), drawn units, is where each would best stand.

        ``places`` (m, 2), drawn units; ``away`` (m, 2), where each would best stand, drawn units.
        """
        return [
            self._place(text, at, to, size=size, font=font)
            for text, at, to in zip(texts, self.pixels(places), away * self._scale, strict=True)
        ]

    def free(self, box: Array) -> bool:
        """Whether a box (left, bottom, right, top) in pixels covers nothing."""
        if not self._boxes:
            return True
        taken = np.array(self._boxes)
        return not ((taken[:, :2] < box[2:]) & (taken[:, 2:] > box[:2])).all(axis=1).any()

    def add(self, box: Array) -> None:
        """A box that is taken from now on."""
        self._boxes.append(box)

    def _place(self, text: str, at: Array, away: Array, *, size: float, font: float) -> str:
        reach, half = size / 1.6 + 1, np.array([_WIDE * font * len(text), font]) / 2
        length = float(np.hypot(*away))
        toward = away / length if length > 0 else np.array([1.0, 1.0])
        order = sorted(_SIDES, key=lambda side: -float(np.dot(toward, _SIDES[side]) / np.hypot(*_SIDES[side])))
        for side in order:
            middle = at + np.array(_SIDES[side]) * (reach + half)
            box = np.r_[middle - half, middle + half]
            if self.free(box):
                self.add(box)
                return side
        return ""
