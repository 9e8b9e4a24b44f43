"""A setting of a page as a Python program, and as a notebook: what was asked, and nothing of a row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pprint import pformat
from typing import TYPE_CHECKING, Any

from dpviz import __version__
from dpviz.runs.request import Request
from dpviz.tables import Declaration, declarations, list_samples

if TYPE_CHECKING:
    from dpviz.runs.study.grid import StudyGrid

_WIDTH = 100
_CODE_CELL: dict[str, Any] = {"cell_type": "code", "execution_count": None}
_NOT_THERE = "the table was made on the page; write it to a file, and name that file here"


@dataclass(frozen=True)
class Script:
    """A program in cells, each of which stands in a notebook by itself.

    * ``title``: what it does, in a sentence.
    * ``cells``: Python source, without a newline at the end.
    """

    title: str
    cells: tuple[str, ...]

    @property
    def text(self) -> str:
        """As a file."""
        return "\n\n".join([f'"""{self.title} Written by dpviz {__version__}."""', *self.cells]) + "\n"

    @property
    def notebook(self) -> str:
        """As a notebook of Jupyter: JSON, format 4.5, without outputs."""
        title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": _split_lines(f"# {self.title}")}
        cells = [
            {**_CODE_CELL, "id": f"cell-{place}", "metadata": {}, "outputs": [], "source": _split_lines(cell)}
            for place, cell in enumerate(self.cells, start=1)
        ]
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        book = {"cells": [title, *cells], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
        return json.dumps(book, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def for_table(cls, name: str, declared: Declaration) -> Script:
        """A table, open as it is declared; no row is shown."""
        opened = f"table = dpviz.open_table({_name_data(name, declared)})"
        return cls(
            "A table as it is declared.",
            (
                _write_table(name, declared),
                f'{opened}\nprint(table.unit, table.relation.value, *table.domain.titles, sep=", ")',
            ),
        )

    @classmethod
    def for_reading(cls, name: str) -> Script:
        """The release in the zip that is called ``name``, checked and as a data frame."""
        return cls(
            "A release, read without the rows.",
            (
                f"import dpviz\n\nRELEASE = {name!r}  # the path of your zip",
                "release = dpviz.read_release(RELEASE)\nprint(release.verdict.holds, release.verdict.findings)",
                "numbers = release.to_pandas()\nprint(numbers)",
            ),
        )

    @classmethod
    def for_unpacked(cls, *, segments: bool, draws: bool) -> Script:
        """The tables of an unpacked zip, read with pandas alone: whether one says who is in segments, and has draws."""
        who = (
            'said = pd.read_csv("segments.csv", dtype={"segment": "Int64"})\n'
            'medians = said[said.statistic == "median"]\n'
            'medians = medians.pivot(index="segment", columns="column", values=["low", "high"])\n'
            "print(medians)  # each of these intervals holds nine times in ten"
        )
        drawn = (
            'draws = pd.read_csv("draws.csv")\n'
            'rows = draws.pivot(index="draw", columns="segment", values="rows")\n'
            "print(rows.quantile([0.05, 0.5, 0.95]).T)  # the middle nine tenths of the draws\n"
            "# Whatever you ask over several numbers: work it out in each draw, then take the middle nine tenths.\n"
            "print(rows.idxmax(axis=1).value_counts(normalize=True))  # in how many draws each is the largest"
        )
        return cls(
            "The tables of a release, read with pandas.",
            (
                "# Unpack the zip, and start this notebook in its folder.\nimport pandas as pd",
                'centers = pd.read_csv("centers.csv", index_col="segment")\nprint(centers.T)',
                *([who] if segments else []),
                *([drawn] if draws else []),
            ),
        )

    @classmethod
    def for_run(cls, name: str, declared: Declaration, request: Request) -> Script:
        """One run on a table.

        A seed goes along only where the rows may be shown: whoever knows it can take the noise off.
        """
        seed = request.seed if declared.kind.may_be_shown else None
        asked = {"k": request.k, "epsilon": request.epsilon, "delta": request.delta, "params": dict(request.params)}
        if seed is not None:
            asked["seed"] = seed
        call = f"run = dpviz.run({request.algorithm!r}, table, {_format_arguments(asked)})"
        return cls(
            f"{request.card.title} with k = {request.k} at ε = {request.epsilon:g}.",
            (
                _write_table(name, declared),
                f"table = dpviz.open_table({_name_data(name, declared)})\n{call}\nprint(run)",
            ),
        )

    @classmethod
    def for_sweep(cls, name: str, declared: Declaration, grid: StudyGrid) -> Script:
        """A study on a table."""
        lists = {name: list(getattr(grid, name)) for name in ("epsilons", "ks", "ns", "deltas")}
        algorithms = [contender.to_text() for contender in grid.contenders]
        asked: dict[str, Any] = {"algorithms": algorithms, **lists, "repeats": grid.repeats, "seed": grid.seed}
        arguments = ",\n    ".join(f"{key}={value!r}" for key, value in asked.items())
        show = 'results.groupby(["contender", "k", "epsilon"])["ratio"].median()'
        return cls(
            "Losses over ε, measured on the rows: for the eyes of their owner.",
            (
                _write_table(name, declared),
                f"results = dpviz.sweep(\n    {_name_data(name, declared)},\n    {arguments},\n)\nprint({show})",
            ),
        )

    @classmethod
    def for_release(
        cls, name: str, declared: Declaration, request: Request, parts: Mapping[str, float], account: Path | None = None
    ) -> Script:
        """A release as it is ordered, charged to an account, and checked without the rows.

        There is no seed. Without an account the program makes one, whose cap is this release alone until its owner
        sets it.
        """
        table = _write_table(name, declared, always=True)
        charged = f"account = dpviz.Account.open({str(account)!r})\nprint(account.summary())"
        if account is None:
            table += (
                "\n\n# All that releases of this table may ever cost together: for its owner to set before the first.\n"
                f"CAP_EPSILON = {request.epsilon!r}  # this release, and no other\n"
                f"CAP_DELTA = {request.delta!r}"
            )
            title = declared.title or Path(name).stem
            charged = (
                'path = Path("account.sqlite")\n'
                "if not path.exists():\n"
                f"    dpviz.Account.new(path, name={title!r}, cap_epsilon=CAP_EPSILON, cap_delta=CAP_DELTA)\n"
                "account = dpviz.Account.open(path)\n"
                "print(account.summary())"
            )
        asked = {"k": request.k, "epsilon": request.epsilon, "delta": request.delta, "algorithm": request.algorithm}
        asked |= {"params": dict(request.params), **parts}
        release = [
            "released = dpviz.release(",
            "    DECLARATION,",
            "    DATA,",
            *(f"    {key}={value!r}," for key, value in asked.items()),
            "    account=account,",
            ")",
            'saved = released.save("release.zip")',
        ]
        return cls(
            f"A release of {request.k} centres at ε = {request.epsilon:g}.",
            (
                table if account else f"from pathlib import Path\n\n{table}",
                charged,
                "\n".join(release),
                "verdict = dpviz.verify(saved)\nprint(verdict.holds, verdict.findings)",
            ),
        )


def _write_table(name: str, declared: Declaration, *, always: bool = False) -> str:
    """The first cell: the table, and what is declared of it unless a sample says so itself."""
    sample = _find_sample(name)
    lines = ["import dpviz", "", f"DATA = {sample or name!r}" + ("" if sample else "  # the path of your table")]
    if declared.kind.value == "simulated" and not sample:
        lines[-1] = f"DATA = {name!r}  # {_NOT_THERE}"
    if sample is None or always or not _is_as_declared(sample, declared):
        lines.append(
            f"DECLARATION = {pformat(json.loads(declarations.to_json(declared)), sort_dicts=False, width=_WIDTH)}"
        )
    return "\n".join(lines)


def _name_data(name: str, declared: Declaration) -> str:
    sample = _find_sample(name)
    return "DATA" if sample is not None and _is_as_declared(sample, declared) else "DATA, DECLARATION"


def _find_sample(title: str) -> str | None:
    """The id of the sample that is called so on screen."""
    return next((sample.id for sample in list_samples() if sample.title == title), None)


def _is_as_declared(sample_id: str, declared: Declaration) -> bool:
    """Whether the sample says all of this by itself."""
    sample = next(sample for sample in list_samples() if sample.id == sample_id)
    table, beside = sample.load()
    return declarations.to_json(beside.over(tuple(table.frame.columns))) == declarations.to_json(declared)


def _format_arguments(asked: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in asked.items() if value != {})


def _split_lines(text: str) -> Sequence[str]:
    return text.splitlines(keepends=True)
