"""How a file seems to be written: the likeliest reading of a sample of its lines, tried before it is shown.

It is a proposal to the owner of a file; its notes hold no cell, and nothing reads a file by it. To look at rows in
order to declare how rows are read is a look like any other: on a private file it is counted, and the owner declares
what was proposed, or something else. The page and the command line make a declaration of a proposal in one way,
``Proposal.join_to``, so that what its notes say is what happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpviz.tables.column_kinds import ColumnKind, Kind, guess_kind, is_no_measure, may_be_either, names_a_person
from dpviz.tables.csv_intake import CsvFile, read_header, read_lines
from dpviz.tables.declarations import LONGEST_UNIT, NO_BOUNDS, Declaration
from dpviz.tables.file_format import PLAIN_STYLE, FileFormat, NumberStyle, Styles, guess_styles, match, read_values
from dpviz.tables.loaded_table import USUAL_LABEL, FloatArray, IntakeError, Unread, demand
from dpviz.tables.readings import NOTES, Reading, list_readings
from dpviz.words import foreign, list_names

MOST_CHOSEN = 12
"""Where more columns than this are measures, the likeliest of them are chosen: one press takes all."""

_NOTED: tuple[Kind, ...] = ("id", "code", "date", "group", "order", "text", "yes_no", "categories", "cycle")
_MOST_CODES, _DASHES = 5, ("-", "\u2013", "\u2014")


@dataclass(frozen=True)
class Proposal:
    """How a sample of the rows seems to be written.

    * ``names``: all columns.
    * ``numbers``, ``text``: which of them are read as numbers, and which as text: ids, dates, labels.
    * ``notes``: what was found, in sentences; no cell is quoted.
    * ``kinds``: what each column seems to hold; of a column without one its name says whether it is a measure.
    * ``other``: the other reading that is near: of the first line, or of what sets cells apart.
    * ``units``: units that stand in a line of their own.
    * ``missing``: of columns, the values that may mean that a cell is missing.
    * ``whose``: columns that may say whose a row is, by their values; those named like it first.
    """

    file: FileFormat
    names: tuple[str, ...]
    numbers: tuple[str, ...]
    text: tuple[str, ...]
    notes: tuple[str, ...]
    kinds: Mapping[str, ColumnKind] = field(default_factory=dict, hash=False)
    other: FileFormat | None = None
    units: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False, repr=False)
    whose: tuple[str, ...] = ()

    @property
    def measures(self) -> tuple[str, ...]:
        """Number columns that are measured, and none of the others."""
        measured = {name for name, one in self.kinds.items() if one.kind in ("measure", "cycle")}
        return tuple(one for one in self.numbers if one in measured or not (one in self.kinds or is_no_measure(one)))

    def list_kind(self, kind: Kind) -> list[str]:
        """The columns that seem to be of ``kind``."""
        return [name for name in self.names if name in self.kinds and self.kinds[name].kind == kind]

    def list_forms(self, declaration: Declaration) -> dict[str, Mapping[str, Any]]:
        """What columns would be declared as besides bounds, where ``declaration`` says nothing of the kind yet."""
        taken = (*declaration.codings, declaration.id_column, declaration.label_column)
        forms = {name: self.kinds[name].form for name in self.names if name in self.kinds and name not in taken}
        return {name: form for name, form in forms.items() if form is not None}

    def join_to(
        self,
        declaration: Declaration,
        *,
        confirmed: Sequence[str] = (),
        missing: Sequence[str] = (),
        every: bool = False,
    ) -> Declaration:
        """``declaration`` with the file read as proposed; columns that were chosen stay where they hold numbers.

        Where none was, the likeliest measures are, or ``every`` one. Columns that their owner has ``confirmed`` are
        declared as proposed, too: as categories, ranks, yes or no, or a cycle; of those in ``missing`` the values that
        may mean so are declared to.
        """
        others = (declaration.id_column, declaration.label_column, *declaration.describe)
        chosen = [name for name in declaration.columns if name in self.numbers]
        measures = [name for name in self.measures if name not in others]
        chosen = chosen or (measures if every else self._choose_likeliest(measures))
        known_id = declaration.id_column in self.names
        label = declaration.label_column
        usual = USUAL_LABEL if USUAL_LABEL in self.names and USUAL_LABEL not in chosen else None
        joined = replace(
            declaration.with_bounds(chosen, [declaration.bounds.get(name, NO_BOUNDS) for name in chosen]),
            file=self.file,
            numbers=self.numbers if self.text else (),
            units={**self.units, **declaration.units},
            id_column=declaration.id_column if known_id else None,
            rows_per_person=declaration.rows_per_person if known_id else 1,
            label_column=label if label in (*self.names, "") else usual,
            proposed=True,
        )
        forms = self.list_forms(joined)
        for name in confirmed:
            demand(name in forms, "only_bounds", name=name)
            if "dates" in forms[name]:
                raise IntakeError.of("dates_between", name=name, written=forms[name]["written"])
            joined = joined.with_coding(name, forms[name])
        return self.declare_missing(joined, missing)

    def declare_missing(self, declared: Declaration, names: Sequence[str]) -> Declaration:
        """``declared`` with the values of these columns that may mean missing declared to."""
        if strangers := [name for name in names if name not in self.missing]:
            raise IntakeError.of("no_code", strangers=strangers)
        coded = {name: declared.file.get_style(name)._replace(missing=self.missing[name]) for name in names}
        return replace(declared, file=replace(declared.file, styles={**declared.file.styles, **coded}))

    def describe_other(self) -> str:
        """What the other reading says, on a button."""
        if self.other is None or (self.other.delimiter, self.other.quote) != (self.file.delimiter, self.file.quote):
            return "Set cells apart in the other way"
        return "The first line is a row" if self.other.header is False else "The first line holds names"

    def list_open_notes(self, said: Sequence[str]) -> list[str]:
        """The notes, but those that ask of columns what is ``said`` of each of them."""
        asked = {"missing": [*self.missing]} | {kind: self.list_kind(kind) for kind in _NOTED}
        answered = {NOTES[key].format(list_names(names)) for key, names in asked.items() if {*names} <= {*said}}
        return [note for note in self.notes if note not in answered]

    def list_public(self, declared: Declaration) -> tuple[str, ...]:
        """What becomes public with ``declared``: names, then units, then values of categories and ranks."""
        forms = (coding.to_plain(None, None) for coding in declared.codings.values() if coding.textual)
        values = [value for form in forms for key in ("categories", "order") for value in dict(form).get(key, ())]
        return tuple(dict.fromkeys((*self.names, *declared.units.values(), *values)))

    def _choose_likeliest(self, measures: Sequence[str]) -> list[str]:
        if len(measures) > MOST_CHOSEN and not self.kinds:
            return []
        best = sorted(measures, key=lambda name: -self.kinds[name].weight if self.kinds else 0)[:MOST_CHOSEN]
        return [name for name in measures if name in best]


def propose(file: CsvFile, *, reading: FileFormat | None = None) -> Proposal:
    """How ``file`` seems to be written, from rows of its beginning, its middle and its end.

    Parameters
    ----------
    file : CsvFile
        A CSV file in hand; a look at it.
    reading : FileFormat, optional
        The other one of two that are near, as ``Proposal.other`` has it; the likelier or safer one by default.

    Returns
    -------
    Proposal
        For its owner to check.

    Raises
    ------
    IntakeError
        If its bytes are not lines of text with fields.
    """
    with foreign.refuse_as(IntakeError.of("no_csv"), foreign.CSV):
        top, *others = list_readings(file)
        if reading is not None and others and _is_read_like(others[0].file, reading):
            top, others = others[0], [top]
        cells = {name: [record[at] for record in top.body if len(record) > at] for at, name in enumerate(top.names)}
        styles = guess_styles(cells, top.file.delimiter)
        columns = {name: style for name, style in styles.by_column.items() if style != styles.usual}
        declared = replace(top.file, style=styles.usual, styles=columns)
        tried = _Trial.run(top, declared, tuple(styles.by_column))
        kinds = {
            name: guess_kind(name, cells[name], tried.values.get(name), first=place == 0)
            for place, name in enumerate(top.names)
        }
        numbers = tuple(name for name in styles.by_column if not kinds[name].is_text)
        # Ids may say whose a row is, then words and whole numbers that are nearly unique or come again.
        candidates: dict[str, tuple[int, float]] = {}
        for name, column in cells.items():
            present = [cell for cell in column if cell.strip()]
            share = len({*present}) / max(1, len(present))
            is_id, is_word = kinds[name].kind == "id", kinds[name].kind in ("text", "code") or names_a_person(name)
            if present and (is_id or (is_word and (share > 0.9 or (share < 0.7 and len({*present}) >= 10)))):
                candidates[name] = (0 if names_a_person(name) else 1 if is_id else 2, -share)
        proposal = Proposal(
            file=replace(declared, styles={name: style for name, style in columns.items() if name in numbers}),
            names=top.names,
            numbers=numbers,
            text=tuple(name for name in top.names if name not in numbers),
            notes=(),
            kinds=kinds,
            other=others[0].file if others else None,
            units={name: unit for name, unit in top.units.items() if len(unit) <= LONGEST_UNIT and unit.isprintable()},
            missing={name: codes for name in numbers if (codes := tried.find_missing(name))},
            whose=tuple(sorted(candidates, key=candidates.__getitem__)),
        )
        return replace(proposal, notes=(*top.notes, *_list_notes(proposal, styles, tried, cells)))


@dataclass(frozen=True)
class _Trial:
    """What a run's reader makes of the sample's lines: ``values`` (lines,) of each column of numbers, data units."""

    values: Mapping[str, FloatArray]
    unread: Mapping[str, Unread]
    lines: int
    blank: int
    broken: int

    @classmethod
    def run(cls, top: Reading, declared: FileFormat, numbers: Sequence[str]) -> _Trial:
        """The trial; an error where most rows would be lost."""
        header = read_header(top.sample, declared)
        read = read_lines(top.sample, header.make_layout(declared, numbers or top.names[:1], ()), first=header.body)
        unread = header.key_by_name(read.unread)
        lines = len(next(iter(read.columns.values())))
        blank = sum(not line.strip() for line in top.sample[header.body :].split(b"\n")[:lines] if len(top.names) > 1)
        broken = next(iter(unread.values())).broken - blank
        if 2 * broken > lines - blank:
            raise IntakeError.of("most_lost")
        values = {name: np.asarray(column) for name, column in header.key_by_name(read.columns).items()}
        tried = {name: values[name] for name in numbers}
        return cls(tried, {name: unread[name] for name in numbers}, lines, blank, broken)

    def find_missing(self, name: str) -> tuple[str, ...]:
        """The values of a column that may mean missing: numbers far from the others, and dashes in place of numbers."""
        cells = {cell.decode(errors="replace").strip() for cell in self.unread[name].cells}
        return (*find_missing_codes(self.values[name]), *(dash for dash in _DASHES if dash in cells))


def find_missing_codes(values: FloatArray) -> tuple[str, ...]:
    """The numbers that may mean missing: of the form that people write, several times, far from the others at an end.

    ``values`` (n,), data units, NaN where a cell is missing.

    >>> find_missing_codes(np.array([20.0, 31, 45, 52, 64, 71, 999, 999, 30, 41]))
    ('999',)
    """
    there, times = np.unique(values[~np.isnan(values)], return_counts=True)
    found: list[str] = []
    for ends, counts in ((there, times), (there[::-1], times[::-1])):
        written = [f"{value:.15g}" for value in ends[-_MOST_CODES:]]
        tail = next((n for n, code in enumerate(written[::-1]) if not match("code_for_missing", code)), len(written))
        for many in range(min(tail, len(ends) - 2), 0, -1):
            others, codes = ends[:-many], ends[-many:]
            spread = abs(float(others[-1] - others[0]))
            gap = abs(float(codes[0] - others[-1]))
            often = counts[-many:].mean() >= 3 * np.median(counts[:-many])
            below_nought = float(codes.max()) < 0 <= float(others.min()) and often
            if counts[-many:].sum() >= 2 and (gap > max(spread / 2, 1) or below_nought):
                found += written[-many:]
                break
    return tuple(found)


def _is_read_like(one: FileFormat, other: FileFormat) -> bool:
    """Whether two say the same of lines and what divides them."""
    return all(getattr(one, part) == getattr(other, part) for part in ("header", "delimiter", "quote", "skip"))


def _shows_style(cells: Sequence[str], style: NumberStyle) -> bool:
    """Whether some cell reads as another number, or as none, where nothing is said of how it is written."""
    return read_values(cells, style).tobytes() != read_values(cells, PLAIN_STYLE).tobytes()


def _list_notes(proposal: Proposal, styles: Styles, tried: _Trial, cells: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What was found besides, for the owner's eyes."""
    file, kinds, numbers = proposal.file, proposal.kinds, proposal.numbers
    full = [name for name in proposal.names if any(map(str.strip, cells[name]))]
    of_kind = {kind: [name for name in proposal.list_kind(kind) if name in full] for kind in _NOTED}
    lost = [f"{list_names([name])} {many:,}" for name in numbers if (many := tried.unread[name].no_number)]
    marked = [name for name in numbers if _shows_style(cells[name], styles.by_column[name])]
    written = {str(styles.by_column[name]) for name in marked}
    by_style = {one: [name for name in marked if str(styles.by_column[name]) == one] for one in sorted(written)}
    told = {name for kind in ("date", "id", "order", "yes_no", "categories", "group") for name in of_kind[kind]}
    for key, said in [
        ("encoding", file.encoding if file.encoding != "utf-8" else ""),
        ("blank", f"{tried.blank:,} of {tried.lines:,}" if tried.blank else ""),
        ("broken", f"{tried.broken:,} of {tried.lines:,}" if tried.broken else ""),
        ("no_number", ", ".join(lost[:MOST_CHOSEN])),
        *((what, [name]) for name, what in styles.mixed.items() if name in numbers),
        ("missing", [*proposal.missing]),
        ("either", [name for name in of_kind["date"] if may_be_either(cells[name])]),
        ("parts", [name for name in of_kind["code"] if "an E" in kinds[name].why]),
        *(("style", f"{style}: {list_names(names)}") for style, names in by_style.items()),
        ("doubtful_mark", [name for name in styles.doubtful if name in numbers]),
        ("unread", [name for name in styles.unread if name not in told]),
        *of_kind.items(),
        ("several", [name for name in of_kind["id"] if kinds[name].repeats]),
        ("empty", [name for name in proposal.names if name not in full]),
        ("constant", [name for name in proposal.measures if len({*cells[name]}) == 1]),
        ("many", len(proposal.measures) if len(proposal.measures) > MOST_CHOSEN else ""),
    ]:
        if said:
            yield NOTES[key].format(list_names(said) if isinstance(said, list) else said)
