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
UNIT = ("--columns", "x,y", "--bounds", "0,1")
COMMAS = b"x;y\n" + b"1,234;1\n" * 500
PAIRS = b"x,y\n" + b"0.5,0.5\n" * 100
# A file, what is asked of it, the lines that are added, and how far they may move the centre and the weight.
CASES = {
    "500 cells 1,234 were 1.234 each, until one row 1,250.5 made all of them 1234": (
        *(COMMAS, ("--bounds", "0,2000", "--n-public", 500)),
        *([b"1,250.5;1\n"], 2 * 2000 / 500, np.inf),
    ),
    "a person of 200 rows with a text id counted 200 times under up to 1 row": (
        b"id,x,y\n" + b"".join(b"%d,0.5,0.5\n" % number for number in range(300)),
        (*UNIT, "--id-column", "id", "--rows-per-person", 1),
        *([b"Anna,0.9,0.9\n" * 200], 0.05, 1.5),
    ),
    "one unclosed mark parsed the whole file anew: cells with a delimiter inside fell apart": (
        b"who,x,y\n" + b'"Doe, Jane",0.5,0.5\n"Roe",0.25,0.5\n' * 100,
        *(UNIT, [b'"Poe,0.5,0.5\n'], 0.05, 1.5),
    ),
    "a column that is filled in one row came and went with that row": (
        b"x,y,rare\n" + b"0.5,0.5,\n" * 100,
        *(("--bounds", "0,1"), [b"0.5,0.5,0.5\n"], np.inf, 1.5),
    ),
    "names, delimiter and encoding are of the first line": (
        b"a,b\n" + b"0.5,0.25\n" * 3,
        ("--bounds", "0,1"),
        [line * 4 for line in (b"u,v\n", b"1;2\n", b"1\t2\t3\t4\n", b"\xff\xfe\xe9,1\n", b"x y z\n")],
        *(np.inf, 1.0),
    ),
}


def released(capsys, path, raw: bytes, *options):
    """Centre, weight and all else of one run on a file of those bytes."""
    path.write_bytes(raw)
    said = call(capsys, "run", path, *ALMOST_EXACT, *options)
    assert said.code == 0, said.err
    found = said.json
    return np.array(found["released"]["centers"][0]), found["released"]["weights"][0], found


def test_a_line_concerns_itself_only(capsys, tmp_path):
    for case, (body, options, added, farther, heavier) in CASES.items():
        center, weight, without = released(capsys, tmp_path / "data.csv", body, *options)
        for lines in added:
            with about(case, lines[:20]):
                moved, more, with_it = released(capsys, tmp_path / "data.csv", body + lines, *options)
                assert with_it["columns"] == without["columns"]
                assert np.linalg.norm(moved - center) < farther and abs(more - weight) < heavier


def test_the_declared_style_holds_for_every_row(capsys, tmp_path):
    path = tmp_path / "data.csv"
    for style, mean in (({"decimal": ","}, 1.234), ({"grouping": ","}, 1234.0)):
        declared = {"lower": 0, "upper": 2000, "n_public": 500, "file": style}
        path.with_suffix(".json").write_text(json.dumps(declared))
        without, _, _ = released(capsys, path, COMMAS)
        with_it, _, _ = released(capsys, path, COMMAS + b"1,250.5;1\n")
        with about(style):
            assert without[0] == pytest.approx(mean, abs=0.5)
            assert abs(with_it - without).max() < 2 * 2000 / 500


def test_under_replace_every_line_is_a_row(capsys, tmp_path):
    """A line with too many fields was dropped before n was declared public."""
    for line in (b"0.5,0.5\n", b"0.5,0.5,0.5\n", b"0.5\n", b'"0.5\n', b"\n", b"\xff\n"):
        found = released(capsys, tmp_path / "data.csv", PAIRS + line, "--bounds", "0,1", "--relation", "replace")[2]
        assert found["n_public"] == 101
