"""What the owner declares about a table, and the open table that follows from it. No Streamlit here."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from dpviz.check import RequestError
from dpviz.privacy.room import PrivateTable
from dpviz.table.csv_intake import LoadedTable
from dpviz.table.domain import Codes, Domain
from dpviz.table.loaded_table import listed
from dpviz.table.sidecar import Sidecar


class FileKind(StrEnum):
    """Whose eyes the rows are for; compared by value, so that code reloaded during development still knows it."""

    PUBLIC = "public"
    """Anybody may see the rows."""
    SIMULATED = "simulated"
    """Made from declared numbers alone: nobody is in it."""
    PRIVATE = "private"
    """Rows about people: shown to nobody unless their owner asks, and then counted."""

    @property
    def may_be_shown(self) -> bool:
        return self != FileKind.PRIVATE


@dataclass(frozen=True)
class Declaration:
    """Public statements about one table; nothing in it may be computed from private rows.

    Parameters
    ----------
    columns : tuple of str
        The columns to cluster, in order.
    lower, upper : tuples of float or None
        Bounds of each column, data units; None where none is declared yet.
    bounds_origin : str
        Where the bounds come from.
    radius : float or None
        Largest distance from the middle of the bounds (see ``Domain``).
    scaling : "unit" or "common"
    relation : "add_remove" or "replace"
    id_column : str or None
        Whose row each row is; None means one row a person.
    rows_per_person : int
        At most this many rows of a person are used.
    n_public : int or None
        The number of rows, if it is public; None means that a noisy one is bought.
    kind : FileKind
    label_column : str or None
        A known grouping, used only to judge results on revealed rows.
    title : str
    """

    columns: tuple[str, ...]
    lower: tuple[float | None, ...]
    upper: tuple[float | None, ...]
    bounds_origin: str = ""
    radius: float | None = None
    scaling: str = "unit"
    relation: str = "add_remove"
    id_column: str | None = None
    rows_per_person: int = 1
    n_public: int | None = None
    kind: FileKind = FileKind.PRIVATE
    label_column: str | None = None
    title: str = "table"


@dataclass(frozen=True, eq=False)
class OpenTable:
    """A table with everything declared: algorithms may run on it.

    ``labels`` are codes of shape (n,) in the order of the loaded rows (index them with ``Revealed.kept``), or None.
    ``key`` tells any two tables or declarations apart, neighbouring ones too: use it for every cache.
    """

    loaded: LoadedTable
    declaration: Declaration
    private: PrivateTable
    labels: Codes | None
    key: str

    @property
    def domain(self) -> Domain:
        return self.private.domain

    @property
    def kind(self) -> FileKind:
        return self.declaration.kind

    @property
    def title(self) -> str:
        return self.declaration.title

    @property
    def n_public(self) -> int | None:
        """The number of rows where it is public: declared, or given by the replace relation."""
        return self.private.n_public


def declare(loaded: LoadedTable, declaration: Declaration) -> OpenTable:
    """The open table that ``declaration`` makes of ``loaded``.

    Raises
    ------
    RequestError
        If a bound is missing or the declarations contradict each other or the table (``IntakeError`` is one).
    """
    _check_complete(declaration)
    values = loaded.columns(declaration.columns)
    low = [float("nan") if bound is None else bound for bound in declaration.lower]
    high = [float("nan") if bound is None else bound for bound in declaration.upper]
    domain = Domain.of(declaration.columns, low, high, radius=declaration.radius, scaling=declaration.scaling)
    private = PrivateTable(
        values,
        domain,
        relation=declaration.relation,
        n_public=declaration.n_public,
        persons=loaded.identifiers(declaration.id_column) if declaration.id_column is not None else None,
        rows_per_person=declaration.rows_per_person,
    )
    labels = loaded.identifiers(declaration.label_column) if declaration.label_column is not None else None
    return OpenTable(loaded, declaration, private, labels, _key(loaded, declaration))


def declared_by(sidecar: Sidecar, loaded: LoadedTable, kind: FileKind) -> Declaration:
    """The declaration that a sidecar makes; one pair of bounds without columns serves all numeric ones."""
    no_coordinates = (sidecar.label, sidecar.id_column)
    columns = sidecar.columns or tuple(name for name in loaded.numeric_columns if name not in no_coordinates)
    bounds = sidecar.bounds_for(columns)
    return Declaration(
        columns=columns,
        lower=tuple(float(bound) for bound in bounds.lower),
        upper=tuple(float(bound) for bound in bounds.upper),
        bounds_origin=sidecar.bounds_origin,
        radius=sidecar.radius,
        scaling=sidecar.scaling,
        relation=sidecar.relation or "add_remove",
        id_column=sidecar.id_column,
        rows_per_person=sidecar.rows_per_person or 1,
        n_public=sidecar.n_public,
        kind=kind,
        label_column=sidecar.label,
        title=sidecar.title or loaded.name,
    )


def _check_complete(declaration: Declaration) -> None:
    if not declaration.columns:
        raise RequestError("No column is chosen: choose at least one numeric column to cluster.")
    bounds = zip(declaration.columns, declaration.lower, declaration.upper, strict=True)
    unbounded = [name for name, low, high in bounds if low is None or high is None]
    if unbounded:
        raise RequestError(
            f"No bounds are declared for {listed(unbounded)}: give a lower and an upper bound that you know without "
            "looking at the rows."
        )
    roles = (("id column", declaration.id_column), ("label column", declaration.label_column))
    for role, name in roles:
        if name is not None and name in declaration.columns:
            raise RequestError(f"Column {name!r} is both the {role} and a column to cluster: choose one of the two.")


def _key(loaded: LoadedTable, declaration: Declaration) -> str:
    return hashlib.sha256(f"{loaded.fingerprint}|{declaration!r}".encode()).hexdigest()
