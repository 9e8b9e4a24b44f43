"""What the papers' words come to: a factor or a part of the places each, chosen by us and named in every finding."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Factors:
    """What the papers' words come to.

    Chosen by us, once for all papers, and named in every finding.

    Parameters
    ----------
    alike : float
        "As good as", "alike": a loss within a hundredth.
    comparable : float
        "Comparable": losses within a factor of two.
    competitive : float
        "Competitive", "degrades slowly", "does not drop": within half as much again.
    much : float
        "Much worse", "dominated by": at least twice.
    much_faster : float
        "Much faster": a third of the time.
    magnitude, magnitudes : float
        "An order of magnitude", "orders of magnitude".
    most : float
        "In most cases": three places of four.
    """

    alike: float = 0.99
    comparable: float = 2.0
    competitive: float = 1.5
    much: float = 2.0
    much_faster: float = 3.0
    magnitude: float = 10.0
    magnitudes: float = 100.0
    most: float = 0.75


FACTORS = Factors()


WORDS = {
    "better, worse": "by any factor; within a thousandth of the line nothing is decided",
    "as good, alike": f"a loss at most {1 / FACTORS.alike:.2f} times the other",
    "competitive, slowly": f"at most {FACTORS.competitive:g} times",
    "comparable": f"within a factor of {FACTORS.comparable:g}",
    "much worse, dominated": f"at least {FACTORS.much:g} times",
    "much faster": f"at least {FACTORS.much_faster:g} times",
    "an order of magnitude, orders": f"at least {FACTORS.magnitude:g} and {FACTORS.magnitudes:g} times",
    "in most cases": f"in {100 * FACTORS.most:.0f} % of the places",
}
"""The same for readers."""
