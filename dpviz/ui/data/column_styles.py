"""Which columns hold text, and which write their numbers in another way: one line a column. No Streamlit here."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from dpviz.table.file_format import NumberStyle

NUMBER, TEXT = "number", "text"
NONE, BLANK = "none", "blank"
"""Words for marks that would not be seen: none at all, where the file's other columns have one, and a blank."""

GROUPINGS = (NONE, ",", ".", "'", BLANK)
_WORDS = {"": NONE, " ": BLANK}
_MARKS = {word: mark for mark, word in _WORDS.items()}


class Columns(NamedTuple):
    """What is said column by column.

    ``text`` are the columns that hold none; ``styles`` those whose numbers are not written like the others.
    """

    text: tuple[str, ...]
    styles: Mapping[str, NumberStyle]


def as_frame(names: Sequence[str], said: Columns) -> pd.DataFrame:
    """The editor's table: one row a column; a mark that is the file's own is left open."""
    styles = [said.styles.get(name) for name in names]
    return pd.DataFrame(
        {
            "column": pd.Series(list(names), dtype="str"),
            "kind": pd.Series([TEXT if name in said.text else NUMBER for name in names], dtype="object"),
            "decimal": pd.Series([style and style.decimal for style in styles], dtype="object"),
            "grouping": pd.Series(
                [style and _WORDS.get(style.grouping, style.grouping) for style in styles], dtype="object"
            ),
            "sign": pd.Series([style and (style.sign or NONE) for style in styles], dtype="object"),
        }
    )


def from_frame(frame: pd.DataFrame, usual: NumberStyle) -> Columns:
    """What the editor's table says, where ``usual`` is how the file's other columns write their numbers."""
    text, styles = [], {}
    for name, kind, *marks in frame[["column", "kind", "decimal", "grouping", "sign"]].itertuples(index=False):
        own = {
            mark: _MARKS.get(value.strip(), value.strip())
            for mark, value in zip(NumberStyle._fields, marks, strict=True)
            if isinstance(value, str) and value.strip()
        }
        if kind == TEXT:
            text.append(str(name))
        elif own:
            styles[str(name)] = usual._replace(**own)
    return Columns(tuple(text), {name: style for name, style in styles.items() if style != usual})


def names_in(text: str) -> tuple[str, ...]:
    """Column names, one a line or with commas between them.

    >>> names_in('age, "height, cm"')
    ('age', 'height, cm')
    """
    records = csv.reader(io.StringIO(text), skipinitialspace=True)
    return tuple(name.strip() for record in records for name in record if name.strip())


def as_text(names: Sequence[str]) -> str:
    """Column names as ``names_in`` reads them."""
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(names)
    return written.getvalue()
