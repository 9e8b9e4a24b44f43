"""Steps of the local model: what a user sends, and what the server makes of all messages."""

from __future__ import annotations

from dataclasses import dataclass

from dpviz.algorithms.hashes.hash_levels import Flags
from dpviz.algorithms.steps import Step
from dpviz.arrays import Array, Codes


@dataclass(frozen=True, eq=False, kw_only=True)
class MessageStep(Step):
    """What a made-up user would send in each group; everything here is drawn from public coins, no row is involved.

    Parameters
    ----------
    bits : int64 array of shape (g,)
        Length of the prefix that each group sends.
    truths, sent : int64 arrays of shape (g,)
        The made-up user's own prefix, and the one that is sent.
    honest : array of shape (g,)
        The chance that the own prefix is sent.
    point, noisy_point : arrays of shape (d,)
        The made-up row, and what a user of the last group sends with the prefix; unit coordinates.
    users : int64 array of shape (g,)
        How many users are in each group.
    """

    bits: Codes
    truths: Codes
    sent: Codes
    honest: Array
    point: Array
    noisy_point: Array
    users: Codes
    epsilon: float


@dataclass(frozen=True, eq=False, kw_only=True)
class ServerTreeStep(Step):
    """Counts of prefixes that the server estimates from all messages; unbiased, so many are negative.

    ``nodes`` (m,) are heap numbers in order, ``noisy_counts`` (m,) users, ``count_sd`` (m,) their standard deviations;
    nodes under ``threshold`` standard deviations are not ``kept`` (m,).
    """

    nodes: Codes
    noisy_counts: Array
    count_sd: Array
    kept: Flags
    threshold: float
    n: int
