"""What a table lost on its way in: cells that are empty or no numbers, and the rows that they cost; for its owner.

All of it is counted from the rows without privacy: of a private file it is an access, and nothing of it is released.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from dpviz.core import Array
from dpviz.tables.declarations import Declaration
from dpviz.tables.file_format import NumberStyle, find_mending_style
from dpviz.tables.loaded_table import LoadedTable, Unread
from dpviz.words import list_names, quote_name, render


@dataclass(frozen=True)
class ColumnLoss:
    """What one column lost."""

    name: str
    empty: int
    no_number: int
    alone: int
    style: NumberStyle | None = None


@dataclass(frozen=True)
class RowLoss:
    """What a table lost.

    * ``rows``: lines of the file, or rows of the frame.
    * ``incomplete``: rows with no number in some column to cluster.
    * ``broken``: lines among them with too many or too few fields, or a quotation mark that does not close.
    * ``nobody``: rows without an id, where an id column is declared.
    * ``columns``: the columns that lost something, the dearest first.
    * ``dropped``: whether such rows are left out; else the middle of the bounds stands in for them.
    """

    rows: int
    incomplete: int
    broken: int
    nobody: int
    columns: tuple[ColumnLoss, ...]
    dropped: bool

    @classmethod
    def of_table(cls, loaded: LoadedTable, declared: Declaration) -> RowLoss:
        """What ``loaded`` lost of the columns that ``declared`` clusters.

        **Guarantee.** None: this reads the rows. What it returns is for their owner and must not be released.
        """
        names = declared.columns
        values = loaded.encode_columns(names, declared.coded)
        loss = cls.count(values, names, dropped=declared.drops_incomplete, unread=loaded.unread)
        mended = tuple(
            replace(one, style=_find_mending(loaded.unread.get(one.name, Unread()), declared.file.get_style(one.name)))
            for one in loss.columns
        )
        nobody = 0
        if declared.id_column is not None:
            nobody = int(np.count_nonzero(loaded.identifiers(declared.id_column)[:, 0] < 0))
        return replace(loss, nobody=nobody, columns=mended)

    @classmethod
    def count(
        cls,
        values: Array,
        names: Sequence[str],
        *,
        dropped: bool = True,
        unread: Mapping[str, Unread] = MappingProxyType({}),
    ) -> RowLoss:
        """What rows (n, d) of numbers lost, NaN where one is missing.

        **Guarantee.** None: this reads the rows.

        ``values`` (n, d), data units, NaN where a cell is missing.
        """
        missing = ~np.isfinite(values)
        alone = missing & (missing.sum(axis=1) == 1)[:, None]
        columns = []
        for place, name in enumerate(names):
            lost = unread.get(name, Unread(empty=int(missing[:, place].sum())))
            if lost.empty or lost.no_number:
                columns.append(ColumnLoss(name, lost.empty, lost.no_number, int(alone[:, place].sum())))
        columns.sort(key=lambda one: (one.alone, one.empty + one.no_number), reverse=True)
        broken = max((lost.broken for name, lost in unread.items() if name in names), default=0)
        return cls(len(values), int(missing.any(axis=1).sum()), broken, 0, tuple(columns), dropped)

    @property
    def is_none(self) -> bool:
        """Whether every row is whole."""
        return self.incomplete == 0 and self.nobody == 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """The loss in words: rows first, then column by column.

        >>> RowLoss(4, 0, 0, 0, (), True).sentences
        ('No row is lost: every cell of the columns to cluster is a number.',)
        """
        return tuple(render("row_loss.txt.j2", loss=self, quote=quote_name, names=list_names)[:-1].split("\n"))


def _find_mending(lost: Unread, style: NumberStyle) -> NumberStyle | None:
    cells = [cell.decode(errors="replace") for cell in lost.cells]
    return find_mending_style(cells, style) if cells else None
