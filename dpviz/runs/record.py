"""What a run says to the world: one frozen record, of which every file and page is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Annotated, Any

from dpviz import __version__
from dpviz.core import AccessKind, Array
from dpviz.runs.one_run import SEEDED, SIMULATION, Run, RunFacts, RunSoFar
from dpviz.runs.open_table import OpenTable
from dpviz.tables import Declaration, codings, declarations
from dpviz.words import Key

FORMAT = 2
"""The version of what ``run --json`` prints; 2 has the declaration and no time."""

FROM_ROWS = "BOUNDS_FROM_ROWS"
# Without a character that a reader of CSV files could take for a mark of its own.
_MARKS = {
    "seeded": f"{SIMULATION}: the noise follows from a seed and whoever knows the seed can take it off. Not a release.",
    "study": f"{SIMULATION}: the noise is study noise and not hardened against floating-point attacks. Not a release.",
    FROM_ROWS: f"{FROM_ROWS}: some bounds were read from the rows and no epsilon covers what they tell.",
}

_AS_DECLARED = ("scaling", "radius", "relation", "unit_of_privacy", "id_column", "rows_per_person", "n_public")
SAME_IN_DECLARATION = ("weights", *_AS_DECLARED, "kind", "proposed", "n_range", "file")
"""What a run says of a declaration as its file does."""

BROKEN_OFF = "The run was broken off: its steps were seen, and what they spent is spent; it has no centres."
LOOKED_UP = "Some bounds were read from the rows: no ε covers what they tell. Not a release."


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleaseRecord(RunFacts):
    """A run with all that was declared about it: whole, and without anything that was not released or declared.

    There is no time in it but the day: how long a run takes depends on the rows. The reference releases nothing: then
    ``centers``, ``weights`` and ``spent_epsilon`` are None, ``entries`` empty. A run that was broken off
    has no centres.

    * ``declaration``: with the columns spelled out.
    * ``centers`` (k, d): data units.
    * ``profiles``: what each centre says of the declared columns, where these are more than numbers between bounds.
    * ``weights`` (k,): noisy sizes, where the last step measured them.
    """

    declaration: Declaration
    columns: Annotated[
        tuple[str, ...], "the coordinates of a centre; where a row holds several points, not the declared columns"
    ]
    centers: Array | None
    weights: Array | None
    profiles: tuple[Mapping[str, Any], ...] | None
    looks: Annotated[
        Mapping[str, int], Key("how often the rows themselves were looked at, by kind", "an object of counts")
    ]
    version: Annotated[str, "of dpviz"]
    date: Annotated[str, "the day, UTC; no running time, which depends on rows"]

    @property
    def relation(self) -> str:
        return self.declaration.relation

    @property
    def marks(self) -> tuple[str, ...]:
        """Why this is no release that anybody should rest on, a word each: what names of files begin with."""
        simulated = (SIMULATION,) if self.seeded or not self.hardened else ()
        return (*simulated, FROM_ROWS) if self.declaration.bounds_from_rows else simulated

    @property
    def note(self) -> str:
        """The same in plain sentences, which stand inside every file; empty where there is nothing to say."""
        why = "seeded" if self.seeded else "study"
        return " ".join(_MARKS[why if mark == SIMULATION else mark] for mark in self.marks)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, in the form that ``run --json`` prints."""
        same = ("algorithm", "k", "epsilon", "delta", "relation", "unit", "n_public", "n", "n_origin")
        said = self.declaration
        bounds = said.list_bounds(said.columns)
        pairs = zip(said.columns, zip(bounds.lower.tolist(), bounds.upper.tolist(), strict=True), strict=True)
        return {
            "format": FORMAT,
            **{name: getattr(self, name) for name in same},
            "columns": list(self.columns),
            "declaration": {
                "columns": list(said.columns),
                "bounds": {name: said.codings.get(name, codings.NUMBER).to_plain(*pair) for name, pair in pairs},
                **({"weights": dict(said.weights)} if said.weights else {}),
                "origins": {name: said.describe_origin(name) for name in said.columns},
                "bounds_from_rows": said.bounds_from_rows,
                "unit": self.unit,
                **{name: getattr(said, name) for name in _AS_DECLARED},
                "kind": said.kind.value,
                "proposed": said.proposed,
                **({} if said.n_range is None else {"n_range": list(said.n_range)}),
                **({"file": values} if (values := declarations.list_file_values(said.file)) else {}),
            },
            "parameters": dict(self.parameters),
            "warnings": list(self.warnings),
            "noise": self.noise,
            **{name: getattr(self, name) for name in ("seeded", "note", "looks", "version", "date")},
            "released": {
                "centers": None if self.centers is None else self.centers.tolist(),
                "weights": None if self.weights is None else self.weights.tolist(),
                **({} if self.profiles is None else {"profiles": [dict(one) for one in self.profiles]}),
            },
            "ledger": {
                "epsilon": self.spent_epsilon,
                "delta": self.delta,
                "accounting": self.accounting.value,
                "entries": [entry.to_dict() for entry in self.entries],
            },
        }

    @classmethod
    def of(cls, run: RunSoFar, table: OpenTable, *, accesses: Mapping[AccessKind, int] | None = None) -> ReleaseRecord:
        """The record of a run on ``table`` after so many ``looks`` at its rows; a proposed declaration is one more.

        A run that was broken off has spent what its steps spent, and has no centres.
        """
        said = {fact.name: getattr(run, fact.name) for fact in fields(RunFacts)}
        if not run.private:
            said |= {"spent_epsilon": None, "entries": ()}
        looked_up = (LOOKED_UP,) if table.declaration.bounds_from_rows else ()
        broken_off = () if isinstance(run, Run) else (BROKEN_OFF,)
        centers = run.centers if run.private and isinstance(run, Run) else None
        weights = run.noisy_weights if run.private and isinstance(run, Run) else None
        return cls(
            **said | {"warnings": (*run.warnings, *broken_off, *((SEEDED,) if run.seeded else ()), *looked_up)},
            declaration=table.declaration,
            columns=run.domain.columns,
            centers=None if centers is None else _freeze(centers),
            weights=None if weights is None else _freeze(weights),
            profiles=None if centers is None or not run.domain.declared else tuple(map(run.domain.describe, centers)),
            looks=AccessKind.tabulate(accesses or {}, proposed=table.declaration.proposed),
            version=__version__,
            date=datetime.now(UTC).date().isoformat(),
        )


def _freeze(values: Array) -> Array:
    copy = values.copy()
    copy.flags.writeable = False
    return copy
