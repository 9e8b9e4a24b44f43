"""The table of doors: what it allows, what it expects, and that the documentation says the same."""

import csv
import gzip
import json
import zlib

import pyarrow as pa
import pytest

from dpviz.words import foreign
from tests.house_rules import ROOT


def test_damage_is_known_by_the_name_of_its_type_or_of_one_above_it():
    assert foreign.GZIP.expects(zlib.error()) and foreign.GZIP.expects(gzip.BadGzipFile())
    assert foreign.CSV.expects(csv.Error()) and foreign.CSV.expects(UnicodeDecodeError("utf-8", b"", 0, 1, ""))
    assert foreign.DECLARATION.expects(json.JSONDecodeError("", "", 0))
    assert foreign.PARQUET.expects(pa.ArrowInvalid()) and foreign.PARQUET.expects(pa.ArrowCapacityError())
    for door in (foreign.CSV, foreign.PARQUET, foreign.DECLARATION, foreign.LESSON):
        assert not any(map(door.expects, (IndexError(), AttributeError(), AssertionError(), MemoryError())))


@pytest.mark.parametrize("door", [foreign.CSV, foreign.GZIP, foreign.PARQUET, foreign.SPARSE])
def test_a_small_file_promises_no_more_than_a_gigabyte_and_a_large_one_keeps_its_cells(door):
    """A cell costs some sixty bytes at the peak of a run."""
    most = max(cells for cells in range(0, 200_000_000, 1_000_000) if door.holds_cells(100_000, cells))
    assert 0 < most * 60 < 600_000_000
    for given in (50_000, 10_000_000, 25_000_000):
        assert door.holds_cells(given, given)
    assert not door.holds_cells(10**12, door.most_cells + 1)


def test_the_documentation_has_the_table():
    text = (ROOT / "docs" / "limits.md").read_text("utf-8")
    for door in foreign.DOORS:
        if line := _write_line(door):
            assert line in text, f"docs/limits.md lacks: {line}"


def _write_line(door):
    sizes = [door.most_bytes, door.most_unpacked, door.most_lines, door.most_cells]
    return f"| {door.name} | {' | '.join(f'{size:,}' if size else '' for size in sizes)} |" if any(sizes) else ""
