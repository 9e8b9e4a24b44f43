"""``dpviz read``: a release as tables with their noise, without its rows; what is wrong comes first."""

from __future__ import annotations

import csv
import json

from dpviz.api.console import list_center_tables
from tests.command_line import told_by
from tests.runs.test_profiles import make_mixed_profile


def test_a_good_release_is_told_in_tables_and_sentences(zips, tmp_path):
    out = tmp_path / "tidy.csv"
    said = told_by("read", zips / "good.zip", "--compare", zips / "good.zip", "--out", out)
    assert said.code == 0 and said.out.startswith("This release is what it says: ")
    for told in (
        "± is nine in ten",
        "What may be concluded",
        "What not",
        "Nothing differs beyond",
    ):
        assert told in said.out
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert {"segment", "column", "statistic", "value", "low", "high", "noise_sd"} <= set(rows[0]) and len(rows) > 9
    again = told_by("read", zips / "good.zip", "--out", out)
    assert again.code == 2 and "is there already" in again.err


def test_json_says_the_same(zips):
    said = told_by("read", zips / "good.zip", "--json", "--compare", zips / "good.zip")
    told = json.loads(said.out)
    assert said.code == 0 and told["verdict"]["holds"] and told["k"] == 3 and told["comparison"]["beyond"] == 0
    assert all(one["noise_sd"] is not None or one["low"] is not None for one in told["numbers"])


def test_a_forged_one_says_first_what_is_wrong_and_ends_with_one(zips):
    said = told_by("read", zips / "forged.zip")
    assert said.code == 1 and said.out.startswith(
        "This release is NOT what it says: do not rely on it.\n  centers.csv: "
    )
    assert told_by("read", zips / "good.zip", "--compare", zips / "forged.zip").code == 1


def test_what_is_no_release_is_refused_in_a_sentence(zips):
    for path in (zips / "none.zip", zips / "nothing.zip", zips):
        said = told_by("read", path)
        assert said.code == 2 and said.err.count("\n") == 1 and not said.out


def test_shares_hours_dates_and_ranks_are_told_as_such():
    told = "\n".join(list_center_tables(make_mixed_profile()))
    assert "North 70 %" in told and "2020-02-01 ± 0.088 days" in told and "II ± 0.088 ranks" in told
    assert told.count("hour") == 1 and "18:00 ± 0.67 h" in told and "cosine" not in told
