"""How a file seems to be written: a proposal to its owner, worked out from its first rows. Nothing reads a file by it.

To look at rows in order to declare how rows are read is a look like any other: on a private file it is counted, and the
owner declares what was proposed, or something else. The page and the command line make a declaration of a proposal in
one way, ``Proposal.join_to``, so that what its notes say is what happens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpviz.tables.column_kinds import (
    CATEGORIES,
    CODE,
    CYCLE,
    DATE,
    GROUP,
    ID,
    ORDER,
    YES_NO,
    ColumnKind,
    guess_kind,
    is_no_measure,
)
from dpviz.tables.csv_intake import NO_CSV, CsvFile
from dpviz.tables.declarations import LONGEST_UNIT, NO_BOUNDS, Declaration
from dpviz.tables.file_format import PLAIN_STYLE, FileFormat
from dpviz.tables.first_lines import read_first_lines
from dpviz.tables.loaded_table import USUAL_LABEL, IntakeError
from dpviz.tables.number_cells import ColumnCells, Styles, guess_styles
from dpviz.words import doorways, foreign, list_names

AS_NAMES = "The first line is read as names: whether it is a row cannot be told from it."
MOST_CHOSEN = 12
"""Where more columns than this are measures, none is chosen: their owner says which."""


@dataclass(frozen=True)
class Proposal:
    """What the first rows look like.

    Attributes
    ----------
    file : FileFormat
    names : tuple of str
        All columns.
    numbers, text : tuple of str
        Which of them are read as numbers, and which as text: ids, dates, labels.
    notes : tuple of str
        What was found, in sentences; no cell is quoted.
    kinds : mapping of str to ColumnKind
        What each column seems to hold; of a column without one its name says whether it is a measure.
    other : FileFormat or None
        The other reading of the first line, where it may hold names or be a row.
    units : mapping of str to str
        Units that stand in a line of their own.
    """

    file: FileFormat
    names: tuple[str, ...]
    numbers: tuple[str, ...]
    text: tuple[str, ...]
    notes: tuple[str, ...]
    kinds: Mapping[str, ColumnKind] = field(default_factory=dict, hash=False)
    other: FileFormat | None = None
    units: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)

    @property
    def codes(self) -> tuple[str, ...]:
        """Number columns that look like codes: they are not proposed to be clustered."""
        return self._list_of_kind(CODE)

    @property
    def ids(self) -> tuple[str, ...]:
        """Columns that may say whose a row is."""
        return self._list_of_kind(ID)

    @property
    def measures(self) -> tuple[str, ...]:
        """Number columns that are measured, and none of the others."""
        return tuple(name for name in self.numbers if self._is_measure(name))

    def _is_measure(self, name: str) -> bool:
        return self.kinds[name].is_measure if name in self.kinds else not is_no_measure(name)

    def _list_of_kind(self, kind: str) -> tuple[str, ...]:
        return tuple(name for name in self.names if name in self.kinds and self.kinds[name].kind == kind)

    def list_forms(self, declaration: Declaration) -> dict[str, Mapping[str, Any]]:
        """What columns would be declared as besides bounds, where ``declaration`` says nothing of the kind yet."""
        taken = (*declaration.codings, declaration.id_column, declaration.label_column)
        forms = {name: self.kinds[name].form for name in self.names if name in self.kinds and name not in taken}
        return {name: form for name, form in forms.items() if form is not None}

    def join_to(self, declaration: Declaration, *, confirmed: Sequence[str] = ()) -> Declaration:
        """``declaration`` with the file read as proposed; columns that were chosen stay where they hold numbers.

        Where none was, the measures are, if they are few. Columns that their owner has ``confirmed`` are declared as
        proposed, too: as categories, ranks, yes or no, or a cycle.
        """
        joined = self._join_reading(declaration)
        forms = self.list_forms(joined)
        for name in confirmed:
            if name not in forms:
                raise IntakeError(
                    f"Nothing but bounds is proposed of {list_names([name])}: declare it, or leave it out."
                )
            if "dates" in forms[name]:
                raise IntakeError(
                    f"{list_names([name])} holds dates, and between which ones is for its owner to say: write "
                    f'{{"dates": ["2015-01-01", "2024-12-31"], "written": "{forms[name]["written"]}"}} under "bounds".'
                )
            joined = joined.with_coding(name, forms[name])
        return joined

    def _join_reading(self, declaration: Declaration) -> Declaration:
        others = (declaration.id_column, declaration.label_column, *declaration.describe)
        chosen = [name for name in declaration.columns if name in self.numbers]
        measures = [name for name in self.measures if name not in others]
        if not chosen and len(measures) <= MOST_CHOSEN:
            chosen = measures
        bounded = declaration.with_bounds(chosen, [declaration.bounds.get(name, NO_BOUNDS) for name in chosen])
        known_id = declaration.id_column in self.names
        label = declaration.label_column
        return replace(
            bounded,
            file=self.file,
            numbers=self.numbers if self.text else (),
            units={**self.units, **declaration.units},
            id_column=declaration.id_column if known_id else None,
            rows_per_person=declaration.rows_per_person if known_id else 1,
            label_column=label if label in (*self.names, "") else self._guess_label(chosen),
            proposed=True,
        )

    def _guess_label(self, chosen: Sequence[str]) -> str | None:
        return USUAL_LABEL if USUAL_LABEL in self.names and USUAL_LABEL not in chosen else None


def propose(file: CsvFile, *, reading: FileFormat | None = None) -> Proposal:
    """How ``file`` seems to be written, from its first thousand rows.

    Parameters
    ----------
    file : CsvFile
        A CSV file in hand; a look at it.
    reading : FileFormat, optional
        One of the two readings of a first line that may hold names or be a row; the safer one by default.

    Returns
    -------
    Proposal
        For its owner to check.

    Raises
    ------
    IntakeError
        If its bytes are not lines of text with fields.
    """
    with foreign.refuse_as(IntakeError(NO_CSV), doorways.CSV):
        return _propose_reading(file, reading)


def _propose_reading(file: CsvFile, reading: FileFormat | None) -> Proposal:
    top = read_first_lines(file)
    if reading is not None and top.other is not None and reading.header == top.other.header:
        names = file.header(top.other).names
        top = replace(top, file=top.other, other=top.file, names=names, body=top.body[1:], notes=(AS_NAMES,))
    cells = {name: [record[at] for record in top.body if len(record) > at] for at, name in enumerate(top.names)}
    styles = guess_styles(cells, top.file.delimiter)
    values = ColumnCells(cells).read(styles.by_column)
    kinds = {
        name: guess_kind(name, cells[name], values.get(name), first=place == 0) for place, name in enumerate(top.names)
    }
    numbers = tuple(name for name in styles.by_column if not kinds[name].is_text)
    declared = replace(
        top.file,
        style=styles.usual,
        styles={name: styles.by_column[name] for name in numbers if styles.by_column[name] != styles.usual},
    )
    units = {name: unit for name, unit in top.units.items() if len(unit) <= LONGEST_UNIT and unit.isprintable()}
    proposal = Proposal(
        file=declared,
        names=top.names,
        numbers=numbers,
        text=tuple(name for name in top.names if name not in numbers),
        notes=(),
        kinds=kinds,
        other=top.other,
        units=units,
    )
    constant = [name for name in proposal.measures if len(set(cells[name])) == 1]
    return replace(proposal, notes=(*top.notes, *_list_notes(proposal, styles, constant)))


# What is said of the columns of a kind that are not clustered as numbers.
_OF_KINDS: Mapping[str, str] = {
    CODE: "Codes rather than numbers, so not chosen: {}.",
    DATE: "Dates, not chosen: {}; a date counts as days from an origin that you declare.",
    GROUP: "Named like a known grouping, so not chosen: {}.",
    ORDER: "Steps of a known scale, not chosen: {}; they count as ranks once declared.",
    YES_NO: "Yes or no, not chosen: {}; two categories, once declared.",
    CATEGORIES: "Few different words, not chosen: {}; categories, once declared by name.",
    CYCLE: "Go round, so that the ends are neighbours, but as numbers they are not: {}.",
}


def _list_notes(proposal: Proposal, styles: Styles, constant: Sequence[str]) -> list[str]:
    """What was found besides, for the owner's eyes."""
    notes = []
    declared, kinds = proposal.file, proposal.kinds
    if declared.encoding in ("cp1252", "iso8859-1"):
        notes.append(f"The file is not UTF-8; it reads as {declared.encoding}.")
    by_style: dict[str, list[str]] = {}
    for name in proposal.numbers:
        by_style.setdefault(str(styles.by_column[name]), []).append(name)
    notes += [f"Written like {style}: {list_names(n)}." for style, n in by_style.items() if style != str(PLAIN_STYLE)]
    if doubtful := [name for name in styles.doubtful if name in proposal.numbers]:
        notes.append(
            f"Whether a mark in {list_names(doubtful)} is the decimal one or groups thousands cannot be told, and no "
            f"other column says; read like {styles.by_column[doubtful[0]]}: change the marks if that is a thousandfold "
            "wrong."
        )
    if unread := [name for name in styles.unread if kinds[name].kind not in (DATE, ID)]:
        notes.append(
            f"Begin like numbers but are written in no way that is read: {list_names(unread)}. They may be amounts "
            "with K or M, numbers with flags behind them (p provisional, e estimated, b break in series), durations, "
            "degrees, exponents with D, or digits of another script: write plain numbers."
        )
    if ids := proposal.ids:
        several = [name for name in ids if kinds[name].repeats]
        notes.append(
            f"Ids or running numbers, so not chosen: {list_names(ids)}; if one says whose a row is, declare it as the "
            "id column."
        )
        if several:
            notes.append(f"Values of {list_names(several)} repeat: if they are people, one of them has several rows.")
    for kind, words in _OF_KINDS.items():
        if names := proposal._list_of_kind(kind):
            notes.append(words.format(list_names(names)))
    if constant:
        notes.append(f"The same in every row looked at, so of no use to tell groups apart: {list_names(constant)}.")
    if len(proposal.measures) > MOST_CHOSEN:
        notes.append(f"There are {len(proposal.measures)} measures, so none is chosen: say which are to be clustered.")
    return notes
