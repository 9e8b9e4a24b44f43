"""Whatever is wrong with a file or a request: one sentence, no traceback, no value of the data."""

import gzip
from itertools import product

import numpy as np
import pytest

from tests.cases import about
from tests.command_line import call

WORD, NUMBER = "wd40-secret", "7319.4402"
BOUNDS = ("--bounds", "-1,1")
ASK = ("--k", "3", "--epsilon", "1")

REFUSED_FILES = {
    "not a CSV": b"\x89PNG\r\n\x1a\n\x00\x00" + WORD.encode(),
    "html": f"<!DOCTYPE html><html><p>{WORD} {NUMBER}</p></html>".encode(),
    "empty": b"",
    "damaged gzip": gzip.compress(f"x\n{NUMBER}\n".encode())[:-12],
    "a row for a header": f"{NUMBER},{WORD}\n3,4\n".encode(),
    "a header of two lines": f'name,"x\n{WORD}",y\n1,2,3\n'.encode(),
}

ACCEPTED_FILES = {
    "duplicate headers": (f"x,x\n{NUMBER},0.5\n0.1,0.2\n0.1,0.3\n", "repeats"),
    "decimal commas": ("x;y\n7319,4402;0,5\n0,1;0,2\n0,3;0,4\n", "would be read if written like"),
    "all text": (f"name,city\n{WORD},{WORD}2\nb,{WORD}\n", '"city": 2 cells are no numbers'),
    "one text column": (f"name\n{WORD}\n{WORD}\n", "dpviz declare FILE"),
    "ragged lines": (f"x\n{NUMBER},2,{WORD}\n3,4,5\n", "no record: too many or too few fields"),
    "text in a column of numbers": (f"x,y\n{NUMBER},0.5\n{WORD},0.2\n0.3,0.1\n0.1,0.1\n", ""),
    "one row": (f"x,y\n{NUMBER},0.5\n", "fewer rows than clusters"),
    "fewer rows than clusters, n private": (f"x,y\n{NUMBER},0.5\n0.1,0.2\n", "fewer rows than clusters"),
    "huge numbers": (f"x,y\n1e300,-1e300\n{NUMBER},0.5\n0.1,0.2\n", ""),
    "missing cells": (f"x,y\n,0.5\n{NUMBER},nan\n0.1,inf\n0.1,0.2\n", ""),
}


def is_one_sentence(said):
    assert said.code == 2 and said.out == "", said.err
    assert said.err.startswith("dpviz: ") and said.err.endswith(".\n") and said.err.count("\n") == 1
    return shows_no_value(said.err)


def shows_no_value(text):
    assert WORD not in text and NUMBER not in text and "Traceback" not in text
    assert NUMBER.replace(".", "") not in text.replace(",", "").replace(".", "")
    return True


def test_a_file_that_cannot_be_used_is_refused(capsys, tmp_path):
    path = tmp_path / "data.csv"
    for name, raw in REFUSED_FILES.items():
        path.write_bytes(raw)
        with about(name):
            assert is_one_sentence(call(capsys, "run", path, *ASK, *BOUNDS))


@pytest.mark.parametrize("algorithm", ["dplloyd", "kmeans++"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_odd_file_runs_with_a_word_about_it(capsys, tmp_path, algorithm):
    path = tmp_path / "data.csv"
    for name, (content, note) in ACCEPTED_FILES.items():
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        said = call(capsys, "run", path, *ASK, *BOUNDS, "--json", "--evaluate", "--algorithm", algorithm)
        with about(name):
            assert said.code == 0, said.err
            assert note in said.err
            shows_no_value(said.err)
            if algorithm == "dplloyd":
                assert np.isfinite(said.json["released"]["centers"]).all()


# Values that an option does not take; and options that do not go together.
WRONG_VALUES = {
    "--k": ("0", "many", "2.5"),
    "--epsilon": ("0", "-1", "nan", "inf", "-inf", "one"),
    "--delta": ("-0.1", "1", "nan"),
    "--bounds": ("1,-1", "1,1", "0,inf", "nan,1", "0,1,2", "1", "nowhere.json"),
    "--columns": ("x,z", "x,x", ","),
    "--radius": ("0", "nan"),
    "--set": ("preset=gaussian", "preset=best", "preset", "depth=3", "rounds=99", "rounds=few"),
    **{"--scaling": ("log",), "--relation": ("swap",), "--n-public": ("0",), "--seed": ("-1",)},
    **{"--id-column": ("person",), "--rows-per-person": ("3",), "--algorithm": ("dbscan",)},
    **{"--epsilonn": ("1",), "--eps": ("1",)},  # no options, of which one is cut short
}
WRONG_TOGETHER = (
    *(("--k", "401", "--relation", "replace"), ("--k", "11", "--n-public", "10")),
    *(("--delta", "0.0025", "--n-public", "400"), ("--delta", "0.01", "--relation", "replace")),
    ("--id-column", "x", "--columns", "x,y"),
    *(("--id-column", "name", "--rows-per-person", "0"), ("--id-column", "name", "--relation", "replace")),
    ("--set", "rounds=2", "rounds=3"),
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "data.csv"
    lines = "".join(f"{NUMBER},0.{i % 7},{WORD}{i}\n" for i in range(400))
    path.write_text(f"x,y,name\n{lines}")
    return path


def test_a_wrong_request_is_refused(capsys, table):
    for options in (*((name, one) for name, values in WRONG_VALUES.items() for one in values), *WRONG_TOGETHER):
        with about(*options):
            assert is_one_sentence(call(capsys, "run", table, *ASK, *BOUNDS, *options))
    assert call(capsys, "run", table, *ASK, *BOUNDS).code == 0, "the request itself is right"


def test_a_missing_file_or_a_folder_is_refused(capsys, tmp_path):
    for path, bounds in product((tmp_path / "nowhere.csv", tmp_path), ((), BOUNDS)):
        assert is_one_sentence(call(capsys, "run", path, *ASK, *bounds))
    for argv in ((), ("dance",), ("run",), ("run", "data.csv", "--k", "3"), ("run", "data.csv", "--epsilon", "1")):
        with about(*argv):
            assert is_one_sentence(call(capsys, *argv))


def test_a_wrong_sidecar_is_refused_and_none_says_how_to_declare_bounds(capsys, table):
    said = call(capsys, "run", table, *ASK)
    assert is_one_sentence(said)
    for word in ("--bounds LO,HI", "FILE.json", '"data.json"', "never from the rows"):
        assert word in said.err
    for declared, columns in (
        *(("not json", "x"), ("[1, 2]", "x"), ("{}", "x"), ('{"bounds": {"x": [1, 0], "y": [0, 1]}}', "x")),
        *(('{"bounds": {"x": [0, 1]}, "label": 3}', "x"), ('{"bounds": {"x": [-1, 1]}}', "x,y")),
        *(('{"bounds": {"absent": [0, 1]}}', "absent"), ('{"bounds": {"x": [0, 1]}, "id_column": "absent"}', "x")),
    ):
        table.with_suffix(".json").write_text(declared)
        with about(declared):
            assert is_one_sentence(call(capsys, "run", table, *ASK, "--columns", columns))
