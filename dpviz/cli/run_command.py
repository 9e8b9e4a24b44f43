"""``dpviz run``: one algorithm on one CSV file."""

from __future__ import annotations

import argparse
import csv
import json
import math
from pathlib import Path
from typing import Any

from dpviz.algorithms.card import Card
from dpviz.algorithms.registry import card_of
from dpviz.check import RequestError
from dpviz.cli.console import say
from dpviz.cli.declared_table import declared_table
from dpviz.cli.request import check_numbers, parameters
from dpviz.cli.run_text import run_text
from dpviz.runs.open_table import OpenTable
from dpviz.runs.run import Run, run

_SEEDED = "The noise is seeded, so that a study can be repeated: whoever knows the seed can take it off. Not a release."


def run_command(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print.

    Raises
    ------
    RequestError
        If the request or the file is wrong.
    """
    card = card_of(arguments.algorithm)
    params = card.params.parse(parameters(arguments.set))
    check_numbers(ks=[arguments.k], epsilons=[arguments.epsilon], delta=arguments.delta, seed=arguments.seed)
    if arguments.out is not None:
        _check_out(Path(arguments.out), card, data=Path(arguments.data))
    declared = declared_table(arguments)
    table = declared.table
    finished = run(
        card,
        table.private,
        k=arguments.k,
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        params=params,
        seed=arguments.seed,
    )
    report = _report(finished, table, evaluated=arguments.evaluate, seeded=arguments.seed is not None)
    if arguments.out is not None:
        _write_centers(Path(arguments.out), finished)
    for note in (*declared.notes, *_few_rows(table, k=finished.k)):
        say(note)
    return json.dumps(report, allow_nan=False) if arguments.json else run_text(report, card, name=table.loaded.name)


def _report(finished: Run, table: OpenTable, *, evaluated: bool, seeded: bool) -> dict[str, Any]:
    """The run in the form of ``--json``; what was read without privacy stands under "revealed"."""
    report = finished.to_dict()
    if seeded:
        report["warnings"].append(_SEEDED)
    revealed: dict[str, Any] = {}
    if not finished.private:
        revealed["centers"] = finished.centers.tolist()
    if evaluated:
        revealed |= _scores(finished, table)
    if revealed:
        report["revealed"] = revealed
    finite: dict[str, Any] = _without_infinities(report)
    return finite


def _few_rows(table: OpenTable, *, k: int) -> tuple[str, ...]:
    """A word to the owner of a tiny file. A private n must not decide whether a release is made, so it is no error."""
    if table.loaded.n_rows >= k:
        return ()
    return (
        "For the eyes of the file's owner: it has fewer rows than clusters were asked for, so the result is noise; "
        "k up to the number of rows makes sense; ask for a smaller k.",
    )


def _scores(finished: Run, table: OpenTable) -> dict[str, float]:
    from dpviz.runs.clipped_rows import clipped
    from dpviz.runs.evaluation import assign, evaluate, label_accuracy, reference_for

    revealed = table.private.reveal(note="run --evaluate")
    rows = clipped(revealed, table.private.domain.region).unfolded(finished.points_per_row)
    scores = evaluate(rows, finished.unit_centers, reference_for(rows, finished.k)).to_dict()
    labels = table.labels_of(revealed.unfolded(finished.points_per_row))
    if labels is not None:
        scores["label_accuracy"] = label_accuracy(labels, assign(rows.points, finished.unit_centers))
    return scores


def _without_infinities(value: Any) -> Any:
    """``value`` with None for numbers that JSON cannot write."""
    match value:
        case dict():
            return {key: _without_infinities(item) for key, item in value.items()}
        case list():
            return [_without_infinities(item) for item in value]
        case float():
            return value if math.isfinite(value) else None
        case _:
            return value


def _check_out(out: Path, card: Card, *, data: Path) -> None:
    """Refuse a file that could not be written before any budget is spent."""
    if not card.private:
        raise RequestError(
            f"--out writes released centres, and {card.id} releases none, because it has no privacy: choose a private "
            "algorithm, or drop --out and read its centres under revealed."
        )
    if out.exists() and data.exists() and out.samefile(data):
        raise RequestError("--out names the data file itself: give another file.")
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise RequestError("--out is not a file in a folder that exists: make the folder first, or give another path.")


def _write_centers(out: Path, finished: Run) -> None:
    try:
        with out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(finished.domain.columns)
            writer.writerows(finished.centers.tolist())
    except OSError as error:
        raise RequestError(f"--out cannot be written ({type(error).__name__}): give a path you may write to.") from None
