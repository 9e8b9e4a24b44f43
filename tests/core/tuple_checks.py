"""Tuples that agree, and constants under which a mechanism on tuples says something."""

import numpy as np

# A large δ needs fewer tuples, which makes a draw cheap.
CHEAP = {"epsilon": 1.0, "delta": 0.01, "k": 2, "number": 560, "beta": 0.05}
SMALL = {"epsilon": 1.0, "delta": 1e-6, "k": 2, "number": 1720, "beta": 0.05}


def tight_tuples(number: int, k: int = 2, dim: int = 2, *, jitter: float = 0.0, misfits: int = 0, seed: int = 0):
    """Tuples around k far-apart points, their points in a random order; the last ``misfits`` have two at one place."""
    rng = np.random.default_rng(seed)
    places = np.zeros((k, dim))
    places[:, 0] = np.linspace(-0.8, 0.8, k)
    tuples = places + jitter * rng.standard_normal((number, k, dim))
    if misfits:
        tuples[-misfits:, 0] = tuples[-misfits:, 1]
    return rng.permuted(tuples, axis=1) if dim == 1 else np.stack([t[rng.permutation(k)] for t in tuples])
