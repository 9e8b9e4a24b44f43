"""Steps of algorithms on k-tuples: what the private test said, and a mixture."""

from __future__ import annotations

from dataclasses import dataclass

from dpviz.algorithms.steps import Step
from dpviz.arrays import Array


@dataclass(frozen=True, eq=False, kw_only=True)
class TupleTestStep(Step):
    """The answer of a test of tuples, with its public numbers; ``centers`` (k, d) are released if it ``passed``.

    Parameters
    ----------
    number, needed : int
        Tuples, and how many the formulas ask for: with fewer the answer is ⊥ before any row is read.
    rows_per_tuple : float
        Rows of a block, on average; 1 where rows are tuples.
    sampled : int
        m, the tuples that are tried; 0 where none is.
    far : float
        Δ.
    misfit_limit, misfit_scale : float
        Noisy misfits up to which a sampled tuple passes, and the scale of the Laplace noise on them.
    vote_limit, vote_scale : float
        Noisy votes from which the test passes, and the scale of the Laplace noise on them.
    center_noise_sd : array of shape (k,) or None
        Typical standard deviation of the noise, estimated from the released distances alone: the true one depends on
        rows and is not released.
    anchors : array of shape (k, d)
        Public: what blocks with fewer than k distinct rows answer, and what stands in for ⊥.
    salt : int
        Public coin of the models of the blocks.
    given : bool
        Whether each row of the table is a tuple; otherwise tuples are models of secret blocks.
    """

    passed: bool
    centers: Array | None
    center_noise_sd: Array | None
    number: int
    needed: int
    rows_per_tuple: float
    sampled: int
    far: float
    misfit_limit: float
    misfit_scale: float
    vote_limit: float
    vote_scale: float
    anchors: Array
    salt: int
    given: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class MixtureStep(Step):
    """A released mixture: noisy weights (k,), means (k, d), covariances (k, d, d), unit coordinates.

    ``clip_radius`` is the public radius that residuals were clipped to; None where they were not.
    """

    weights: Array
    centers: Array
    covariances: Array
    clip_radius: float | None = None
