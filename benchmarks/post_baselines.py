"""The losses of diffprivlib's KMeans on the tables of Google's post of 2021, as the post ran it: a table to be stored.

    python -m venv OTHER && OTHER/bin/pip install diffprivlib==0.6.6 scikit-learn==1.5.2
    python -m benchmarks.post_baselines --python OTHER/bin/python [--data FOLDER] [--out FILE]

The post appeared with diffprivlib 0.5.0, whose KMeans differs from that of 0.6.6 in nothing but seeds. It was given
ε = 1 and bounds that were read from the rows. What it really spends is measured here: its two shares are taken in the
other order than they are given, so that ε comes to (1 + d r) / (d + r), r = (4 d 0.225²)^(1/3): 0.9 in two columns,
2.7 in a hundred. Besides, its number of rounds follows the number of rows, clusters that are empty get no noise, which
tells that they are, and bounds read from the rows are charged for nowhere.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.evaluation import assign, label_accuracy, nicv
from dpviz.runs.study.study import measure_yardstick
from experiments.google_coreset import BASELINE_FILE, DIFFPRIVLIB, TABLES
from experiments.material import Material
from experiments.registry import open_datasets

_FITS = Path(__file__).with_name("diffprivlib_fits.py")
_EPSILON = 1.0


def baseline_rows(material: Material, ks: list[int], repeats: int, python: str) -> Iterator[dict[str, Any]]:
    """One row a fit, as the runs of a claim have them; losses in unit coordinates squared."""
    judged = JudgedTable.of(material.private, material.private.reveal(note="a baseline"), material.labels)
    points = judged.rows.points
    with tempfile.TemporaryDirectory() as folder:
        rows, out = Path(folder) / "rows.npy", Path(folder) / "fits.npz"
        np.save(rows, points)
        asked = [str(_EPSILON), ",".join(map(str, ks)), str(repeats)]
        subprocess.run([python, str(_FITS), str(rows), *asked, str(out)], check=True)
        with np.load(out) as found:
            fits = dict(found)
    for k in ks:
        reference = measure_yardstick(judged, k).reference.nicv
        for repeat, centers in enumerate(fits[f"centers_{k}"]):
            accuracy = np.nan if material.labels is None else label_accuracy(material.labels, assign(points, centers))
            yield {
                **material.facts,
                "k": k,
                "epsilon": _EPSILON,
                "delta": 0.0,
                "line": DIFFPRIVLIB,
                "repeat": repeat,
                "nicv": nicv(points, centers),
                "kmeans": reference,
                "label_accuracy": accuracy,
                "seconds": float(fits[f"seconds_{k}"][repeat]),
                "spent_epsilon": float(fits["spent"]),
                "rounds": int(fits[f"rounds_{k}"][repeat]),
                "version": str(fits["version"]),
            }


def main() -> None:
    """Replace the rows of the tables that are asked for, and keep the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="the interpreter of an environment that has diffprivlib")
    parser.add_argument("--data", type=Path, help="a folder of published files")
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--ks", type=int, nargs="*", default=[4, 16, 64])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=BASELINE_FILE)
    asked = parser.parse_args()
    found = pd.read_csv(asked.out) if asked.out.is_file() else pd.DataFrame()
    for name in asked.tables:
        made = pd.DataFrame(baseline_rows(open_datasets(asked.data).table(name), asked.ks, asked.repeats, asked.python))
        if len(found):
            found = found[(found["data"] != name) | (found["origin"] != made["origin"].iloc[0])]
        found = pd.concat([found, made], ignore_index=True)
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        found.to_csv(asked.out, index=False, float_format="%.6g", lineterminator="\n")
        print(made.groupby(["data", "k"])[["nicv", "kmeans", "label_accuracy", "spent_epsilon"]].median(), flush=True)


if __name__ == "__main__":
    main()
