"""Study the samples again, which the bench shows at once: ``python -m sample_data.curves`` in the root.

Of each sample that a file holds, for its own number of clusters, `auto` and the usual δ.
"""

from __future__ import annotations

import json

from dpviz.core import check
from dpviz.runs import ClippedRows, Contender, CurvePoint, Request, clip_rows, curve_work, declare, evaluation
from dpviz.runs.open_table import OpenTable
from dpviz.runs.sample_curves import CURVES, name_curve, name_reference
from dpviz.tables import Sample, list_samples

SHOWN = tuple(sample for sample in list_samples() if not sample.cells)
"""Samples with a stored curve: the others are made when they are opened, which takes longer than a curve."""


def open_sample(sample: Sample) -> tuple[OpenTable, Request]:
    """The table of a sample, and what the bench asks of it first."""
    table = declare(*sample.load())
    return table, Request(Contender("auto"), sample.clusters, 1.0, check.choose_usual_delta(table.n_public))


def make_curve(table: OpenTable, request: Request) -> list[CurvePoint]:
    """Draws at each ε, judged on the rows of a table that anybody may see; losses to five digits."""
    rows = _clip_rows(table)
    points = curve_work(request, table.private, rows, evaluation.find_reference(rows, request.k))
    return [CurvePoint(point.epsilon, tuple(float(f"{loss:.5g}") for loss in point.losses)) for point in points]


def make_reference(table: OpenTable, k: int) -> list[list[float]]:
    """Centres of k-means++ on the rows of a table that anybody may see, unit coordinates."""
    centers: list[list[float]] = evaluation.find_reference(_clip_rows(table), k).centers.tolist()
    return centers


def _clip_rows(table: OpenTable) -> ClippedRows:
    return clip_rows(table.private.reveal(note="study of a sample"), table.domain.region)


def main() -> None:
    """Write the file, a line a study."""
    opened = [open_sample(sample) for sample in SHOWN]
    made = {
        "curves": {name_curve(*one): make_curve(*one) for one in opened},
        "references": {name_reference(table, asked.k): make_reference(table, asked.k) for table, asked in opened},
    }
    parts = []
    for part, studies in made.items():
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(numbers)}" for name, numbers in studies.items())
        parts.append(f" {json.dumps(part)}: {{\n{lines}\n }}")
    CURVES.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
