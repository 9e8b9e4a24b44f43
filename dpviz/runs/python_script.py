"""A setting of a page as a Python program, and as a notebook: what was asked, and nothing of a row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pprint import pformat
from typing import TYPE_CHECKING, Any

from dpviz import __version__
from dpviz.runs.request import Request
from dpviz.tables import Declaration, Sample, declarations, list_samples
from dpviz.words import render

if TYPE_CHECKING:
    from dpviz.runs.study.grid import StudyGrid

_WIDTH = 100
_CODE_CELL: dict[str, Any] = {"cell_type": "code", "execution_count": None}


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
        title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": [f"# {self.title}"]}
        lines = enumerate((cell.splitlines(keepends=True) for cell in self.cells), start=1)
        cells = [{**_CODE_CELL, "id": f"cell-{at}", "metadata": {}, "outputs": [], "source": one} for at, one in lines]
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        book = {"cells": [title, *cells], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
        return json.dumps(book, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def for_table(cls, name: str, declared: Declaration) -> Script:
        """A table, open as it is declared; no row is shown."""
        return cls.fill("script_table.txt.j2", **_describe_data(name, declared))

    @classmethod
    def for_run(cls, name: str, declared: Declaration, request: Request) -> Script:
        """One run on a table.

        A seed goes along only where the rows may be shown: whoever knows it can take the noise off.
        """
        asked = {"k": request.k, "epsilon": request.epsilon, "delta": request.delta, "params": dict(request.params)}
        asked["seed"] = request.seed if declared.kind.may_be_shown else None
        said = _list_arguments({key: value for key, value in asked.items() if value not in ({}, None)})
        data = _describe_data(name, declared)
        return cls.fill("script_run.txt.j2", **data, request=request, algorithm=repr(request.algorithm), asked=said)

    @classmethod
    def for_sweep(cls, name: str, declared: Declaration, grid: StudyGrid) -> Script:
        """A study on a table."""
        lists = {name: list(getattr(grid, name)) for name in ("epsilons", "ks", "ns", "deltas")}
        algorithms = [contender.to_text() for contender in grid.contenders]
        asked = {"algorithms": algorithms, **lists, "repeats": grid.repeats, "seed": grid.seed}
        return cls.fill("script_sweep.txt.j2", **_describe_data(name, declared), asked=_list_arguments(asked))

    @classmethod
    def for_release(
        cls, name: str, declared: Declaration, request: Request, parts: Mapping[str, float], account: Path | None = None
    ) -> Script:
        """A release as it is ordered, charged to an account, and checked without the rows.

        There is no seed. Without an account the program makes one, whose cap is this release alone until its owner
        sets it.
        """
        asked = {"k": request.k, "epsilon": request.epsilon, "delta": request.delta, "algorithm": request.algorithm}
        said = _list_arguments({**asked, "params": dict(request.params), **parts})
        told = {"title": repr(declared.title or Path(name).stem), "account": account and repr(str(account))}
        data = _describe_data(name, declared, always=True)
        return cls.fill("script_release.txt.j2", **data, **told, request=request, asked=said)

    @classmethod
    def fill(cls, template: str, **values: Any) -> Script:
        """What a template says: its first line is the title, and ``# %%`` stands between cells, as in Jupytext."""
        title, *cells = render(template, **values).removesuffix("\n").split("\n# %%\n")
        return cls(title, tuple(cells))


def _describe_data(name: str, declared: Declaration, *, always: bool = False) -> dict[str, Any]:
    """What the first cell says: the table, and what is declared of it unless a sample says so itself."""
    sample = next((sample for sample in list_samples() if sample.title == name), None)
    by_itself = sample is not None and _declare_alike(sample, declared)
    written = pformat(json.loads(declarations.to_json(declared)), sort_dicts=False, width=_WIDTH)
    return {
        "data": repr(sample.id if sample else name),
        "is_sample": sample is not None,
        "simulated": declared.kind == "simulated",
        "declaration": "" if by_itself and not always else written,
        "opened": "DATA" if by_itself else "DATA, DECLARATION",
    }


def _declare_alike(sample: Sample, declared: Declaration) -> bool:
    """Whether the sample says all of this by itself."""
    table, beside = sample.load()
    return declarations.to_json(beside.over(tuple(table.frame.columns))) == declarations.to_json(declared)


def _list_arguments(asked: Mapping[str, Any]) -> list[str]:
    return [f"{key}={value!r}" for key, value in asked.items()]
