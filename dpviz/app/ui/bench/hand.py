"""What the bench has in hand: a declaration in the making, what its owner accepts, and what is still missing.

A hand is a value: whatever is typed into its sentence makes another one, or the same with a refusal in the word. No row
is read here, and no page is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import isfinite
from typing import Any

from dpviz.core import RequestError, check
from dpviz.runs import Division, KnownRows, Request, Target, advise, windows
from dpviz.tables import Content, Declaration, FileKind, Proposal, codings, declarations, file_format

MOST_CLUSTERS, HIGHEST_DELTA, LARGEST_LOSS = 1_000, 0.1, 1_000
FILLED = "these rows, which anybody may see"
"""Where bounds are from that were read from public rows."""
ONE_ROW = "Each person has one row."
"""What the dossier answers, once that was said, to how many rows one person can have."""
UNKNOWN = "unknown"
"""What is typed for the number of rows where it is to be bought."""
_MOST_CONFIRMED = 6
_RANGE = re.compile(r"\s*(?:\bto\b|–|…|\.\.+|\s-\s)\s*")
_AND_SO_ON = ("…", "...", "and so on")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


@dataclass(frozen=True)
class Hand:
    """A table, what is declared of it so far, and what its owner accepts.

    ``number`` tells the widgets of one file from those of the next. ``request`` has the ε and δ of the whole release.
    ``refused`` says by word what was typed and why it cannot be; ``buys`` are the columns whose bounds ε is to buy; it
    ``buys_rows`` where nobody wants to say how many there are, and then no ε is advised. ``retyped`` are bounds that
    were typed since somebody said where they are from.
    """

    number: int
    content: Content
    declaration: Declaration
    request: Request
    rows: KnownRows | None = None
    person_said: bool = False
    target: Target = field(default_factory=Target)
    risk: windows.Risk = field(default_factory=windows.Risk)
    division: Division = field(default_factory=Division)
    buys: tuple[str, ...] = ()
    buys_rows: bool = False
    proposal: Proposal | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
    unfolded: bool = False
    retyped: frozenset[str] = field(default=frozenset(), compare=False)

    @classmethod
    def of_file(
        cls, number: int, content: Content, declared: Declaration, proposal: Proposal | None, request: Request
    ) -> Hand:
        """A file of which little or nothing is ``declared``: a proposal fills what it can, and no bound is in that."""
        hand = cls(number, content, declared, request)
        if proposal is not None:
            hand = hand.take_proposal(proposal)
        return replace(hand, rows=KnownRows.read(hand.declaration), person_said=hand.declaration.id_column is not None)

    @property
    def title(self) -> str:
        """What the table is called."""
        return self.declaration.title or self.content.name

    @property
    def is_private(self) -> bool:
        """Whether its rows are shown to nobody unless their owner asks."""
        return not self.declaration.kind.may_be_shown

    @property
    def origin(self) -> str:
        """Where the bounds are from, in a word or two; "" while some are unexplained."""
        if self.declaration.unexplained:
            return ""
        said = [self.declaration.bounds_origin, *self.declaration.origins]
        return next((one for one in said if one), "bought" if self.buys else "")

    @property
    def gaps(self) -> list[str]:
        """Words that are still to be said, in the order of the sentence."""
        declared = self.declaration
        found = [] if self.rows is not None or self.buys_rows else ["rows"]
        found += [] if self.person_said else ["person"]
        found += [] if declared.columns else ["columns"]
        for name in self.open_columns:
            ends = declared.bounds[name]
            found += [f"low:{name}"] if ends.lower is None else []
            found += [f"high:{name}"] if ends.upper is None and not self.find_written(name) else []
        return [*found, *([] if self.origin or not declared.columns else ["origin"])]

    @property
    def open_columns(self) -> tuple[str, ...]:
        """Columns whose bounds are neither declared nor to be bought."""
        return tuple(name for name in self.declaration.open_columns if name not in self.buys)

    def find_written(self, name: str) -> str:
        """In which order a column writes day, month and year that holds dates, or seems to; "" of any other."""
        coding, proposal = self.declaration.codings.get(name), self.proposal
        if coding is not None or proposal is None:
            return coding.written if isinstance(coding, codings.Dates) else ""
        return str(proposal.list_forms(self.declaration).get(name, {}).get("written", ""))

    def _takes_bounds(self, name: str) -> bool:
        """Whether bounds of a column are typed in the sentence: of numbers and dates that ε does not buy."""
        coding = self.declaration.codings.get(name, codings.NUMBER)
        return name not in self.buys and (coding.ends is None or isinstance(coding, codings.Dates))

    @property
    def is_complete(self) -> bool:
        """Whether a table can be opened: a bound may be unexplained until something leaves."""
        return not self.refused and all(gap == "origin" for gap in self.gaps)

    @property
    def share(self) -> float:
        """The part of the ε of a release that goes to its centres."""
        return self.division.find_share(bought=len(self.declaration.open_columns))

    @property
    def run_request(self) -> Request:
        """The run as it would be released: with the ε that is left when all else has been paid."""
        parts = self.division.divide(self.request.epsilon, bought=len(self.declaration.open_columns))
        return replace(self.request, epsilon=parts.centers, delta=self.request.spent_delta)

    def refuse(self, word: str, why: str) -> Hand:
        """The same with a refusal in a word."""
        return replace(self, refused={**self.refused, word: why})

    def accept(self, *words: str) -> Hand:
        """The same without what stood against these words."""
        return replace(self, refused={word: why for word, why in self.refused.items() if word not in words})

    def declare(self, declaration: Declaration) -> Hand:
        """The same with another declaration; what was refused or bought of columns that are gone is forgotten."""
        names = declaration.columns
        gone = [word for word in self.refused if ":" in word and word.split(":")[1] not in names]
        buys = tuple(name for name in self.buys if name in declaration.open_columns)
        if declaration.numbers:  # what is clustered as numbers is one of them
            numbers = (name for name in (*declaration.numbers, *names) if name not in declaration.textual)
            declaration = replace(declaration, numbers=tuple(dict.fromkeys(numbers)))
        return replace(self.accept(*gone), declaration=declaration, buys=buys)

    def take_declaration(self, declaration: Declaration) -> Hand:
        """The same with everything that was declared at once."""
        rows = KnownRows.read(declaration) or self.rows
        said = replace(self, declaration=declaration, rows=rows, person_said=True, refused={}, buys=())
        return replace(said, buys_rows=rows is None, retyped=frozenset()).say_kind(declaration.kind)

    def take_proposal(self, proposal: Proposal) -> Hand:
        """The same with all that a proposal is sure of; no bound is in that."""
        declared = _keep_columns(self.declaration, proposal.names)
        sure = [name for name, form in proposal.list_forms(declared).items() if "dates" not in form]
        declared = proposal.join_to(declared, confirmed=sure[:_MOST_CONFIRMED])
        return replace(self.declare(declared), proposal=proposal)

    def read_as(self, file: file_format.FileFormat, names: Sequence[str]) -> Hand:
        """The same with the file read otherwise, and so with these ``names`` of columns."""
        kept = _keep_columns(self.declaration, names)
        styles = {name: style for name, style in file.styles.items() if name in names}
        proposal = self.proposal if self.proposal is not None and self.proposal.names == tuple(names) else None
        return replace(self.declare(replace(kept, file=replace(file, styles=styles))), proposal=proposal)

    def say_kind(self, kind: FileKind) -> Hand:
        """The same for other eyes; bounds that were filled in from rows are called so once these are private."""
        declared = replace(self.declaration, kind=kind)
        if not kind.may_be_shown:
            origins = tuple(declarations.FROM_ROWS if one == FILLED else one for one in declared.origins)
            declared = replace(declared, origins=origins, file=replace(declared.file, several_lines=False))
        return replace(self, declaration=declared)

    def choose_columns(self, names: Sequence[str]) -> Hand:
        """The same with these columns to cluster; what is known of their bounds stays."""
        declared, proposed = self.declaration, {}
        if self.proposal is not None:
            # Between which dates is for the owner to say.
            forms = self.proposal.list_forms(declared).items()
            proposed = {name: form for name, form in forms if "dates" not in form and name not in declared.columns}
        known = [name for name in names if name not in proposed]
        changed = declared.with_bounds(known, [declared.bounds.get(name, declarations.NO_BOUNDS) for name in known])
        for name in names:
            if name in proposed:
                changed = changed.with_coding(name, proposed[name])
        return self.declare(_keep_codings(changed, changed.columns))

    def take_bounds(self, bounds: Mapping[str, declarations.ColumnBounds]) -> Hand:
        """The same with bounds of many columns, which are clustered then."""
        known = {**self.declaration.bounds, **bounds}
        declared = self.declaration.with_bounds(list(known), list(known.values()))
        declared.check_values()
        words = [f"{end}:{name}" for name in bounds for end in ("low", "high")]
        return replace(self.declare(declared), retyped=self.retyped.difference(words)).accept(*words)

    def say_rows(self, rows: KnownRows) -> Hand:
        """The same with so many rows: a number is public, of a range the algorithm buys a noisy one."""
        public = rows.low if rows.low == rows.high else None
        declared = replace(self.declaration, n_public=public, n_range=None if public else (rows.low, rows.high))
        return replace(self, rows=rows, declaration=declared, buys_rows=False)

    def buy_rows(self) -> Hand:
        """The same with a number of rows that nobody says: each run buys a noisy one."""
        declared = replace(self.declaration, n_public=None, n_range=None)
        return replace(self, rows=None, buys_rows=True, declaration=declared)

    def say_person(self, column: str | None, most: int, relation: str) -> Hand:
        """The same with whose row each is."""
        said = self.choose_columns([name for name in self.declaration.columns if name != column])
        told = {name: words for name, words in said.declaration.words.items() if words != ONE_ROW}
        words = told if column else {"several_rows": ONE_ROW, **told}
        declared = replace(said.declaration, id_column=column, rows_per_person=most, relation=relation, words=words)
        return replace(said, declaration=declared, person_said=True)

    def type_in(self, word: str, text: str) -> Hand:
        """The same after ``text`` was typed into a word; where it cannot be, its refusal stands there."""
        said = self.accept(word)
        try:
            return said._type(word, text)
        except RequestError as error:
            return said.refuse(word, str(error))

    def _type(self, word: str, text: str) -> Hand:
        name, _, column = word.partition(":")
        if name == "rows":
            return self.buy_rows() if text.strip() == UNKNOWN else self.say_rows(KnownRows.from_text(text))
        if name in ("low", "high"):
            return self._type_many(column, name, text)
        number = read_number(text)
        if name == "k":
            if not (1 <= number <= MOST_CLUSTERS and number == int(number)):
                raise RequestError(f"Write a whole number from 1 to {MOST_CLUSTERS:,}.")
            return replace(self, request=replace(self.request, k=int(number)))
        if name == "delta":
            if not 0 <= number <= HIGHEST_DELTA:
                raise RequestError(f"Write a number from 0 to {HIGHEST_DELTA:g}.")
            most = None if self.rows is None else self.rows.high
            delta = check.check_delta(most, delta=float(f"{number:.3g}"))
            return replace(self, request=replace(self.request, delta=delta))
        if name == "loss":
            loss = round(1 + number / 100, 6)  # as many digits as the sentence says
            if not 1 < loss <= 1 + LARGEST_LOSS / 100:
                raise RequestError(f"Write a number above 0, and at most {LARGEST_LOSS:,}.")
            return replace(self, target=Target(loss, self.target.share))
        if name in ("prior", "accepted"):
            risk = replace(self.risk, **{name: round(number / 100, 6)})
            if not 0 < risk.prior < risk.accepted < 1:
                raise RequestError("A guess grows: write more than 0 before, and more than that, below 100, after.")
            return replace(self, risk=risk).accept("prior", "accepted")
        raise KeyError(word)

    def _type_many(self, column: str, end: str, text: str) -> Hand:
        """One bound of a column, both, or those of the columns after it, too: 18 to 100; 0 to 9,000; and so on."""
        columns = [name for name in self.declaration.columns if name == column or self._takes_bounds(name)]
        columns, parts = columns[columns.index(column) :], text.strip(" ;").split(";")
        if len(parts) > 1 and parts[-1].strip() in _AND_SO_ON:
            parts[-1:] = parts[-2:-1] * (len(columns) - len(parts) + 1)
        if len(parts) > len(columns):
            raise RequestError(f"{len(parts)} ranges are more than there are columns from here on: {len(columns)}.")
        said = self
        for name, part in zip(columns, parts, strict=False):
            if part.strip() or len(parts) == 1:
                said = said._type_ends(name, end, _RANGE.split(part.strip()))
        return said

    def _type_ends(self, column: str, end: str, typed: Sequence[str]) -> Hand:
        if written := self.find_written(column):
            days = [_read_day(text, written) for text in typed]
            if len(days) != 2 or not all(days):
                raise RequestError("Write the first and the last day, such as 2015-01-01 to 2024-12-31.")
            return self._code(column, {"dates": days, "written": written}, self.declaration.weights.get(column))
        numbers = [read_number(text) if text.strip() else None for text in typed]
        before = self.declaration.bounds[column]
        if len(numbers) > 2:
            raise RequestError("Write two numbers, such as 0 to 100; a semicolon goes on to the next column.")
        if len(numbers) == 2:
            return self._set_ends(column, before._replace(lower=numbers[0], upper=numbers[1]))
        ends = before._replace(lower=numbers[0]) if end == "low" else before._replace(upper=numbers[0])
        return self._set_ends(column, ends)

    def _set_ends(self, column: str, ends: declarations.ColumnBounds) -> Hand:
        declared = self.declaration
        before = declared.bounds[column]
        if ends.lower is not None and ends.upper is not None and not ends.lower < ends.upper:
            raise RequestError(f"{ends.lower:g} is not below {ends.upper:g}: write the smaller number first.")
        # Where bounds are from is known as long as one of the two is what it was when that was said.
        both = {f"low:{column}", f"high:{column}"}
        changed = {"low": ends.lower != before.lower, "high": ends.upper != before.upper}
        retyped = self.retyped | {f"{end}:{column}" for end, is_so in changed.items() if is_so}
        if both <= retyped:
            ends, retyped = ends._replace(origin=""), retyped - both
        bounds = {**declared.bounds, column: ends}
        bounded = declared.with_bounds(list(bounds), list(bounds.values()))
        declared.codings.get(column, codings.NUMBER).check_bounds(column, ends.lower, ends.upper)
        buys = tuple(name for name in self.buys if name != column)
        return replace(self.declare(bounded), buys=buys, retyped=retyped).accept(*both, f"column:{column}")

    def say_column(self, column: str, form: Mapping[str, Any], weight: float | None = None) -> Hand:
        """The same with what a column holds, as a declaration says it; what cannot be is refused in its word."""
        word = f"column:{column}"
        try:
            return self.accept(word, f"low:{column}")._code(column, form, weight)
        except RequestError as error:
            return self.refuse(word, str(error))

    def _code(self, column: str, form: Mapping[str, Any], weight: float | None) -> Hand:
        """What its owner has said that it holds is proposed no more."""
        said = self.declare(self.declaration.with_coding(column, form, weight))
        if self.proposal is None or column in said.declaration.codings or not said.find_written(column):
            return said
        kinds = {name: kind for name, kind in self.proposal.kinds.items() if name != column}
        return replace(said, proposal=replace(self.proposal, kinds=kinds))

    def say_origin(self, origin: str) -> Hand:
        """The same with where all bounds are from; those that were read from the rows stay so until both are typed."""
        read = (declarations.FROM_ROWS, FILLED)
        origins = tuple(one if one in read else "" for one in self.declaration.origins)
        declared = replace(self.declaration, bounds_origin=origin.strip(), origins=origins if any(origins) else ())
        return replace(self, declaration=declared, retyped=frozenset())

    def find_window(self) -> windows.Window | None:
        """The window of ε of the whole release, for made-up tables like this one and the algorithm in hand.

        None where none can be told.
        """
        if self.rows is None or not self.declaration.columns:
            return None
        try:
            answer = advise(
                tuple(self.rows),
                k=self.request.k,
                declaration=self.declaration,
                target=self.target.loss,
                share=self.target.share,
                delta=self.request.spent_delta,
                **self.division.named,
                algorithm=self.request.contender.to_text(),
            )
        except RequestError:
            return None
        return windows.Window.of(answer, self.risk) if answer.is_studied else None

    def list_ticks(self) -> Iterator[tuple[str, str]]:
        """What a release has to be able to defend, each with the decision that settled it; "" where none has."""
        declared = self.declaration
        who = f"all rows of one {declared.id_column}" if declared.id_column else "one row"
        yield "Who is protected", who if self.person_said else ""
        yield "Where bounds are from", "" if "origin" in self.gaps else self.origin


def read_number(text: str) -> float:
    """A number as people type it; refused where it is none.

    >>> read_number("1,000"), read_number("1.000,5"), read_number("10⁻⁶"), read_number("−5")
    (1000.0, 1000.5, 1e-06, -5.0)
    """
    plain = text.strip().replace("\u2212", "-").replace(" ", "").translate(_RAISED)
    plain = "1e" + plain[2:] if plain.startswith("10-") else plain.replace("×10-", "e-")
    last = max(plain.rfind(","), plain.rfind("."))
    whole, part = (plain[:last], plain[last + 1 :]) if last >= 0 else (plain, "")
    if last >= 0 and plain[last] == "," and len(part) == 3 and "." not in whole:  # 1,000 is a thousand
        whole, part = whole + part, ""
    try:
        number = float(whole.replace(",", "").replace(".", "") + (f".{part}" if part else ""))
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise RequestError("That is no number: write one, such as 1,000 or 0.5.")
    return number


def _read_day(text: str, written: str) -> str:
    """A day as people type it, year first or as the column writes it; "" where it is none."""
    days = [day for order in ("ymd", written) if isfinite(day := codings.find_day(text.strip(), order))]
    return date.fromordinal(int(days[0]) + date(1970, 1, 1).toordinal()).isoformat() if days else ""


def format_number_typed(number: float | None) -> str:
    """A bound as it stands in the sentence, which ``read_number`` reads back."""
    return "" if number is None else f"{number:,}".removesuffix(".0")


def _keep_codings(declared: Declaration, names: Sequence[str]) -> Declaration:
    """``declared`` without what is said of what columns hold that are not in ``names``."""
    coded = {name: one for name, one in declared.codings.items() if name in names}
    return replace(declared, codings=coded, weights={n: one for n, one in declared.weights.items() if n in names})


def _keep_columns(declared: Declaration, names: Sequence[str]) -> Declaration:
    """``declared`` without what is said of columns that are not in ``names``."""
    columns = [name for name in declared.columns if name in names]
    has_id = declared.id_column in names
    return replace(
        _keep_codings(declared.with_bounds(columns, [declared.bounds[name] for name in columns]), names),
        numbers=tuple(name for name in declared.numbers if name in names),
        units={name: unit for name, unit in declared.units.items() if name in names},
        describe={name: one for name, one in declared.describe.items() if name in names},
        id_column=declared.id_column if has_id else None,
        rows_per_person=declared.rows_per_person if has_id else 1,
        label_column=declared.label_column if declared.label_column in (*names, "") else None,
    )
