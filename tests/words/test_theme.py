import itertools
import tomllib
from pathlib import Path

import numpy as np
import pytest

from dpviz.words import theme
from dpviz.words.theme import CLUSTER_MARKS, choose_palette

CONFIG = tomllib.loads((Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml").read_text())
BOTH = pytest.mark.parametrize("name", ["light", "dark"])

# Machado et al. 2009, severity 1: what a colour looks like without one kind of cone, linear RGB.
VISION = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(color: str) -> np.ndarray:
    value = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio."""
    low, high = sorted(float(TO_XYZ[1] @ linear(color)) for color in (one, other))
    return (high + 0.05) / (low + 0.05)


def difference(one: str, other: str, vision: np.ndarray) -> float:
    """CIE 1976 colour difference for an eye; 2 is just noticeable."""

    def lab(color: str) -> np.ndarray:
        xyz = TO_XYZ @ np.clip(vision @ linear(color), 0, 1) / (TO_XYZ @ np.ones(3))
        f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

    return float(np.linalg.norm(lab(one) - lab(other)))


@BOTH
def test_text_and_kinds_are_readable(name):
    p = choose_palette(name)
    assert contrast(p.text, p.surface) >= 7
    for color in (p.muted, p.public, p.released, p.revealed):
        assert contrast(color, p.surface) >= 4.5
    assert contrast(p.many, p.surface) >= 3
    assert contrast(p.outline, p.surface) >= 7


@BOTH
def test_kinds_and_clusters_differ_for_every_eye(name):
    p = choose_palette(name)
    for eye in VISION.values():
        for one, other in itertools.combinations((p.public, p.released, p.revealed), 2):
            assert difference(one, other, eye) > 15
        for mark, other_mark in itertools.combinations(CLUSTER_MARKS, 2):
            assert difference(mark.color, other_mark.color, eye) > 8
            assert mark.symbol != other_mark.symbol


@BOTH
def test_signed_values_diverge_from_the_surface(name):
    p = choose_palette(name)
    positions, colors = zip(*p.diverging, strict=True)
    assert positions == (0, 0.25, 0.5, 0.75, 1)
    assert colors[2] == p.surface
    away = [contrast(color, p.surface) for color in colors]
    assert away[0] > away[1] > away[2] == 1 < away[3] < away[4]
    for eye in VISION.values():
        assert difference(colors[0], colors[4], eye) > 30
        assert difference(colors[1], colors[3], eye) > 30


@BOTH
def test_the_app_and_its_charts_share_one_palette(name):
    p, app = choose_palette(name), CONFIG["theme"][name]
    assert (app["textColor"], app["backgroundColor"]) == (p.text, p.surface)
    assert (app["grayColor"], app["blueColor"], app["orangeColor"]) == (p.public, p.released, p.revealed)
    assert CONFIG["theme"]["font"] == theme.FONT
