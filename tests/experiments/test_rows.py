"""What a claim's runs look like, on settings small enough for a test; and that sizes and laws are what they say."""

import numpy as np
import pandas as pd

from experiments.catalogue import make_ball_table
from experiments.trials import Line, Sweep
from experiments.tuple_sizes import Mixture, compute_averages_tuples, count_needed_tuples, search_noisy_centers_samples


def every_row(blocks, datasets=None):
    """The rows of a first look."""
    runs = (run for block in blocks for run in block.runs(datasets, lambda cell, repeats: range(repeats)))
    return [row for run in runs for row in run]


def test_a_grid_is_tidy_and_repeats_itself():
    material = make_ball_table("small", 400, 3, 3, 1, 0.2, seed=0)
    asked = [Line("Lloyd", "dplloyd", {"preset": "su"}), Line("less", "sulq", {}, 1e-6, spends=lambda e: e / 2)]
    sweep = Sweep(table=material, lines=asked, ks=(2,), epsilons=(0.5, 1.0), repeats=2)
    found = [pd.DataFrame(every_row([sweep])) for _ in range(2)]
    assert found[0].drop(columns="seconds").equals(found[1].drop(columns="seconds"))
    assert len(found[0]) == 2 * 2 * 2
    assert set(found[0]["epsilon"]) == {0.5, 1.0}  # of the axis, not what was spent
    assert (found[0]["nicv"] >= found[0]["kmeans"] * 0.999).all()


def test_separation_is_what_samples_would_say():
    mixture, rng = Mixture(k=2, d=2, reach=5.0), np.random.default_rng(1)
    samples = mixture.means[:, None] + rng.standard_normal((2, 2000, 2))
    for centers in (mixture.means, mixture.means + 0.5, np.array([[5.0, 0.0], [-1.0, 0.0]]), np.zeros((2, 2))):
        nearest = ((samples[:, :, None] - centers) ** 2).sum(axis=3).argmin(axis=2)
        pure = (nearest == nearest[:, :1]).all() and nearest[0, 0] != nearest[1, 0]
        assert mixture.separated(centers, 4000) == pure


def test_the_papers_constants():
    assert count_needed_tuples() == 4296  # where the paper reports 3,781
    assert 4.5e5 < compute_averages_tuples(Mixture(2, 4, 512.0)) / 8 < 6.5e5
    near, far = (search_noisy_centers_samples(Mixture(2, 1, reach), seed=(0,), draws=1) for reach in (128, 512))
    assert near > 4 * far
