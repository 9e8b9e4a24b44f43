"""Statistical verdicts on noise: a law is accepted at its scale, and rejected at 0.8 and 1.25 times it."""

import numpy as np
from scipy import stats

ACCEPT, REJECT = 1e-3, 1e-6


def check_scale(samples: np.ndarray, law: stats.rv_continuous, scale: float, *shape: float) -> None:
    """Kolmogorov and Smirnov accept ``law`` at ``scale`` and reject it at ×0.8 and ×1.25.

    Around 0 lengths tell scales apart twice as well as numbers with their signs.
    """
    assert len(samples) >= 1000, "too few samples to tell"
    folded = law in (stats.norm, stats.laplace, stats.cauchy)

    def fits(times: float) -> float:
        cdf = law(*shape, scale=scale * times).cdf
        of_lengths = stats.kstest(np.abs(samples), lambda x: 2 * cdf(x) - 1) if folded else stats.kstest(samples, cdf)
        return float(of_lengths.pvalue)

    assert stats.kstest(samples, law(*shape, scale=scale).cdf).pvalue > ACCEPT, "not the noise that the ledger says"
    assert fits(1.0) > ACCEPT, "not the noise that the ledger says"
    assert max(fits(0.8), fits(1.25)) < REJECT, "too few samples to tell"


def check_frequencies(counts: np.ndarray, expected: np.ndarray) -> None:
    """Chi-square accepts the expected probabilities."""
    assert counts.sum() * expected.min() >= 5
    assert stats.chisquare(counts, expected * counts.sum()).pvalue > ACCEPT, "not the law that the ledger says"


def check_rate(hits: int, trials: int, rate: float) -> None:
    """The exact binomial test accepts ``rate``."""
    assert stats.binomtest(hits, trials, rate).pvalue > ACCEPT, "not the rate that the ledger says"


def check_independent(columns: np.ndarray) -> None:
    """Columns of shape (repeats, variables), each of unit variance and mean 0, do not know of each other."""
    repeats = len(columns)
    gap = np.abs(np.corrcoef(columns.T) - np.eye(columns.shape[1])).max()
    assert gap < 5 / np.sqrt(repeats), "noises are correlated"
    sizes = np.abs(columns) - np.abs(columns).mean(axis=0)
    gap = np.abs(np.corrcoef(sizes.T) - np.eye(columns.shape[1])).max()
    assert gap < 5 / np.sqrt(repeats), "the sizes of noises are correlated"
