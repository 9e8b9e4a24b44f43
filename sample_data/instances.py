"""Samples for algorithms that most tables are no case for: far-apart towns, tuples of points, rows of few words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from dpviz.tables.declarations import Declaration, FileKind
from dpviz.tables.made_tables import FIXED_POINTS, WORDS, draw_fixed_points, make_bag_of_words
from sample_data.made import LICENCE, SOURCE, Made, MadeSparse, csv_text


def towns(seed: int = 2) -> Made:
    """Places in two small towns far apart, whole kilometres: clusters thousands of times farther apart than wide.

    A town's standard deviation is 0.7 km; the towns are 3,100 km apart: the case of Cohen et al. (2021).
    """
    rng, n = np.random.default_rng(seed), 120_000
    label = (rng.random(n) < 0.4).astype(np.int64)
    middles = np.array([[700.0, 1_300.0], [3_400.0, 2_850.0]])
    east, north = np.rint(middles[label] + 0.7 * rng.standard_normal((n, 2))).T
    declaration = Declaration(
        title="Two far towns",
        description="120,000 places in two towns, a kilometre wide and thousands of them apart: an easy instance.",
        columns=("east", "north"),
        lower=(0.0, 0.0),
        upper=(4_000.0, 4_000.0),
        bounds_origin="The map is 4,000 kilometres wide and high.",
        scaling="common",
        unit_of_privacy="one place (one row)",
        n_public=n,
        kind=FileKind.PUBLIC,
        source=SOURCE,
        licence=LICENCE,
        label_column="label",
    )
    return Made(csv_text("east,north,label", "%d,%d,%d", east, north, label), declaration)


def laboratories(seed: int = 4) -> Made:
    """Two points that laboratories measured alike, each row a pair in either order; a few are wrong."""
    n = 5_000
    rows = draw_fixed_points(n, spread=0.002, wrong=8, seed=seed)
    rows = rows[np.random.default_rng(seed).permutation(n)]
    declaration = replace(
        FIXED_POINTS,
        title="Two fixed points, 5,000 laboratories",
        description="5,000 laboratories measured when zinc and aluminium freeze, a pair of points a row: for "
        "k-noisy-centers with rows = tuples.",
        n_public=n,
        unit_of_privacy="one laboratory (one row, a pair of points)",
        source=SOURCE,
    )
    return Made(csv_text(",".join(FIXED_POINTS.columns), "%.4f,%.4f,%.4f,%.4f", *rows.T), declaration)


def words() -> MadeSparse:
    """The texts of ``make_bag_of_words`` as a sparse file, whose columns have no names."""
    rows = sparse.csr_array(make_bag_of_words().columns(WORDS.columns).astype(np.int8))
    unnamed = replace(WORDS, columns=(), lower=(-1.0,), upper=(1.0,), label_column=None, source=SOURCE)
    return MadeSparse(rows, unnamed)
