"""Bytes from elsewhere: whatever they are, a reader has a sentence for them, soon; and waits for no pipe."""

import errno
import gzip
import os
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpviz.app.lessons.reading import FOLDER, read_lesson, read_lessons
from dpviz.core.check import RequestError
from dpviz.releases.package import read_members
from dpviz.releases.signature import check_signer
from dpviz.releases.transcript import read_transcript
from dpviz.releases.verifying import verify
from dpviz.runs.study.folder import StudyFolder
from dpviz.runs.study.grid import StudyGrid
from dpviz.tables.arrow_intake import ParquetTable
from dpviz.tables.csv_intake import CsvOnDisk, load_csv, open_csv
from dpviz.tables.declarations import apply_bounds_option, read_declaration
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.named import open_named
from dpviz.tables.proposal import propose
from dpviz.tables.sparse_intake import load_sparse
from dpviz.words import foreign
from experiments.claim_folder import ClaimFolder
from tests.cases import about
from tests.house_rules import ROOT

LESSON = next(iter(sorted(FOLDER.glob("*.yaml")))).read_text("utf-8")
READERS: dict[str, Callable[[Path], object]] = {
    "t.csv": load_csv,
    "u.csv": lambda path: open_named(str(path)),
    "v.csv": lambda path: propose(open_csv(path)),
    "w.csv": lambda path: CsvOnDisk(path).header(),
    "x.csv": lambda path: CsvOnDisk(path).read_beginning(),
    "y.csv": lambda path: list(CsvOnDisk(path).read_batches(("x",))),
    "t.json": read_declaration,
    "u.json": lambda path: apply_bounds_option(str(path)),
    "t.npz": load_sparse,
    "t.parquet": lambda path: ParquetTable(path).columns,
    "t.yaml": read_lesson,
    "t.zip": verify,
    "t.pem": check_signer,
}


@contextmanager
def pipe(path: Path, content: bytes) -> Iterator[None]:
    """A pipe that has this to say to whoever opens it."""
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content,))
    writer.start()
    try:
        yield
    finally:
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        writer.join()
        os.close(reader)


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    """The pipes hold what would be read: only that they are pipes speaks against them."""
    contents = {".csv": b"x\n1\n", ".json": b'{"lower": 0, "upper": 1}', ".yaml": LESSON.encode()}
    for name, read in READERS.items():
        path = tmp_path / name
        with about(name), pipe(path, contents.get(path.suffix, b"")), pytest.raises(RequestError):
            read(path)
        path.unlink()
        path.symlink_to("/dev/zero")
        with about(name, "a device"), pytest.raises(RequestError):
            read(path)
    with pipe(tmp_path / "part.parquet", b""), pytest.raises(RequestError):
        _ = ParquetTable(tmp_path).columns
    with pipe(tmp_path / "manifest.json", b"{}"), pytest.raises(RequestError, match="manifest"):
        StudyFolder(tmp_path, resume=True)


def test_a_file_may_have_any_name(tmp_path: Path) -> None:
    """What is shown of it can be written, on one line that steers no terminal; where it lies stays what it is."""
    stem = os.fsdecode(b"caf\xe9 \xff")
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "t.parquet")
    (tmp_path / "t.parquet").rename(tmp_path / f"{stem}.parquet")
    (tmp_path / f"{stem}.csv").write_text("x\n1\n")
    found = [ParquetTable(tmp_path / f"{stem}.parquet"), CsvOnDisk(tmp_path / f"{stem}.csv")]
    for content in (*found, open_named(str(tmp_path / f"{stem}.csv"))[0]):
        assert content.name == "caf\ufffd \ufffd"
    for name, read in READERS.items():
        for odd in (stem, "a\nb", "\x1b[31mred", "a\u2028b", "a\u202eb"):
            with about(name, odd), pytest.raises(RequestError) as refused:
                read(tmp_path / f"none {odd}{Path(name).suffix}")
            str(refused.value).encode()
            assert odd == stem or str(refused.value).isprintable()


# Ten of ten of ten ...: a thousand million words in a few hundred bytes.
_TENS = (f"{name}: &{name} [{', '.join([f'*{part}'] * 10)}]\n" for part, name in pairwise("abcdefghi"))
BOMB = "a: &a [" + "x, " * 9 + "x]\n" + "".join(_TENS)
NO_YAML = ["d: 2020-13-45", "n: " + "7" * 5_000, "[" * 1_500, BOMB, "? [a]\n: b", "a: *b", "!!python/name:os.path", "%"]
NO_YAML += ['title: "\\udcff"', '"\\ud83d": 1']


def test_yaml_is_plain_and_written_out() -> None:
    assert len(BOMB) < 500
    assert foreign.read_yaml("[" * 40 + "]" * 40, most=80)
    for text in (*NO_YAML, "[" * 200 + "]" * 200, "x: " + "y" * 10_000):
        with about(text[:40]):
            with pytest.raises(foreign.NoYaml):
                foreign.read_yaml(text, most=10_000)
            with pytest.raises(RequestError):
                StudyGrid.from_yaml(text)


def test_a_bad_lesson_hides_no_other(tmp_path: Path) -> None:
    """Whatever is wrong with it; nor does the lock that an editor leaves beside one."""
    (tmp_path / "good.yaml").write_text(LESSON, "utf-8")
    for place, text in enumerate([*NO_YAML, "", "[]", "title: 1", LESSON.replace("minutes:", "minutes: [")]):
        (tmp_path / f"bad{place}.yaml").write_text(text, "utf-8")
    (tmp_path / ".#good.yaml").symlink_to("somebody@somewhere.1234")
    found = read_lessons(tmp_path)
    assert "good" in found.lessons and len(found.refused) >= len(NO_YAML) + 3


def run_out(*_: object, **__: object) -> None:
    raise MemoryError("wd40")


GZIP, CSV = gzip.compress(b"x,y\n1,2\n"), b"x,y\n1,2\n"
# What lies there, who reads it, and where memory runs out: while it comes in, while it is unpacked, while it is read.
AT_DOORS: tuple[tuple[bytes, Callable[[Path], object], str], ...] = (
    *((CSV, read, "dpviz.words.foreign.open_file") for read in (load_csv, open_csv, load_sparse, check_signer, verify)),
    (CSV, lambda path: CsvOnDisk(path).read_beginning(), "dpviz.words.foreign.open_file"),
    (CSV, lambda path: read_declaration(path), "dpviz.words.foreign.open_file"),
    (CSV, lambda path: read_lesson(path), "dpviz.words.foreign.open_file"),
    (GZIP, open_csv, "zlib.decompressobj"),
    (GZIP, lambda path: open_csv(path.read_bytes()), "zlib.decompressobj"),
    (GZIP, lambda path: [*CsvOnDisk(path).read_batches(["x"])], "gzip.GzipFile.read"),
    (CSV, lambda path: [*CsvOnDisk(path).read_batches(["x"])], "dpviz.tables.csv_intake.read_lines"),
    (CSV, load_csv, "dpviz.tables.csv_intake.read_lines"),
    (CSV, lambda path: propose(open_csv(path)), "dpviz.tables.proposal.list_readings"),
    (CSV, lambda path: ParquetTable(path).columns, "pyarrow.parquet.ParquetFile.__init__"),
    (CSV, load_sparse, "zipfile.ZipFile.__init__"),
    (CSV, lambda path: read_members(path.read_bytes()), "zipfile.ZipFile.__init__"),
    (CSV, lambda path: read_transcript(path.read_bytes()), "zipfile.ZipFile.__init__"),
    (b"{}", read_declaration, "json.loads"),
    (b"title: x", read_lesson, "yaml.load"),
    (b"{}", lambda path: StudyFolder(path.parent, resume=True), "json.loads"),
    (b"{}", lambda path: ClaimFolder(path.parent), "json.loads"),
    (CSV, check_signer, "cryptography.hazmat.primitives.serialization.load_pem_private_key"),
)


def test_where_memory_runs_out_at_a_door_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for content, read, where in AT_DOORS:
        path = tmp_path / "manifest.json"
        path.write_bytes(content)
        with about(f"{read} {where}"), monkeypatch.context() as patched:
            patched.setattr(where, run_out)
            with pytest.raises(RequestError, match=r"^Memory ran out while .* was read: ") as refused:
                read(path)
            assert "wd40" not in str(refused.value)


def test_what_stops_a_reader_is_told_apart() -> None:
    """Damage, memory, the disk, and a defect of ours, which no guard hides; of none its words, which may quote rows."""
    refusal, missing = IntakeError("It is damaged: mend it."), IntakeError("It is not there: look.")
    for error, told in [
        (UnicodeDecodeError("utf-8", b"wd40", 0, 1, "wd40"), str(refusal)),
        (RecursionError("wd40"), str(refusal)),
        (OSError("wd40"), str(refusal)),
        (FileNotFoundError(errno.ENOENT, "wd40"), str(missing)),
        (MemoryError("wd40"), "Memory ran out while the CSV file was read: keep fewer rows"),
        (pa.ArrowMemoryError("wd40"), "Memory ran out"),
        (OSError(errno.ENOSPC, "wd40"), "The CSV file cannot be read: the disk is full"),
        (OSError(errno.EACCES, "wd40"), "you may not open it"),
        (OSError(errno.EISDIR, "wd40"), "it is a folder"),
        (OSError(errno.EIO, "wd40"), "the disk fails"),
        (OSError(errno.EMFILE, "wd40"), "too many files are open"),
        (RequestError("Ours."), "Ours."),
        (KeyError("wd40"), "A defect of dpviz (KeyError) stopped the reading of the CSV file"),
        (pickle.loads(pickle.dumps(foreign.ReaderDefect("KeyError", "x"))), "A defect of dpviz (KeyError)"),
    ]:
        guard = foreign.refuse_as(refusal, foreign.CSV, missing=missing)
        with about(repr(error)), pytest.raises((RequestError, foreign.ReaderDefect)) as refused, guard:
            raise error
        assert told in str(refused.value) and "wd40" not in str(refused.value)
        assert isinstance(refused.value, RequestError) is not told.startswith("A defect")
        assert refused.value.__cause__ is None and (refused.value.__suppress_context__ or refused.value is error)


# The table of doors: what it allows, what it expects, and that the documentation says the same.


@pytest.mark.parametrize("door", [foreign.CSV, foreign.GZIP, foreign.PARQUET, foreign.SPARSE])
def test_a_small_file_promises_no_more_than_a_gigabyte_and_a_large_one_keeps_its_cells(door):
    """A cell costs some sixty bytes at the peak of a run."""
    most = max(cells for cells in range(0, 200_000_000, 1_000_000) if door.holds_cells(100_000, cells))
    assert 0 < most * 60 < 600_000_000
    for cells in (50_000, 10_000_000, 25_000_000):
        assert door.holds_cells(cells, cells)
    assert not door.holds_cells(10**12, door.most_cells + 1)


def test_the_documentation_has_the_table():
    text = (ROOT / "docs" / "limits.md").read_text("utf-8")
    for door in foreign.DOORS:
        sizes = [door.most_bytes, door.most_unpacked, door.most_lines, door.most_cells]
        line = f"| {door.name} | {' | '.join(f'{size:,}' if size else '' for size in sizes)} |"
        assert not any(sizes) or line in text, f"docs/limits.md lacks: {line}"
