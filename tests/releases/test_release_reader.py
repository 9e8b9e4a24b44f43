"""A release read by whoever received it: typed numbers with their noise, whatever is wrong first, no row anywhere."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.app.ui.release.read_page import SNIPPET
from dpviz.core.check import RequestError
from dpviz.releases.package import CENTERS, TRANSCRIPT, make_zip
from dpviz.releases.release_reader import read_release
from dpviz.releases.releasing import publish
from tests.releases.forging import rehashed, released
from tests.releases.people import ready_in


@pytest.fixture(scope="module")
def good():
    return read_release(make_zip(released()))


def test_every_number_has_its_noise_or_an_interval_beside_it(good) -> None:
    assert good.holds and good.profile is not None and good.received is not None
    for one in good.numbers:
        assert one.noise_sd is not None or (one.low is not None and one.high is not None)
        assert one.low is None or one.low <= one.high
        assert one.value is None or one.low <= one.value <= one.high
    frame = good.to_pandas()
    assert (frame.dtypes[["value", "low", "high", "noise_sd"]] == "float64").all() and len(frame) == len(good.numbers)
    centers = frame[frame.statistic == "centre"].pivot(index="segment", columns="column", values="value")
    assert centers[["age", "income"]].to_numpy() == pytest.approx(good.profile.centers)
    sizes = frame[frame.statistic == "rows"].set_index("segment")["value"]
    assert sizes.to_numpy() == pytest.approx(good.profile.sizes.rows)


def test_one_answer_a_quantity_in_every_file(good) -> None:
    files = released()
    rows = list(csv.DictReader(io.StringIO(files[CENTERS].decode())))
    said = list(csv.DictReader(io.StringIO(files["segments.csv"].decode())))
    sizes = {line["segment"]: line for line in said if line["statistic"] == "size"}
    frame = good.to_pandas().set_index(["segment", "column", "statistic"])
    for row in rows:
        size = sizes[row["segment"]]
        assert row["noisy_size"] == size["value"] and float(row["noisy_size_sd"]) == pytest.approx(
            float(size["noise_sd"])
        )
        mine = frame.loc[(int(row["segment"]), "", "rows")]
        assert mine["value"] == float(row["noisy_size"]) and mine["noise_sd"] == pytest.approx(
            float(size["noise_sd"]), rel=1e-5
        )
        for name in ("age", "income"):
            mine = frame.loc[(int(row["segment"]), name, "centre")]
            assert mine["value"] == float(row[name])
            assert mine["noise_sd"] == pytest.approx(float(row[f"{name}_sd"]), rel=1e-5)


def test_the_tidy_file_and_the_snippet_work(good, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "release_tidy.csv").write_text(good.to_csv(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    back = pd.read_csv("release_tidy.csv", keep_default_na=True)
    assert len(back) == len(good.numbers) and back["value"].dtype == back["noise_sd"].dtype == np.float64
    exec(compile(SNIPPET, "snippet", "exec"), {})
    assert "age" in capsys.readouterr().out


def test_a_forged_release_is_read_and_says_first_what_is_wrong(good) -> None:
    forged = read_release(make_zip(rehashed({**released(), CENTERS: released()[CENTERS].replace(b"1", b"2")})))
    assert not forged.holds and forged.verdict.findings[0].file == CENTERS
    assert forged.profile.centers == pytest.approx(good.profile.centers), "numbers are those of the transcript"
    said = forged.to_dict()
    assert next(iter(said)) == "verdict" and not said["verdict"]["holds"]
    damaged = read_release(make_zip(rehashed({**released(), TRANSCRIPT: b""})))
    assert not damaged.holds and damaged.profile is None and damaged.received is None and damaged.numbers == ()
    assert list(damaged.to_dict()) == ["verdict"] and damaged.to_csv().count("\n") == 1
    with pytest.raises(RequestError, match="nothing to compare"):
        good.compare_with(damaged)


def test_what_is_no_release_is_refused(tmp_path) -> None:
    for rubbish in (b"", b"text", make_zip({"a.txt": b""})):
        with pytest.raises(RequestError):
            read_release(rubbish)
    with pytest.raises(RequestError, match="no file"):
        read_release(tmp_path / "nothing.zip")


@pytest.mark.parametrize("algorithm", ["auto", "eugkm", "lsh-coreset", "sulq"])
def test_a_release_without_segments_is_read(tmp_path, algorithm) -> None:
    files = publish(ready_in(tmp_path, algorithm=algorithm)).files
    (tmp_path / "r.zip").write_bytes(make_zip(files))
    read = dpviz.read_release(str(tmp_path / "r.zip"))
    assert read.holds and read.report is None and read.received is not None and read.unit == "1 row (event level)"
    assert {one.statistic for one in read.numbers} <= {"rows", "centre"}
    assert "No quality report" in str(read.received.may) and read.to_dict()["certificate"] is None
    with pytest.raises(RequestError, match="a share for segments"):
        read.ask("larger", 1, 2)
    if algorithm == "auto":
        assert read.compare_with(read).beyond == 0
        return
    # Nothing was counted of their segments: how far off centres are, which their noise does not say, nobody can tell.
    assert all(one.noise_sd is None for one in read.numbers if one.statistic == "centre")
    assert "how far off" in str(read.received.may)
    with pytest.raises(RequestError, match="not known"):
        read.compare_with(read)
