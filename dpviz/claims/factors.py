"""What the papers' words come to: a factor or a part of the places each, chosen by us and named in every finding."""

from __future__ import annotations

#: "As good as", "alike": a loss within a hundredth.
ALIKE = 0.99
#: "Comparable": losses within a factor of two.
COMPARABLE = 2.0
#: "Competitive", "degrades slowly", "does not drop": within half as much again.
COMPETITIVE = 1.5
#: "Much worse", "dominated by": at least twice.
MUCH = 2.0
#: "Much faster": a third of the time.
MUCH_FASTER = 3.0
#: "An order of magnitude", "orders of magnitude".
MAGNITUDE, MAGNITUDES = 10.0, 100.0
#: "In most cases": three places of four.
MOST = 0.75

WORDS = {
    "better, worse": "by any factor; within a thousandth of the line nothing is decided",
    "as good, alike": f"a loss at most {1 / ALIKE:.2f} times the other",
    "competitive, slowly": f"at most {COMPETITIVE:g} times",
    "comparable": f"within a factor of {COMPARABLE:g}",
    "much worse, dominated": f"at least {MUCH:g} times",
    "much faster": f"at least {MUCH_FASTER:g} times",
    "an order of magnitude, orders": f"at least {MAGNITUDE:g} and {MAGNITUDES:g} times",
    "in most cases": f"in {100 * MOST:.0f} % of the places",
}
"""The same for readers."""
