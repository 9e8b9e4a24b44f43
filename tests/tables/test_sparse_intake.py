"""What an .npz may hold: a sparse matrix within limits, or a sentence; never the memory that it asks for."""

import io
import pickle
import tracemalloc
import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import dpviz.tables.sparse_intake as sparse_intake
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.sparse_intake import load_sparse
from tests.cases import about
from tests.examples import examples

DENSE = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, -3.0], [0.0, 0.0, 0.0], [0.0, 4.0, 0.0]])


def npy(array: Any, **how: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **how)
    return file.getvalue()


def parts(**changed: Any) -> dict[str, Any]:
    """The arrays of a sound CSR file, with some of them changed or (None) left out."""
    matrix = sparse.csr_array(DENSE)
    sound = {
        **{"format": np.array(b"csr"), "shape": np.array(matrix.shape), "data": matrix.data},
        **{"indices": matrix.indices, "indptr": matrix.indptr},
    }
    return {name: array for name, array in {**sound, **changed}.items() if array is not None}


def archive(path: Path, members: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in members.items():
            file.writestr(f"{name}.npy", array if isinstance(array, bytes) else npy(array))
    return path


def header(shape: str, dtype: str = "<f8", version: tuple[int, int] = (1, 0)) -> bytes:
    """The beginning of an array of any shape, without its numbers."""
    words = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY" + bytes(version) + len(words).to_bytes(2, "little") + words


def test_what_scipy_writes_is_read(tmp_path):
    kinds = (np.float64, np.float32, np.int64, np.int8, np.uint16)
    for kind, compressed in product(kinds, (True, False)):
        with about(kind, compressed):
            matrix = sparse.csr_array(DENSE.astype(kind))
            sparse.save_npz(tmp_path / "m.npz", matrix, compressed=compressed)
            table = load_sparse(tmp_path / "m.npz")
            assert (table.n_rows, len(table.columns)) == DENSE.shape
            np.testing.assert_array_equal(table.values.toarray(), DENSE.astype(kind).astype(float))
            assert table.values.dtype == np.float64
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_array(DENSE[:, :1]))
    assert load_sparse(tmp_path / "m.npz").columns == ("column_1",)


def test_places_given_twice_add_up(tmp_path):
    doubled = parts(data=np.ones(4), indices=np.array([1, 1, 0, 2]), indptr=np.array([0, 2, 4, 4, 4]))
    assert load_sparse(archive(tmp_path / "m.npz", doubled)).values.toarray()[0].tolist() == [0, 2, 0]


def test_an_entry_that_is_no_number_concerns_its_row_only(tmp_path):
    matrix = sparse.csr_array(DENSE)
    matrix.data[0], matrix.data[1] = np.nan, np.inf
    sparse.save_npz(tmp_path / "m.npz", matrix)
    values = load_sparse(tmp_path / "m.npz").values.toarray()
    np.testing.assert_array_equal(values[2:], DENSE[2:])
    assert np.isnan(values[0, 1]) and np.isinf(values[1, 0])


BROKEN = {
    "no format": parts(format=None),
    "no data": parts(data=None),
    "format of another kind": parts(format=np.array([1, 2])),
    "sizes that are no whole numbers": parts(shape=np.array([4.0, 3.0])),
    "a place beyond the last column": parts(indices=np.array([1, 0, 3, 1])),
    "a place below 0": parts(indices=np.array([1, 0, -1, 1])),
    "starts that fall": parts(indptr=np.array([0, 3, 1, 3, 4])),
    "starts beyond the end": parts(indptr=np.array([0, 1, 3, 3, 2**62])),
    "huge unsigned starts": parts(indptr=np.array([0, 1, 3, 3, 2**64 - 1], dtype=np.uint64)),
    "complex numbers": parts(data=np.ones(4, dtype=complex)),
    "objects": parts(data=npy(np.array([1, "a", None, 2], dtype=object), allow_pickle=True)),
    "a pickle": parts(data=pickle.dumps([1.0, 2.0])),
    "a header that promises more": parts(data=header("(10, )") + b"\0" * 8),
    "a header of names": parts(data=header("(4, )", version=(3, 0)) + b"\0" * 32),
    "nested brackets": parts(data=header("(" * 3000 + ")" * 3000)),
}


def test_a_broken_file_is_refused_in_a_sentence(tmp_path):
    for name, members in BROKEN.items():
        with about(name), pytest.raises(IntakeError, match=r"holds no sparse matrix.*save_npz"):
            load_sparse(archive(tmp_path / "m.npz", members))


def test_what_is_no_table_of_ours_says_which_it_is(tmp_path):
    for members, words in (
        (parts(shape=np.array([0, 3])), "no row or no column"),
        (parts(shape=np.array([4, -3])), "no row or no column"),
        (parts(shape=np.array([10**9, 3])), "holds no sparse matrix"),
        (parts(shape=np.array([4, 10**9])), "too large"),
        (parts(shape=np.array([2**62, 2**62])), "too large"),
        *((parts(format=np.array(form)), "stored row by row.*csr_array") for form in (b"csc", b"coo", b"dia", "bsr")),
    ):
        with about(words), pytest.raises(IntakeError, match=words):
            load_sparse(archive(tmp_path / "m.npz", members))


@pytest.mark.parametrize("form", ["csc", "coo"])
def test_no_refusal_depends_on_rows_that_take_no_byte(tmp_path, form):
    """Rows without entries take none in what is not stored row by row: however many there are, the answer is one."""
    said = set()
    for rows in (4, 20_000_000, 20_000_001):
        sparse.save_npz(tmp_path / "m.npz", getattr(sparse, f"{form}_array")(DENSE))
        with np.load(tmp_path / "m.npz") as held:
            members = {**held, "shape": np.array((rows, 3))}
        np.savez_compressed(tmp_path / "m.npz", **members)
        with pytest.raises(IntakeError) as refusal:
            load_sparse(tmp_path / "m.npz")
        said.add(str(refusal.value))
    assert len(said) == 1


def test_a_file_that_asks_for_memory_gets_none(tmp_path, monkeypatch):
    """A few kilobytes that promise a matrix of many megabytes, and keep the promise."""
    assert sparse_intake._MOST_BYTES <= 1 << 30
    monkeypatch.setattr(sparse_intake, "_MOST_BYTES", 1 << 20)
    path = archive(tmp_path / "m.npz", parts(data=np.zeros(4 << 20)))
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    try:
        with pytest.raises(IntakeError, match="too large"):
            load_sparse(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@settings(max_examples=examples(60))
@given(
    st.fixed_dictionaries(
        {
            "format": st.sampled_from([np.array(b"csr"), np.array("csr")]),
            "shape": st.lists(st.integers(-2, 6), min_size=1, max_size=3).map(np.array),
            "data": st.lists(st.floats(), max_size=5).map(lambda some: np.array(some, dtype=float)),
        }
        | {
            name: st.lists(st.integers(-2, 6), max_size=7).map(lambda some: np.array(some, dtype=int))
            for name in ("indices", "indptr")
        }
    )
)
def test_any_numbers_in_the_right_places_make_a_sound_matrix_or_a_sentence(tmp_path_factory, members):
    path = archive(tmp_path_factory.mktemp("npz") / "m.npz", members)
    try:
        values = load_sparse(path).values
    except IntakeError:
        return
    values.check_format(full_check=True)
    assert values.shape == tuple(members["shape"])
