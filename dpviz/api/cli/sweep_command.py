"""``dpviz sweep``: run algorithms many times over a grid of ε, δ, k and n; results land in a folder as they come."""

import argparse
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import Any

from dpviz import __version__
from dpviz.api.cli.declared_table import add_table_options, open_declared_table
from dpviz.api.commands import run_trials
from dpviz.api.console import Parser, add_options, add_request_options, say
from dpviz.core import RequestError, check, format_table
from dpviz.runs import Contender, OpenTable, StudyFolder, StudyGrid, count_cores, parse_named_values, summarise, tidy
from dpviz.words import format_duration

_SECONDS_BETWEEN_REPORTS = 2.0
_REVEALED = "A sweep reads the rows to measure losses: its results are for the eyes of the data's owner, not a release."


def add(command: Parser) -> None:
    """Its options."""
    add_table_options(command)
    add_options(command, "sweep")
    add_request_options(
        command, seed="another draw of the whole study (default: 0; the same study has the same results)"
    )


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print."""
    grid = _read_grid(arguments)
    planned = [trial.key for trial in grid.list_trials()]
    workers = check.at_least(1, jobs=count_cores() if arguments.jobs is None else arguments.jobs)
    with StudyFolder(Path(arguments.out), resume=arguments.resume) as folder:
        table, notes, _ = open_declared_table(arguments)
        grid = replace(grid, seed=folder.seed(given=arguments.seed))
        grid.check(table.private)
        folder.begin(_make_manifest(arguments, table, grid), must_agree=_FIXED)
        for note in (*notes, _REVEALED):
            say(note)
        rows, left = run_trials(table, grid, workers=workers, done=folder.done), {*planned} - folder.done
        for row in _report(rows, total=len(left), planned=len(planned)):
            folder.append(row)
        folder.finish(planned)
        return _summarize(folder.rows(planned))


def _read_grid(arguments: argparse.Namespace) -> StudyGrid:
    """What is asked for; of ``--set``, each algorithm takes the parameters that it knows."""
    shared = parse_named_values(arguments.set)
    contenders = tuple(Contender.from_text(text, shared) for text in arguments.algorithms)
    for name in shared:
        if not any(name in contender.params for contender in contenders):
            raise RequestError(f"None of the algorithms has a parameter {name!r}: see `dpviz algorithms`.")
    return StudyGrid(
        contenders,
        tuple(arguments.ks),
        tuple(arguments.epsilons),
        tuple(arguments.deltas or [arguments.delta]),
        tuple(arguments.ns or [None]),
        repeats=arguments.repeats,
        seed=arguments.seed or 0,
    )


# What must stay the same when a study is resumed; the grid may grow.
_FIXED = ("data", "columns", "lower", "upper", "radius", "scaling", "relation", "unit", "n_public", "delta", "seed")


def _make_manifest(arguments: argparse.Namespace, table: OpenTable, grid: StudyGrid) -> dict[str, Any]:
    """The request, from which the study can be repeated; public values only."""
    domain = table.private.domain
    return {
        "dpviz": __version__,
        # What the numbers depend on besides dpviz, so that a study resumed elsewhere can be told.
        "libraries": {name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        "python": platform.python_version(),
        "what": _REVEALED,
        "data": Path(arguments.data).name,
        "columns": list(domain.columns),
        "lower": domain.lower.tolist(),
        "upper": domain.upper.tolist(),
        "radius": domain.radius,
        "scaling": domain.scaling.value,
        "relation": table.private.relation.value,
        "unit": table.private.unit,
        "n_public": table.private.n_public,
        "delta": arguments.deltas or arguments.delta,
        "seed": grid.seed,
        "algorithms": [{"id": one.algorithm, "parameters": dict(one.params)} for one in grid.contenders],
        **{name: getattr(arguments, name) for name in ("epsilons", "ks", "ns", "repeats")},
    }


def _report(rows: Iterator[dict[str, Any]], *, total: int, planned: int) -> Iterator[dict[str, Any]]:
    """The rows as they pass, with a word on stderr every few seconds."""
    if total < planned:
        say(f"{planned - total} of {planned} runs are in the folder already.")
    first_at = reported_at = time.monotonic()
    for done, row in enumerate(rows, start=1):
        yield row
        if done == 1:
            first_at = time.monotonic()  # the pace is measured from here on: workers take a while to start
        if done == total or time.monotonic() - reported_at >= _SECONDS_BETWEEN_REPORTS:
            reported_at = time.monotonic()
            left = (reported_at - first_at) / max(1, done - 1) * (total - done)
            about = f", about {format_duration(left)} left" if 1 < done < total else ""
            say(f"{done} of {total} runs done{about}.")


def _summarize(rows: Sequence[dict[str, Any]]) -> str:
    frame = tidy(rows)
    ratio, seconds = summarise(frame), summarise(frame, "seconds")
    lines = [
        [
            line["contender"],
            str(line["k"]),
            "all" if isnan(line["n"]) else f"{line['n']:.0f}",
            "-" if isnan(line["epsilon"]) else f"{line['epsilon']:g}",
            f"{line['delta']:g}",
            str(line["runs"]),
            f"{line['median']:.4g}",
            f"{line['q25']:.4g} to {line['q75']:.4g}",
            f"{time_taken:.3g}",
        ]
        for line, time_taken in zip(ratio.to_dict("records"), seconds["median"], strict=True)
    ]
    header = ["algorithm", "k", "n", "ε", "δ", "runs", "loss / k-means++ (median)", "25-75 %", "seconds"]
    return "Revealed: losses measured on the rows\n" + format_table(header, lines)
