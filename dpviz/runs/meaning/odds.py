"""What a release can teach about one person: what may be believed after it, the line that no attack passes, and how
many people hide one.

"""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, log, tanh
from typing import ClassVar, NamedTuple, overload

import numpy as np

from dpviz.algorithms import TreeStep
from dpviz.core import Array, RequestError, check, mechanisms
from dpviz.runs.one_run import Run


class Belief(NamedTuple):
    """Probabilities that somebody gives to one thing about one person, after a release: no lower, no higher."""

    least: float
    most: float

    @classmethod
    def bound(cls, prior: float, *, epsilon: float) -> Belief:
        """How far a pure ε-DP release can move a belief that was ``prior``: its odds change by a factor e^ε at most.

        With δ > 0 a release may go beyond this with a small probability; ``bound_hits`` has δ.

        >>> [round(100 * Belief.bound(0.5, epsilon=epsilon).most, 1) for epsilon in (0.1, 1, 2, 5)]
        [52.5, 73.1, 88.1, 99.3]
        >>> round(100 * Belief.bound(0.5, epsilon=1).least, 1)
        26.9
        >>> round(100 * Belief.bound(0.01, epsilon=1).most, 2)
        2.67

        References
        ----------
        Kasiviswanathan & Smith 2014, "On the 'semantics' of differential privacy", Theorem 2.1. Nanayakkara, Smart,
        Cummings, Kaptchuk & Redmiles 2023: odds explain ε better than samples of outputs (963 people).
        """
        epsilon = check.epsilon(epsilon=epsilon)
        if not 0 <= prior <= 1:
            raise check.RequestError(f"The prior is {prior:g}: give a probability from 0 to 1.")
        return cls(_move_odds(prior, -epsilon), _move_odds(prior, epsilon))


def compute_allowed_epsilon(prior: float, accepted: float) -> float:
    """The largest ε under which no belief that was ``prior`` can become more than ``accepted``; 0 where it is no more.

    The inverse of ``Belief.bound``: ln of the ratio of the odds. With δ > 0 a belief may go beyond it with that chance.

    >>> round(compute_allowed_epsilon(0.1, 0.25), 4), compute_allowed_epsilon(0.3, 0.2)
    (1.0986, 0.0)
    """
    for name, value in (("prior", prior), ("accepted posterior", accepted)):
        if not 0 < value < 1:
            raise check.RequestError(f"The {name} is {value:g}: give a probability between 0 and 1.")
    return max(0.0, log(accepted / (1 - accepted)) - log(prior / (1 - prior)))


def _move_odds(prior: float, log_factor: float) -> float:
    # p e^ε / (1 - p + p e^ε), from the smaller of the two sides, so that no power overflows.
    if log_factor > 0:
        return 1 - _move_odds(1 - prior, -log_factor)
    shrunk = prior * (1 + expm1(log_factor))
    return shrunk / (1 - prior + shrunk) if prior < 1 else 1.0


@overload
def bound_hits(false_alarms: float, *, epsilon: float, delta: float = 0.0) -> float: ...
@overload
def bound_hits(false_alarms: Array, *, epsilon: float, delta: float = 0.0) -> Array: ...
def bound_hits(false_alarms: float | Array, *, epsilon: float, delta: float = 0.0) -> float | Array:
    """``false_alarms`` (m,), in [0, 1]. Returns shape as ``false_alarms``.

    The most that "this person is in" can be right where they are, if it is wrong so often where they are not.

    TPR ≤ min(e^ε FPR + δ, 1 - e^-ε (1 - δ - FPR), 1), whatever is known beside the release, for one release between two
    neighbouring tables.

    >>> [round(bound_hits(rate, epsilon=1.0), 3) for rate in (0.0, 0.05, 0.269, 0.5, 1.0)]
    [0.0, 0.136, 0.731, 0.816, 1.0]
    >>> round(bound_hits(0.05, epsilon=0.1, delta=0.01), 4)
    0.0653

    References
    ----------
    Kairouz, Oh & Viswanath 2015, "The composition theorem for differential privacy", Theorem 2.4.
    """
    rate = np.asarray(false_alarms, dtype=np.float64)
    # Beyond ε = 700 the factor is no longer a floating-point number; the line has been at 1 for long.
    steep = rate * (1 + expm1(min(epsilon, 700.0))) + delta
    flat = 1 - (1 + expm1(-epsilon)) * (1 - delta - rate)
    most = np.minimum(np.minimum(steep, flat), 1.0)
    return most if isinstance(false_alarms, np.ndarray) else float(most)


def bound_advantage(*, epsilon: float, delta: float = 0.0) -> float:
    """The most by which hits can exceed false alarms: (e^ε - 1 + 2δ) / (e^ε + 1).

    Parameters
    ----------
    epsilon, delta : float

    Returns
    -------
    float
        Between 0 and 1.

    >>> [round(bound_advantage(epsilon=epsilon), 3) for epsilon in (0.1, 0.3, 1, 5)]
    [0.05, 0.149, 0.462, 0.987]
    """
    return min(1.0, tanh(epsilon / 2) + delta * (1 - tanh(epsilon / 2)))


def find_turning_point(*, epsilon: float, delta: float = 0.0) -> float:
    """The share of false alarms at which the line is farthest above guessing: (1 - δ) / (1 + e^ε).

    >>> round(find_turning_point(epsilon=1.0), 3)
    0.269
    """
    return (1 - delta) * (1 - tanh(epsilon / 2)) / 2


def trace_bound(*, epsilon: float, delta: float = 0.0) -> Array:
    """The line that no attack passes, to be drawn, with both corners.

    Parameters
    ----------
    epsilon, delta : float
        What is promised.

    Returns
    -------
    array of shape (m, 2)
        False alarms, and the most hits at so many.
    """
    turn = find_turning_point(epsilon=epsilon, delta=delta)
    across = np.unique(np.concatenate([np.linspace(0, 1, 101), [turn, 1 - turn]]))
    return np.column_stack([across, bound_hits(across, epsilon=epsilon, delta=delta)])


EVEN = 0.5
"""The chance from which a crowd counts as noticed: rather so than not."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """What a tree's own threshold says of a place: how likely it is to wake a cube there, for crowds of each size.

    Parameters
    ----------
    level : int
        The first level at which the cube over the place holds nobody else, or the last where there is none.
    alone : bool
        Whether there is one.
    box : array of shape (2, 2)
        The lower and the upper corner of that cube, unit coordinates.
    threshold, noise_sd : float
        From which noisy count on a cube wakes up, and the standard deviation of the noise on a count, people.
    chances : array of shape (3000,)
        The chance that the cube over the place wakes up, and all above it, with 1, 2, ... people there.
    """

    MOST: ClassVar[int] = 3_000
    """The largest crowd that is looked at."""

    level: int
    alone: bool
    box: Array
    threshold: float
    noise_sd: float
    chances: Array

    def chance(self, people: int) -> float:
        """The chance to be noticed with so many people at the place."""
        return float(self.chances[people - 1])

    @property
    def needed(self) -> int | None:
        """The smallest crowd that is rather noticed than not; None where no crowd up to 3,000 is."""
        noticed = np.flatnonzero(self.chances >= EVEN)
        return int(noticed[0]) + 1 if len(noticed) else None

    @classmethod
    def measure(cls, place: Array, others: Array, run: Run) -> Crowd:
        """What the tree of a run makes of a crowd at a place. Reads true counts: of public or simulated rows only.

        Each level draws noise of its own, so that the chances of the levels are multiplied.

        ``place`` (2,), unit coordinates; ``others`` (n, 2), everybody who is not of the crowd, unit coordinates.
        """
        steps = [step for step in run.steps if isinstance(step, TreeStep) and step.shift == 1]
        if not steps or steps[0].noise_name != mechanisms.Laplace.name:
            raise RequestError("The run grows no tree under Laplace noise: choose balcan without a δ.")
        tree, first = steps[0].tree, steps[0]
        edges = np.array([tree.edge(level) for level in range(1, len(steps) + 1)])
        mine = np.floor((place - tree.origin) / edges[:, None])
        theirs = np.floor((others - tree.origin) / edges[:, None, None])
        beside = (theirs == mine[:, None]).all(axis=2).sum(axis=1)
        lonely = np.flatnonzero(beside == 0)
        levels = int(lonely[0]) + 1 if len(lonely) else len(steps)
        counts = beside[:levels, None] + np.arange(1, cls.MOST + 1)
        # One person changes a count by one.
        asked = mechanisms.NoisyThreshold(mechanisms.Laplace(1.0, first.noise_scale), first.threshold)
        chances = np.exp(asked.log_active(counts).sum(axis=0))
        corner = tree.origin + mine[levels - 1] * edges[levels - 1]
        box = np.stack([corner, corner + edges[levels - 1]])
        return cls(levels, bool(len(lonely)), box, first.threshold, asked.once.compute_sd(1), chances)
