"""What the Home page shows before anything runs: a draw of Auto for each ε, and a few points of every sample.

python -m benchmarks.home_picture      writes dpviz/app/ui/assets/home.json

The page draws it without a run and without the drawing library: that is most of what a cold start would wait for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import assign, find_recovered_clusters, find_reference
from dpviz.runs.one_run import run
from dpviz.runs.open_table import OpenTable, declare
from dpviz.tables.named import SAMPLES, sample

EPSILONS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
SAMPLE, CLUSTERS, SEED = "fifteen", 15, 6
MOST_DOTS, MOST_OF_A_SAMPLE = 1_200, 220
OUT = Path(__file__).parents[1] / "dpviz" / "app" / "ui" / "assets" / "home.json"


def main() -> None:
    data = {"trial": trial(), "samples": {one.id: points_of(declare(*one.load())) for one in SAMPLES}}
    OUT.write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{OUT}: {OUT.stat().st_size:,} bytes")


def trial() -> dict[str, Any]:
    """Rows (n, 2), unit coordinates, the group of each, k-means++ centres, and draws with what they find."""
    table = declare(*sample(SAMPLE).load())
    rows = clip_rows(table.private.reveal(note="picture of a public sample"), table.domain.region)
    points, reference = np.asarray(rows.points), find_reference(rows, CLUSTERS).centers
    groups, some = assign(points, reference), slice(None, None, max(1, len(points) // MOST_DOTS))
    draws = []
    for epsilon in EPSILONS:
        centers = run("auto", table.private, k=CLUSTERS, epsilon=epsilon, seed=SEED).unit_centers
        found = find_recovered_clusters(points, centers, reference)
        draws.append({"epsilon": epsilon, "centers": _short(centers), "found": np.flatnonzero(found).tolist()})
    return {
        "title": table.title,
        "half": _short(table.domain.region.half),
        "points": _short(points[some]),
        "groups": groups[some].tolist(),
        "reference": _short(reference),
        "draws": draws,
    }


def points_of(table: OpenTable) -> list[list[int]]:
    """A few rows in the two columns that spread most, as hundredths of the bounds."""
    rows = clip_rows(table.private.reveal(note="picture of a public sample"), table.domain.region)
    points = rows.points
    few = np.random.default_rng(0).permutation(points.shape[0])[:MOST_OF_A_SAMPLE]
    some = points[np.sort(few)]
    some = np.asarray(some.todense()) if hasattr(some, "todense") else np.asarray(some)
    half = np.asarray(table.domain.region.half)
    axes = np.sort(np.argsort(-some.var(axis=0) / half**2, kind="stable")[:2])
    shown = (some[:, axes] / half[axes] + 1) / 2
    if shown.shape[1] < 2:
        shown = np.column_stack([shown, np.linspace(0.35, 0.65, len(shown))])
    whole: list[list[int]] = np.round(100 * shown).astype(int).tolist()
    return whole


def _short(values: Any) -> Any:
    return np.round(np.asarray(values), 4).tolist()


if __name__ == "__main__":
    main()
