"""Sentences and tables of short texts: the same value reads well in a terminal and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

_MOST_ROWS = 40
# What fills a template for a notebook (the last one does), and what draws a value, by the name of its class.
_RENDERERS: list[Callable[..., str]] = []
_PICTURES: dict[str, Callable[[Any], str]] = {}


class TextTable(NamedTuple):
    """A heading, the names of the columns, and rows of cells."""

    heading: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def to_text(self, most: int | None = _MOST_ROWS) -> str:
        """For a terminal: the first rows, or all of them."""
        shown = self.rows[:most]
        rest = f"\n  and {len(self.rows) - len(shown)} more" if len(shown) < len(self.rows) else ""
        return f"{self.heading}:\n{format_table(self.header, shown)}{rest}"

    def to_html(self) -> str:
        """For a notebook; cells may hold names from a file."""
        return _render([self])


class Report(ABC):
    """A value that prints as sentences and tables; its ``repr`` is the first of these sentences."""

    @abstractmethod
    def _list_blocks(self) -> Iterator[str | TextTable]: ...

    def __repr__(self) -> str:
        return f"<{next(self._list_blocks())}>"

    def __str__(self) -> str:
        return "\n".join(block.to_text() if isinstance(block, TextTable) else block for block in self._list_blocks())

    def _repr_html_(self) -> str:
        draw = _PICTURES.get(type(self).__name__)
        try:
            picture = "" if draw is None else draw(self)
        except Exception as error:  # the numbers are there, whatever has become of the picture
            picture = _render([f"No picture: {type(error).__name__}."])
        return f"{picture}{_render(list(self._list_blocks()))}"

    @staticmethod
    def render_by(render: Callable[..., str]) -> None:
        """From now on a notebook shows what ``render`` makes of sentences and tables.

        The head of the package hands it in: templates stand above the values that they show, as pictures do.

        Parameters
        ----------
        render : function
            Of the name of a template, and of what it is filled with by keyword, to HTML in which texts are escaped.
        """
        _RENDERERS.append(render)

    @staticmethod
    def illustrate(name: str, draw: Callable[[Any], str]) -> None:
        """From now on a notebook shows what ``draw`` makes of a value of class ``name``, above its sentences.

        A floor that draws stands above the values that it draws, which cannot ask for it by themselves.

        Parameters
        ----------
        name : str
            Of a class.
        draw : function
            Of a value, to HTML.
        """
        _PICTURES[name] = draw


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned to the right, two blanks apart.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : sequence of sequence of str
        Texts of the cells.

    Returns
    -------
    str
        Lines, joined.
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in (header, *rows)
    ]
    return "\n".join(lines)


def _render(blocks: Sequence[str | TextTable]) -> str:
    return _RENDERERS[-1]("report.html.j2", blocks=blocks, most=_MOST_ROWS)
