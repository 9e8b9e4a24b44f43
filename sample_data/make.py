"""Make the sample tables of this folder again, byte for byte: ``python -m sample_data.make`` in the root.

Every table is generated, so it is public (CC0) and nobody is in it. Bounds are declared here by hand, from
what each column means; no bound is computed from the rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from dpviz.tables.codings import Described
from dpviz.tables.declarations import Declaration, FileKind, to_json
from sample_data.instances import laboratories, towns, words
from sample_data.made import LICENCE, SOURCE, Array, Made, MadeSparse, csv_text

HERE = Path(__file__).resolve().parent


def fifteen(seed: int = 15) -> Made:
    """Fifteen Gaussian clusters of different sizes and shapes in a square."""
    rng = np.random.default_rng(seed)
    centers = np.array(
        [
            [130, 860], [360, 900], [610, 840], [870, 880],
            [110, 610], [350, 660], [600, 600], [850, 650],
            [160, 370], [400, 400], [660, 350], [890, 400],
            [230, 120], [510, 140], [790, 130],
        ],
        dtype=np.float64,
    )  # fmt: skip
    centers += rng.uniform(-22, 22, centers.shape)
    share = rng.uniform(0.6, 1.4, 15)
    label = rng.choice(15, size=5_000, p=share / share.sum())
    angle, long, short = rng.uniform(0, np.pi, 15), rng.uniform(30, 46, 15), rng.uniform(18, 30, 15)
    a, b = rng.standard_normal((2, 5_000)) * np.stack([long[label], short[label]])
    x = centers[label, 0] + a * np.cos(angle[label]) - b * np.sin(angle[label])
    y = centers[label, 1] + a * np.sin(angle[label]) + b * np.cos(angle[label])
    declaration = Declaration(
        title="Fifteen clusters",
        description="5,000 points in fifteen Gaussian clusters: everybody can see whether a centre is right.",
        columns=("x", "y"),
        lower=(0.0, 0.0),
        upper=(1000.0, 1000.0),
        bounds_origin="The square the clusters were laid out in, chosen before a point was drawn.",
        scaling="common",
        unit_of_privacy="one point (one row)",
        n_public=5_000,
        kind=FileKind.PUBLIC,
        source=SOURCE,
        licence=LICENCE,
        label_column="label",
    )
    x, y = np.clip(x, 0, 1000), np.clip(y, 0, 1000)
    return Made(csv_text("x,y,label", "%.1f,%.1f,%d", x, y, label + 1), declaration)


def river_north(x: Array) -> Array:
    """Middle line of the river, km north, at x km east."""
    return 8.0 + 1.1 * np.sin(x / 3.4) - 0.12 * (x - 10)


def city(seed: int = 20) -> Made:
    """Pick-ups in a made-up harbour town on the equator, where a degree is as long east as north."""
    rng = np.random.default_rng(seed)
    points = np.concatenate(
        [
            _street_grid(rng, 16_000),
            _radial_roads(rng, 6_000),
            _places(rng, 8_500),
        ]
    )
    east, north = points.T
    wide = 0.55 + 0.03 * east
    bridge = (np.abs(east - 8.3) < 0.05) | (np.abs(east - 12.4) < 0.05)
    dry = (np.abs(north - river_north(east)) > wide) | bridge
    lake = ((east - 15.6) / 1.5) ** 2 + ((north - 12.6) / 1.0) ** 2 < 1
    inside = (east > 0) & (east < 20) & (north > 0) & (north < 16)
    kept = points[dry & ~lake & inside]
    kept = kept[rng.permutation(len(kept))[:20_000]]
    longitude, latitude = (kept / 111.32).T
    declaration = Declaration(
        title="Town by the river",
        description="20,000 taxi pick-ups of a made-up town: a dense centre, streets, suburbs, a river.",
        columns=("longitude", "latitude"),
        lower=(0.0, 0.0),
        upper=(0.18, 0.144),
        bounds_origin="The town limits on the map: 20 km east to west, 16 km south to north.",
        scaling="common",
        unit_of_privacy="one pick-up (one row)",
        n_public=20_000,
        kind=FileKind.PUBLIC,
        source=SOURCE,
        licence=LICENCE,
    )
    return Made(csv_text("longitude,latitude", "%.5f,%.5f", longitude, latitude), declaration)


def _street_grid(rng: np.random.Generator, n: int) -> Array:
    """Points on a turned street grid, thick in the old town and thin outside, km."""
    turn = np.deg2rad(17)
    along = rng.standard_normal((n, 2)) * np.where(rng.random((n, 1)) < 0.6, 1.3, 3.6)
    block = np.where(np.abs(along) < 2.5, 0.35, 0.7)
    snapped = np.round(along / block) * block
    on_first = rng.random(n) < 0.5
    street = np.where(np.stack([on_first, ~on_first], axis=1), snapped, along) + 0.02 * rng.standard_normal((n, 2))
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return street @ rotation + [9.2, 10.2]


def _radial_roads(rng: np.random.Generator, n: int) -> Array:
    """Points along main roads out of the centre, km."""
    bearing = np.deg2rad([5, 48, 100, 158, 205, 262, 318])[rng.integers(7, size=n)]
    away = np.abs(rng.standard_normal(n)) * 5.0
    bend = bearing + 0.035 * away
    road = np.stack([np.cos(bend), np.sin(bend)], axis=1) * away[:, None]
    return road + [9.2, 10.2] + 0.05 * rng.standard_normal((n, 2))


def _places(rng: np.random.Generator, n: int) -> Array:
    """Suburbs, the university, the station, the harbour and the airport, km."""
    places = np.array(
        [  # east, north, sd east, sd north, share
            [3.0, 13.2, 0.55, 0.45, 0.17],
            [3.4, 4.0, 0.70, 0.50, 0.16],
            [9.8, 3.4, 0.65, 0.55, 0.18],
            [16.8, 9.6, 0.60, 0.50, 0.14],
            [14.2, 4.2, 0.30, 0.25, 0.09],
            [10.6, 11.2, 0.18, 0.14, 0.10],
            [17.8, 2.2, 0.25, 0.12, 0.10],
            [11.8, 14.2, 0.50, 0.35, 0.06],
        ]
    )
    at = rng.choice(len(places), size=n, p=places[:, 4])
    return places[at, :2] + places[at, 2:4] * rng.standard_normal((n, 2))


SEGMENTS = ("student", "starter", "family", "commuter", "well-off", "retired")
REGIONS = ("North", "South", "East", "West")


def people(seed: int = 6) -> Made:
    """A made-up household survey: six segments, six numeric columns, a region and the segment."""
    rng = np.random.default_rng(seed)
    n = 12_000
    segment = rng.choice(6, size=n, p=[0.13, 0.20, 0.24, 0.14, 0.09, 0.20])
    ability, thrift, chance = rng.standard_normal((3, n))

    def typical(*by_segment: float) -> Array:
        return np.array(by_segment)[segment]

    age = typical(22, 29, 41, 46, 52, 72) + typical(2.2, 3.5, 6, 8, 7, 6.5) * rng.standard_normal(n)
    hours = typical(12, 40, 32, 43, 47, 1.5) + typical(6, 4, 8, 4, 7, 2.5) * rng.standard_normal(n)
    income = typical(9, 31, 43, 52, 112, 25) * np.exp(0.22 * ability)
    commute = typical(6, 11, 13, 52, 16, 2) * np.exp(0.35 * rng.standard_normal(n))
    savings = typical(2.5, 11, 38, 52, 230, 95) * np.exp(0.25 * ability + 0.5 * thrift)
    visits = rng.poisson(np.maximum(0.2, typical(2, 2, 9, 4, 4, 15) * np.exp(0.15 * chance)))
    north_heavy = np.where(typical(0, 0, 0, 1, 1, 0) > 0, 0.45, 0.22)
    region = np.where(rng.random(n) < north_heavy, 0, rng.integers(1, 4, size=n))
    declaration = Declaration(
        title="People of a town",
        description="12,000 made-up adults with six habits each, in six walks of life that overlap as people do.",
        columns=("age", "income", "hours", "commute_km", "savings", "visits"),
        lower=(18.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        upper=(100.0, 200_000.0, 80.0, 120.0, 500_000.0, 40.0),
        bounds_origin=(
            "The questionnaire: adults of 18 to 100; income top-coded at 200,000 a year and savings at 500,000; at "
            "most 80 hours a week, 120 km one way and 40 visits to a doctor a year can be entered."
        ),
        scaling="unit",
        unit_of_privacy="one person (one row)",
        n_public=n,
        kind=FileKind.PUBLIC,
        source=SOURCE,
        licence=LICENCE,
        label_column="segment",
        describe={"region": Described(categories=REGIONS)},
    )
    upper = declaration.upper
    columns = (
        np.clip(age, 18, upper[0]).round(),
        np.clip(income * 1000, 0, upper[1]).round(-2),
        np.clip(hours, 0, upper[2]).round(),
        np.clip(commute, 0, upper[3]).round(1),
        np.clip(savings * 1000, 0, upper[4]).round(-2),
        np.clip(visits, 0, upper[5]),
        np.array(REGIONS)[region],
        np.array(SEGMENTS)[segment],
    )
    header = "age,income,hours,commute_km,savings,visits,region,segment"
    return Made(csv_text(header, "%d,%d,%d,%.1f,%d,%d,%s,%s", *columns), declaration)


PICTURE = (80, 100)


def picture(rng: np.random.Generator) -> Array:
    """A sailing boat at sunset, shape (80, 100, 3), 0 to 255."""
    height, width = PICTURE
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    up = 1 - y[..., None] / 50
    sky = np.array([250, 150, 70]) * (1 - up) + np.array([48, 60, 130]) * up
    glow = np.exp(-((x - 68) ** 2 + (y - 40) ** 2) / 300)[..., None]
    image = sky + glow * (np.array([255, 214, 120]) - sky)
    image[(x - 68) ** 2 + (y - 40) ** 2 < 64] = [255, 238, 170]
    image[(y > 44 - 9 * np.exp(-(((x - 14) / 16) ** 2)) - 5 * np.exp(-(((x - 42) / 10) ** 2))) & (y < 50)] = [
        58,
        44,
        82,
    ]
    deep = np.clip((y - 50) / 30, 0, 1)[..., None]
    sea = np.array([120, 104, 130]) * (1 - deep) + np.array([18, 62, 92]) * deep
    image = np.where((y >= 50)[..., None], sea, image)
    glitter = (y >= 50) & (np.abs(x - 68) < 4 + (y - 50) / 4) & (np.sin(y * 1.9 + np.sin(x / 2)) > 0.1)
    image[glitter] = [246, 186, 108]
    image[(x >= 30) & (x < 39) & (y >= 22) & (y < 56) & (x - 30 < (y - 22) * 9 / 34)] = [198, 42, 48]
    image[(x >= 18) & (x < 29) & (y >= 28) & (y < 56) & (29 - x < (y - 28) * 11 / 28)] = [238, 232, 220]
    image[(y >= 57) & (y < 62) & (x >= 16 + (y - 57)) & (x < 42 - (y - 57))] = [92, 56, 36]
    shore = y > 76 - 8 * np.exp(-(((x - 96) / 26) ** 2)) + np.sin(x / 3)
    image[shore] = [44, 92, 48]
    return np.clip(image + 5 * rng.standard_normal(image.shape), 0, 255)


def colours(seed: int = 3) -> Made:
    """The pixels of a drawn picture, row by row: 100 wide, 80 high."""
    rgb = picture(np.random.default_rng(seed)).round().reshape(-1, 3)
    declaration = Declaration(
        title="Colours of a picture",
        description="8,000 pixels of a drawn sunset, 100 a line: k centres are the k colours to repaint it with.",
        columns=("red", "green", "blue"),
        lower=(0.0, 0.0, 0.0),
        upper=(255.0, 255.0, 255.0),
        bounds_origin="The format: 8 bits a colour.",
        scaling="common",
        unit_of_privacy="one pixel (one row)",
        n_public=8_000,
        kind=FileKind.PUBLIC,
        source=SOURCE,
        licence=LICENCE,
    )
    return Made(csv_text("red,green,blue", "%d,%d,%d", *rgb.T), declaration)


def outlier(seed: int = 1) -> Made:
    """Two ordinary groups and one extreme person: the lesson that a centre may sit on a person."""
    rng = np.random.default_rng(seed)
    n_modest, n_comfortable = 64, 55
    modest = [30, 22] + rng.standard_normal((n_modest, 2)) * [6, 9]
    comfortable = [72, 105] + rng.standard_normal((n_comfortable, 2)) * [9, 18]
    extreme = np.array([[186.0, 372.0]])
    people_in_order = np.concatenate([modest, comfortable, extreme])
    shuffled = people_in_order[rng.permutation(len(people_in_order))]
    person = np.array([f"p{number:03d}" for number in range(1, len(shuffled) + 1)])
    income, savings = np.clip(shuffled, 1, None).T
    declaration = Declaration(
        title="One rich person",
        description=(
            "120 made-up people in two groups, and one far from all others: with k = 3, plain k-means puts a centre "
            "exactly on that person; under differential privacy it cannot."
        ),
        columns=("income", "savings"),
        lower=(0.0, 0.0),
        upper=(200.0, 400.0),
        bounds_origin="The form's largest boxes: 200 thousand a year, and 400 thousand saved.",
        scaling="unit",
        unit_of_privacy="one person (one row each, person_id)",
        n_public=120,
        kind=FileKind.PUBLIC,
        source=SOURCE,
        licence=LICENCE,
        id_column="person_id",
        rows_per_person=1,
    )
    return Made(csv_text("person_id,income,savings", "%s,%.1f,%.1f", person, income, savings), declaration)


SETS: dict[str, Callable[[], Made]] = {
    "city": city,
    "colours": colours,
    "fifteen": fifteen,
    "laboratories": laboratories,
    "outlier": outlier,
    "people": people,
    "towns": towns,
}
SPARSE_SETS: dict[str, Callable[[], MadeSparse]] = {"words": words}


def write(folder: Path) -> None:
    """Write every sample's ``x.csv`` (or ``x.npz``) and ``x.json`` into ``folder``."""
    for stem, make in SETS.items():
        made = make()
        (folder / f"{stem}.csv").write_bytes(made.csv.encode())
        (folder / f"{stem}.json").write_bytes(to_json(made.declaration).encode())
    for stem, make_sparse in SPARSE_SETS.items():
        rows, declaration = make_sparse()
        sparse.save_npz(folder / f"{stem}.npz", rows)
        (folder / f"{stem}.json").write_bytes(to_json(declaration).encode())


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
