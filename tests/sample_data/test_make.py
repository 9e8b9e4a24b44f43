"""The sample files are what their script makes, and their declarations are honest."""

from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from dpviz.tables.csv_intake import load_csv
from dpviz.tables.declarations import FileKind, read_declaration, to_json
from sample_data.make import SETS, SPARSE_SETS
from tests.cases import for_each

FOLDER = Path(__file__).resolve().parents[2] / "sample_data"


@for_each("stem", sorted(SETS))
def test_script_rewrites_each_file_byte_for_byte(stem: str) -> None:
    made = SETS[stem]()
    assert made.csv.encode() == (FOLDER / f"{stem}.csv").read_bytes()
    assert to_json(made.declaration).encode() == (FOLDER / f"{stem}.json").read_bytes()


def test_every_file_has_a_maker_and_all_are_small() -> None:
    assert {path.stem for path in FOLDER.glob("*.csv")} == set(SETS)
    assert {path.stem for path in FOLDER.glob("*.npz")} == set(SPARSE_SETS)
    # The rows of digits come with scikit-learn; curves are made of all (tests/runs/test_sample_curves.py).
    assert {path.stem for path in FOLDER.glob("*.json")} == {*SETS, *SPARSE_SETS, "digits", "curves"}
    sizes = [path.stat().st_size for path in FOLDER.glob("*.*") if path.suffix in (".csv", ".json", ".npz")]
    assert max(sizes) < 1_500_000 and sum(sizes) < 3_500_000


@for_each("stem", sorted(SPARSE_SETS))
def test_script_makes_the_rows_of_each_sparse_file_again(stem: str) -> None:
    # Not byte for byte: how a library packs them may differ.
    made, kept = SPARSE_SETS[stem](), sparse.csr_array(sparse.load_npz(FOLDER / f"{stem}.npz"))
    assert kept.shape == made.rows.shape == (made.declaration.n_public, made.rows.shape[1])
    assert (kept != made.rows).nnz == 0
    assert to_json(made.declaration).encode() == (FOLDER / f"{stem}.json").read_bytes()


@for_each("stem", sorted(SETS))
def test_declarations_fit_the_rows_and_do_not_come_from_them(stem: str) -> None:
    declared = read_declaration(FOLDER / f"{stem}.json")
    roles = [name for name in (declared.label_column, declared.id_column) if name is not None]
    table = load_csv(FOLDER / f"{stem}.csv", numbers=declared.columns, text=roles)
    rows, bounds = table.columns(declared.columns), declared.list_bounds(declared.columns)
    assert table.notes == () and len(rows) == declared.n_public
    assert (rows >= bounds.lower).all() and (rows <= bounds.upper).all()
    assert declared.kind == FileKind.PUBLIC
    for said in (declared.title, declared.description, declared.bounds_origin, declared.source):
        assert said
    assert declared.licence.startswith("CC0")
    for column in roles:
        assert (table.identifiers(column) >= 0).all()


def test_plain_kmeans_puts_a_centre_on_the_extreme_person() -> None:
    table = load_csv(FOLDER / "outlier.csv", text=["person_id"])
    declared = read_declaration(FOLDER / "outlier.json")
    bounds = declared.list_bounds(declared.columns)
    unit = (table.columns(declared.columns) - bounds.lower) / (bounds.upper - bounds.lower)
    centers = KMeans(3, n_init=10, random_state=0).fit(unit).cluster_centers_
    extreme = unit[unit.sum(axis=1).argmax()]
    assert np.abs(centers - extreme).max(axis=1).min() < 1e-9
    persons = table.groups("person_id")
    assert len(np.unique(persons)) == len(persons) == 120
