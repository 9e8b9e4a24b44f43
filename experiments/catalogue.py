"""All tables of the four papers: file names, published bounds, and generators of synthetic tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import NamedTuple

import numpy as np

from dpviz.algorithms.tools.solvers import pack_spheres
from dpviz.core.arrays import Array
from dpviz.core.domain import Domain, Region
from dpviz.tables.made_tables import MIXTURE, make_gaussian_mixture, simulate
from experiments.material import PUBLISHED, RECIPE, SUBSTITUTE, SYNTHETIC, Bound, Material, PaperTable

# Centre of Letter's columns, from its published table.
_LETTER_MEANS = (
    *(4.02, 7.04, 5.12, 5.37, 3.51, 6.90, 7.50, 4.63),
    *(5.18, 8.28, 6.45, 7.93, 3.05, 8.34, 3.69, 7.80),
)


@dataclass(frozen=True)
class _Spreads:
    """How wide clusters of generated tables are.

    Chosen by us, for tables that stand in for published ones.

    Parameters
    ----------
    plane, colours, wide : float
        As a part of the bounds, on two columns, three, and more: what has more columns is less clearly
        clustered.
    well_separated : float
        Standard deviation of a cluster of Su et al.'s synthetic tables, unit coordinates, as a part of the
        centres' spacing.
    """

    plane: float = 0.05
    colours: float = 0.08
    wide: float = 0.12
    well_separated: float = 0.15


_SPREADS = _Spreads()


@dataclass(frozen=True)
class _Radii:
    """Half-widths of published tables around the centre of their columns, in their units.

    Parameters
    ----------
    letter : float
        Letter: Google centred it, and read the radius from it.
    gas : float
        The gas turbine's columns, whose units are as published.
    mnist : float
        MNIST's pixels, whose middle is black.
    """

    letter: float = 21.7
    gas: float = 109.4
    mnist: float = 17.6 * 255


_RADII = _Radii()


# The same of the gas turbine's columns.
_GAS_MEANS = (17.71, 1013.07, 77.87, 3.93, 25.56, 1081.43, 546.16, 133.51, 12.06, 2.37, 65.29)


class Apart(NamedTuple):
    """How far labels of a synthetic table lie from the middle of the unit ball, and the parts of one from its label."""

    labels: float = 0.8
    parts: float = 0.35


_APART = Apart()
# MNIST, pixels from 0 to 1: its variance is 52.7 and ten clusters leave 39.4 of it, so that no clustering, however
# noisy, need lose more than 1.34 times as much as the best. Its synthetic table has that quotient, in a ball of radius
# 17.6.
_MNIST_APART, _MNIST_WITHIN = Apart(labels=0.194, parts=0.18), 0.312


def make_box_table(name: str, n: int, d: int, k: int, spread: float, seed: int) -> Material:
    """Gaussian clusters of unequal sizes and 5 % uniform rows in [-1, 1]^d.

    Parameters
    ----------
    name : str
    n, d, k : int
        Rows, columns and clusters.
    spread : float
        Standard deviation of a cluster, as a part of the bounds.
    seed : int

    Returns
    -------
    Material
        In [-1, 1]^d.
    """
    loaded = simulate(-1.0, 1.0, n, d, k, seed, spread)
    columns = loaded.numeric_columns
    return Material(name, SYNTHETIC, loaded.columns(columns), Domain.of(columns, -1.0, 1.0))


def make_ball_table(
    name: str,
    n: int,
    d: int,
    labels: int,
    parts: int,
    within: float,
    seed: int,
    *,
    apart: Apart = _APART,
    origin: str = SYNTHETIC,
) -> Material:
    """Gaussian parts in the unit ball, ``parts`` of them a label; ``within`` is a row's distance from its part.

    Parameters
    ----------
    name : str
    n, d : int
        Rows and columns.
    labels, parts : int
        Labels, and Gaussian parts of each.
    within : float
        How far a row lies from the middle of its part, in the ball's radius.
    seed : int
    apart : Apart
        How far labels lie from the middle, and parts from their label.
    origin : str
        Where the table is said to come from.

    Returns
    -------
    Material
        In the unit ball, columns in one scale; the labels are those that were put in.
    """
    rng = np.random.default_rng(seed)
    of_label = _draw_in_ball(labels, d, apart.labels, rng)
    centers = np.repeat(of_label, parts, axis=0)
    if parts > 1:
        centers = centers + _draw_in_ball(labels * parts, d, apart.parts, rng)
    part = rng.integers(labels * parts, size=n)
    rows = rng.standard_normal((n, d))
    rows *= within / sqrt(d)
    rows += centers[part]
    rows /= np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
    columns = [f"x_{place}" for place in range(1, d + 1)]
    domain = Domain.of(columns, -1.0, 1.0, radius=1.0, scaling="common")
    return Material(name, origin, rows, domain, part // parts)


def make_separated(n: int, d: int, k: int) -> Material:
    """Su et al.'s synthetic tables: k well-separated Gaussian clusters of equal size in [-1, 1]^d, dealt in turn.

    Parameters
    ----------
    n, d, k : int
        Rows, columns and clusters.

    Returns
    -------
    Material
        The same one for the same numbers.
    """
    rng = np.random.default_rng((0, d, k))
    centers = pack_spheres(k, Region(np.ones(d), sqrt(d)), rng)
    gaps = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(k, 1)]
    sd = _SPREADS.well_separated * float(gaps.min()) / sqrt(d)
    rows = np.clip(centers[np.arange(n) % k] + sd * rng.standard_normal((n, d)), -1.0, 1.0)
    columns = [f"x_{place}" for place in range(1, d + 1)]
    return Material("well-separated clusters", RECIPE, rows, Domain.of(columns, -1.0, 1.0))


def make_sixty_four_gaussians() -> Material:
    """Google's synthetic table; Balcan et al. describe theirs by n, d and the number of Gaussians alone."""
    loaded, declared = make_gaussian_mixture(), MIXTURE
    bounds = declared.list_bounds(declared.columns)
    domain = Domain.of(declared.columns, bounds.lower, bounds.upper, radius=declared.radius, scaling="common")
    labels = loaded.frame["label"].to_numpy().astype(np.int64)
    return Material("64 Gaussians", RECIPE, loaded.columns(list(declared.columns)), domain, labels)


def _draw_in_ball(number: int, d: int, radius: float, rng: np.random.Generator) -> Array:
    directions = rng.standard_normal((number, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    points: Array = directions * (radius * rng.random((number, 1)) ** (1 / d))
    return points


def _publish_box(
    name: str, files: dict[str, str], n: int, d: int, k: int, spread: float, lower: Bound = None, upper: Bound = None
) -> PaperTable:
    return PaperTable(name, files, partial(make_box_table, name, n, d, k, spread, seed=n), lower, upper)


def _publish_ball(
    name: str, file: str, n: int, d: int, labels: int, parts: int, within: float, apart: Apart = _APART
) -> PaperTable:
    make = partial(make_ball_table, name, n, d, labels, parts, within, seed=n + d, apart=apart)
    return PaperTable(name, {file: PUBLISHED}, make)


def _center_around(entry: PaperTable, middle: tuple[float, ...], radius: float) -> PaperTable:
    """``entry`` in a ball around a published middle, data units."""
    lower, upper = (tuple(mean + side * radius for mean in middle) for side in (-1, 1))
    return replace(entry, lower=lower, upper=upper, radius=radius)


CATALOGUE = (
    _publish_box("S1", {"s1.csv": PUBLISHED}, 5_000, 2, 15, _SPREADS.plane, 0.0, 1e6),
    _publish_box(
        "Gowalla",
        {"gowalla_su.csv.gz": PUBLISHED, "gowalla.csv.gz": SUBSTITUTE},
        *(107_091, 2, 5, _SPREADS.plane, (-180.0, -90.0), (180.0, 90.0)),
    ),
    _publish_box(
        "TIGER",
        {"tiger.csv": PUBLISHED, "roads_california.csv": SUBSTITUTE},
        *(16_281, 2, 2, _SPREADS.colours, (-124.5, 32.5), (-114.0, 42.1)),
    ),
    _publish_box(
        "Image", {"image.csv": PUBLISHED, "image_house.csv": SUBSTITUTE}, 34_112, 3, 3, _SPREADS.colours, 0.0, 255.0
    ),
    _publish_box(
        "Adult-num",
        {"adult_num.csv.gz": PUBLISHED},
        *(48_841, 6, 5, _SPREADS.wide),
        lower=(17.0, 12_285.0, 1.0, 0.0, 0.0, 1.0),
        upper=(90.0, 1_490_400.0, 16.0, 99_999.0, 4_356.0, 99.0),
    ),
    _publish_box(
        "Lifesci",
        {"lifesci.csv": PUBLISHED},
        *(26_733, 10, 3, _SPREADS.wide),
        lower=(-13.5, -6.5, -7.6, -4.8, -7.0, -5.1, -4.7, -5.0, -5.2, -3.5),
        upper=(0.0, 6.0, 5.7, 5.4, 4.8, 6.5, 6.4, 4.6, 4.8, 5.0),
    ),
    _center_around(
        _publish_ball("MNIST", "mnist.csv.gz", 70_000, 784, 10, 4, _MNIST_WITHIN, _MNIST_APART),
        (0.0,) * 784,
        _RADII.mnist,
    ),
    _publish_ball("CIFAR-10 features", "cifar10_features.csv.gz", 100_000, 160, 10, 6, 0.4),
    _publish_ball("MNIST embedding", "mnist_embedding.csv.gz", 60_000, 40, 10, 4, 0.25),
    _center_around(_publish_ball("Letter", "letter.csv.gz", 20_000, 16, 26, 2, 0.3), _LETTER_MEANS, _RADII.letter),
    _center_around(_publish_ball("Gas turbine", "gas_turbine.csv", 36_733, 11, 8, 1, 0.3), _GAS_MEANS, _RADII.gas),
    PaperTable("64 Gaussians", {}, make_sixty_four_gaussians),
    PaperTable(
        "three clusters", {}, partial(make_ball_table, "three clusters", 5_000, 3, 3, 1, 0.15, seed=3, origin=RECIPE)
    ),
)
