"""What a run says to the world: one frozen record, of which every file and every page of the run is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from dpviz import __version__
from dpviz.arrays import Array
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.ledger import Entry
from dpviz.runs.open_table import OpenTable
from dpviz.runs.run import Run
from dpviz.table.declaration import Declaration
from dpviz.table.sidecar import file_values

FORMAT = 2
"""The version of what ``run --json`` prints; 2 has the declaration and no time."""

RELEASE_GRADE, STUDY_NOISE = "release-grade", "simulation only: seedable floating-point noise"

SIMULATION, FROM_ROWS = "SIMULATION", "BOUNDS_FROM_ROWS"
# Without a character that a reader of CSV files could take for a mark of its own.
_MARKS = {
    "seeded": f"{SIMULATION}: the noise follows from a seed and whoever knows the seed can take it off. Not a release.",
    "study": f"{SIMULATION}: the noise is study noise and not hardened against floating-point attacks. Not a release.",
    FROM_ROWS: f"{FROM_ROWS}: some bounds were read from the rows and no epsilon covers what they tell.",
}

SEEDED = "The noise is seeded, so that a study can be repeated: whoever knows the seed can take it off. Not a release."
LOOKED_UP = "Some bounds were read from the rows: no ε covers what they tell. Not a release."


class LookKind(StrEnum):
    """What somebody saw of the rows themselves, without privacy; none of it is in a release."""

    ROWS = "rows"
    """Rows, as dots or as lines of a table, or counts of them."""
    LOSS = "loss"
    """Measures of results: of one run, or of a study."""
    REFERENCE = "reference"
    """The centres of k-means++."""
    PROPOSAL = "proposal"
    """How the file is read, as a look at it proposed."""


@dataclass(frozen=True, eq=False)
class ReleaseRecord:
    """A run with all that was declared about it: whole, and without anything that was not released or declared.

    There is no time in it but the day: how long a run takes depends on the rows.

    Attributes
    ----------
    private : bool
        False for the reference, which releases nothing: then ``centers`` and ``weights`` are None, ``entries`` empty.
    declaration : Declaration
        With the columns spelled out.
    unit : str
        The unit of privacy that sensitivities are computed for, in words.
    n_public, n : int or None
        The number of rows where it is public, and the one that was used: public, or bought and noisy.
    n_origin : "declared", "by the replace relation", "bought" or "not used"
    columns : tuple of str
        The coordinates of a centre, shape (d,); not the declared columns where a row holds several points.
    centers : array of shape (k, d) or None
        Data units.
    weights : array of shape (k,) or None
        Noisy sizes, where the last step measured them.
    looks : mapping of str to int
        How often the rows themselves were looked at, by ``LookKind``.
    date : str
        The day, UTC.
    """

    algorithm: str
    private: bool
    k: int
    epsilon: float
    delta: float
    declaration: Declaration
    unit: str
    n_public: int | None
    n: int | None
    n_origin: str
    columns: tuple[str, ...]
    parameters: Mapping[str, Any]
    warnings: tuple[str, ...]
    hardened: bool
    seeded: bool
    centers: Array | None
    weights: Array | None
    accounting: Accounting
    spent_epsilon: float | None
    entries: tuple[Entry, ...]
    looks: Mapping[str, int]
    version: str
    date: str

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
        return {
            "format": FORMAT,
            "algorithm": self.algorithm,
            "k": self.k,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": self.relation,
            "unit": self.unit,
            "n_public": self.n_public,
            "n": self.n,
            "n_origin": self.n_origin,
            "columns": list(self.columns),
            "declaration": self._declared(),
            "parameters": dict(self.parameters),
            "warnings": list(self.warnings),
            "noise": RELEASE_GRADE if self.hardened else STUDY_NOISE,
            "seeded": self.seeded,
            "note": self.note,
            "looks": dict(self.looks),
            "version": self.version,
            "date": self.date,
            "released": {
                "centers": None if self.centers is None else self.centers.tolist(),
                "weights": None if self.weights is None else self.weights.tolist(),
            },
            "ledger": {
                "epsilon": self.spent_epsilon,
                "delta": self.delta,
                "accounting": self.accounting.value,
                "entries": [entry.to_dict() for entry in self.entries],
            },
        }

    def _declared(self) -> dict[str, Any]:
        """What was declared, under the names that a sidecar has for it."""
        said = self.declaration
        bounds = said.bounds_for(said.columns)
        pairs = zip(said.columns, zip(bounds.lower.tolist(), bounds.upper.tolist(), strict=True), strict=True)
        return {
            "columns": list(said.columns),
            "bounds": {name: list(pair) for name, pair in pairs},
            "origins": {name: said.origin_of(name) for name in said.columns},
            "bounds_from_rows": said.bounds_from_rows,
            "scaling": said.scaling,
            "radius": said.radius,
            "relation": said.relation,
            "unit": self.unit,
            "unit_of_privacy": said.unit_of_privacy,
            "id_column": said.id_column,
            "rows_per_person": said.rows_per_person,
            "n_public": said.n_public,
            "kind": said.kind.value,
            "proposed": said.proposed,
            **({"file": values} if (values := file_values(said.file)) else {}),
        }


def record_of(run: Run, table: OpenTable, *, looks: Mapping[LookKind, int] | None = None) -> ReleaseRecord:
    """The record of a run on ``table`` after so many ``looks`` at its rows; a proposed declaration is one more."""
    private, declaration = run.private, table.declaration
    weights = run.noisy_weights
    return ReleaseRecord(
        algorithm=run.algorithm,
        private=private,
        k=run.k,
        epsilon=run.epsilon,
        delta=run.delta,
        declaration=declaration,
        unit=run.unit,
        n_public=run.n_public,
        n=run.n_used,
        n_origin=_n_origin(run),
        columns=run.domain.columns,
        parameters=dict(run.parameters),
        warnings=_warnings(run, declaration),
        hardened=run.hardened,
        seeded=run.seeded,
        centers=_frozen(run.centers) if private else None,
        weights=_frozen(weights) if private and weights is not None else None,
        accounting=run.accounting,
        spent_epsilon=run.spent_epsilon if private else None,
        entries=run.entries if private else (),
        looks=counted(looks or {}, declaration),
        version=__version__,
        date=datetime.now(UTC).date().isoformat(),
    )


def counted(looks: Mapping[LookKind, int], declaration: Declaration) -> dict[str, int]:
    """Looks by kind, in the order of the kinds and without those that there were none of."""
    asked = {LookKind.PROPOSAL: int(declaration.proposed), **looks}
    return {kind.value: asked[kind] for kind in LookKind if asked.get(kind)}


def _n_origin(run: Run) -> str:
    if run.n_source != "public":
        return {"paid": "bought"}.get(run.n_source, run.n_source)
    return "by the replace relation" if run.relation == "replace" else "declared"


def _warnings(run: Run, declaration: Declaration) -> tuple[str, ...]:
    seeded = (SEEDED,) if run.seeded else ()
    looked_up = (LOOKED_UP,) if declaration.bounds_from_rows else ()
    return (*run.warnings, *seeded, *looked_up)


def _frozen(values: Array) -> Array:
    copy = values.copy()
    copy.flags.writeable = False
    return copy
