"""Files of a run: what is in them, what never is, and that each says what it is worth."""

import csv
import dataclasses
import io
import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core.check import RequestError
from dpviz.runs.export import format_centers_csv, format_frame_csv, format_run_json, name_file
from dpviz.runs.record import ReleaseRecord
from dpviz.tables.csv_intake import load_csv
from dpviz.tables.declarations import FROM_ROWS
from tests.runs.declared import finished, open_rows

WIDE = {"lower": (900.0, -2e6), "upper": (1100.0, 2e6)}


def record(algorithm: str = "dplloyd", *, names: tuple[str, ...] = ("x", "y"), hardened: bool = False, **declared):
    """The record of a seeded run."""
    table = open_rows(names, **declared)
    found = ReleaseRecord.of(finished(table, algorithm), table)
    return dataclasses.replace(found, hardened=True, seeded=False) if hardened else found


@cache
def usual():
    """Such a record, made once."""
    return record()


@pytest.mark.parametrize("numbered", [True, False])
def test_common_readers_get_the_same_numbers_from_a_marked_file(numbered: bool) -> None:
    kept = record(**WIDE)
    text = format_centers_csv(kept, numbered=numbered)
    assert "SIMULATION" in text
    frame = pd.read_csv(io.StringIO(text))
    assert list(frame.columns) == [*["cluster"] * numbered, "x", "y", *["noisy_size"] * numbered, "note"]
    assert frame[["x", "y"]].dtypes.eq(np.float64).all() and np.array_equal(frame[["x", "y"]], kept.centers)
    ours = load_csv(text.encode(), numbers=("x", "y"))
    assert np.array_equal(ours.columns(("x", "y")), kept.centers)
    # Line by line, as awk or a spreadsheet that knows no quotation marks would.
    by_hand = [line.split(",") for line in text.splitlines()]
    place = by_hand[0].index("x")
    assert np.array_equal([[float(cell) for cell in line[place : place + 2]] for line in by_hand[1:]], kept.centers)


def test_every_row_of_a_marked_file_says_why_it_is_no_release() -> None:
    for declared, words in (({}, ["SIMULATION"]), ({"origins": ("", FROM_ROWS)}, ["SIMULATION", "BOUNDS_FROM_ROWS"])):
        kept = record(**declared)
        notes = [line["note"] for line in csv.DictReader(format_centers_csv(kept).splitlines())]
        assert len(notes) == 3 and all(word in note for note in notes for word in words)
        assert name_file(kept) == "_".join([*words, "dplloyd_k3_eps1"])
        told = json.loads(format_run_json(kept))
        assert told["seeded"] and all(word in told["note"] for word in words)


def test_revealed_centres_do_not_leave() -> None:
    kept = record("kmeans++")
    with pytest.raises(RequestError):
        format_centers_csv(kept)
    assert json.loads(format_run_json(kept))["released"]["centers"] is None


@pytest.mark.slow
@given(st.lists(st.text("=+-@\t\r\n\"',;x{<", min_size=1, max_size=6), min_size=2, max_size=2, unique=True))
def test_hostile_column_names_stay_text_in_their_own_column(names) -> None:
    kept = dataclasses.replace(usual(), columns=tuple(names))
    rows = list(csv.reader(io.StringIO(format_centers_csv(kept), newline="")))
    assert len(rows) == 4 and {len(row) for row in rows} == {5}
    assert [name.removeprefix("'") for name in rows[0][1:3]] == [name.removeprefix("'") for name in names]
    assert not any(name.startswith(("=", "+", "-", "@", "\t", "\r")) for name in rows[0])
    assert np.array_equal([[float(cell) for cell in row[1:3]] for row in rows[1:]], kept.centers)
    assert list(json.loads(format_run_json(kept))["columns"]) == names


def test_a_table_as_a_file_has_no_formulas_and_its_numbers_are_exact() -> None:
    frame = pd.DataFrame({"=a": [0.1, -2.5e300], "who": ["=1+1", "k-means++"], "none": [None, "-x"]})
    rows = list(csv.reader(io.StringIO(format_frame_csv(frame, note="REVEALED").decode())))
    assert rows[0] == ["'=a", "who", "none", "note"]
    assert [float(row[0]) for row in rows[1:]] == [0.1, -2.5e300]
    assert [row[1:] for row in rows[1:]] == [["'=1+1", "", "REVEALED"], ["k-means++", "'-x", "REVEALED"]]
    assert format_frame_csv(frame).decode().splitlines()[0] == "'=a,who,none"
