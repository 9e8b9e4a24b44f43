"""What a claim is: a paper's sentence about an experiment, how we run it, and how its table is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import pandas as pd

from dpviz.app.charts.studies.stored_verdicts import ClaimVerdict, PaperFigure
from experiments.material import DatasetCache

Row = dict[str, Any]
RepeatChoice: TypeAlias = Callable[[Row, int], Sequence[int]]
"""Which repeats of a cell are to be run, of the place and line in a row, and the number that a first look takes."""


class Block(Protocol):
    """Experiments that are declared, not yet run: cells, each a line at a place of one table."""

    def runs(self, datasets: DatasetCache, wanted: RepeatChoice) -> Iterator[list[Row]]:
        """The rows of each run that is ``wanted``; each cell is asked for once, whether it is run or not.

        Parameters
        ----------
        datasets : DatasetCache
            The tables.
        wanted : function of a cell and a number
            Which repeats of a cell are to be run; the number is that of a first look.

        Returns
        -------
        iterator of list of Row
            The rows of one run after the other.
        """


@dataclass(frozen=True)
class Claim:
    """One group of experiments of a paper.

    Parameters
    ----------
    id, paper, claim : str
        ``claim`` is one sentence.
    data : tuple of str
        Names of the tables that it needs.
    quick, full : settings
        A frozen dataclass each: what ``blocks`` is given, and what the manifest writes down.
    blocks : function of settings to Block
        What is run. The same settings and tables give the same rows, timings apart.
    judge : function of a table
        The verdict; it knows nothing but the table.
    figures : tuple of PaperFigure
    notes : tuple of str
        What differs from the paper whatever the settings are.
    has_tables : bool
        Whether its tables can be opened: samples that are drawn by their law on the way cannot.
    """

    id: str
    paper: str
    claim: str
    data: tuple[str, ...]
    quick: Any
    full: Any
    blocks: Callable[[Any], Iterable[Block]]
    judge: Callable[[pd.DataFrame], ClaimVerdict]
    figures: tuple[PaperFigure, ...]
    notes: tuple[str, ...] = ()
    has_tables: bool = True

    def settings(self, *, quick: bool) -> Any:
        """The settings of a quick or a full run."""
        return self.quick if quick else self.full

    def rows(self, datasets: DatasetCache, settings: Any) -> Iterator[Row]:
        """The rows of a first look at all cells.

        Parameters
        ----------
        datasets : DatasetCache
            The tables.
        settings : settings
            Of this claim.

        Returns
        -------
        iterator of Row
        """
        for block in self.blocks(settings):
            for run in block.runs(datasets, lambda cell, repeats: range(repeats)):
                yield from run
