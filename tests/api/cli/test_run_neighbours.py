"""Attacks on the file: one added line used to change how all others were read. Each is a run of the command line.

With k = 1 and ε = 1000 the released centre and weight are the mean and the number of rows up to a hair: whoever
compares two neighbouring files sees what one line did.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cases import about
from tests.command_line import call

ALMOST_EXACT = ("--algorithm", "dplloyd", "--k", 1, "--epsilon", 1000, "--seed", 1, "--json")


def released(capsys, tmp_path, raw: bytes, *options, declaration_file=None):
    """Centre, weight and n of one run on a file of those bytes."""
    path = tmp_path / "data.csv"
    path.write_bytes(raw)
    if declaration_file is not None:
        path.with_suffix(".json").write_text(json.dumps(declaration_file))
    said = call(capsys, "run", path, *ALMOST_EXACT, *options)
    assert said.code == 0, said.err
    found = said.json
    return np.array(found["released"]["centers"][0]), found["released"]["weights"][0], found


def test_the_number_style_is_no_majority_vote(capsys, tmp_path):
    """500 cells 1,234 in a ; file were 1.234 each, until one row 1,250.5 made all of them 1234."""
    body = b"x;y\n" + b"1,234;1\n" * 500
    bounds = ("--bounds", "0,2000", "--n-public", 500)
    without, _, _ = released(capsys, tmp_path, body, *bounds)
    with_it, _, _ = released(capsys, tmp_path, body + b"1,250.5;1\n", *bounds)
    assert np.linalg.norm(with_it - without) < 2 * 2000 / 500


def test_the_declared_style_holds_for_every_row(capsys, tmp_path):
    body = b"x;y\n" + b"1,234;1\n" * 500
    for style, mean in (({"decimal": ","}, 1.234), ({"grouping": ","}, 1234.0)):
        declaration_file = {"lower": 0, "upper": 2000, "n_public": 500, "file": style}
        without, _, _ = released(capsys, tmp_path, body, declaration_file=declaration_file)
        with_it, _, _ = released(capsys, tmp_path, body + b"1,250.5;1\n", declaration_file=declaration_file)
        with about(style):
            assert without[0] == pytest.approx(mean, abs=0.5)
            assert abs(with_it - without).max() < 2 * 2000 / 500


def test_a_text_id_among_numbers_is_one_person(capsys, tmp_path):
    """A person of 200 rows with a text id counted 200 times under "up to 1 row"."""
    others = b"".join(b"%d,0.5,0.5\n" % number for number in range(300))
    person = b"Anna,0.9,0.9\n" * 200
    options = ("--columns", "x,y", "--bounds", "0,1", "--id-column", "id", "--rows-per-person", 1)
    _, without, _ = released(capsys, tmp_path, b"id,x,y\n" + others, *options)
    _, with_her, _ = released(capsys, tmp_path, b"id,x,y\n" + others + person, *options)
    assert with_her - without == pytest.approx(1, abs=0.5)


def test_an_open_quotation_mark_changes_its_own_line_only(capsys, tmp_path):
    """One unclosed mark re-parsed the whole file without quoting: cells with a delimiter inside fell apart."""
    body = b"who,x,y\n" + b'"Doe, Jane",0.5,0.5\n"Roe",0.25,0.5\n' * 100
    options = ("--columns", "x,y", "--bounds", "0,1")
    without, rows, _ = released(capsys, tmp_path, body, *options)
    with_it, more_rows, _ = released(capsys, tmp_path, body + b'"Poe,0.5,0.5\n', *options)
    assert abs(more_rows - rows) < 1.5
    assert np.linalg.norm(with_it - without) < 0.05


def test_a_column_exists_because_of_the_header(capsys, tmp_path):
    """A column filled in one row only came and went with that row, and "columns" of the release with it."""
    body = b"x,y,rare\n" + b"0.5,0.5,\n" * 100
    _, _, without = released(capsys, tmp_path, body, "--bounds", "0,1")
    _, _, with_it = released(capsys, tmp_path, body + b"0.5,0.5,0.5\n", "--bounds", "0,1")
    assert without["columns"] == with_it["columns"] == ["x", "y", "rare"]


def test_under_replace_every_line_is_a_row(capsys, tmp_path):
    """A line with too many fields was dropped before n was declared public."""
    body = b"x,y\n" + b"0.5,0.5\n" * 100
    for line in (b"0.5,0.5\n", b"0.5,0.5,0.5\n", b"0.5\n", b'"0.5\n', b"\n", b"\xff\n"):
        _, _, found = released(capsys, tmp_path, body + line, "--bounds", "0,1", "--relation", "replace")
        assert found["n_public"] == 101


def test_header_delimiter_and_encoding_come_from_the_first_line(capsys, tmp_path):
    body = b"a,b\n" + b"0.5,0.25\n" * 3
    _, _, without = released(capsys, tmp_path, body, "--bounds", "0,1")
    for line in (b"u,v\n", b"1;2\n", b"1\t2\t3\t4\n", b"\xff\xfe\xe9,1\n", b"x y z\n"):
        _, _, with_it = released(capsys, tmp_path, body + line * 4, "--bounds", "0,1")
        with about(line):
            assert without["columns"] == with_it["columns"] == ["a", "b"]
            assert with_it["released"]["weights"][0] == pytest.approx(without["released"]["weights"][0], abs=1)
