"""The program beside a release gives each row the segment that dpviz gives it; it runs by itself and harms no file."""

import csv
import runpy
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from dpviz.core.arrays import Array
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.releases.render import write_assign_script
from dpviz.runs.evaluation import assign
from dpviz.tables.codings import Stretched, make_coded_domain
from dpviz.tables.file_format import FileFormat, NumberStyle

_NAMES = ("age", "income", "hours")
_LOWER, _UPPER = np.array([18.0, 0.0, -20.0]), np.array([100.0, 200_000.0, 80.0])
_DOMAINS = {
    "unit": Domain.of(_NAMES, _LOWER, _UPPER),
    "unit, radius": Domain.of(_NAMES, _LOWER, _UPPER, radius=0.8),
    "common": Domain.of(_NAMES, _LOWER, _UPPER / np.array([1, 1000, 1]), scaling="common"),
    "common, radius": Domain.of(_NAMES, _LOWER, _UPPER / np.array([1, 1000, 1]), scaling="common", radius=70.0),
    "wide radius": Domain.of(_NAMES, _LOWER, _UPPER, radius=50.0),
}


def _drawn(domain: Domain, n: int, *, beyond: float, seed: int = 0) -> Array:
    """Rows of which some lie beyond the bounds."""
    rng = np.random.default_rng(seed)
    values: Array = domain.from_unit(rng.uniform(-beyond, beyond, (n, domain.dim)) * domain.region.half)
    return values


def _run(
    folder: Path, script: str, rows: str | bytes = "", *words: str, alone: bool = False
) -> subprocess.CompletedProcess[str]:
    """The script in this process; or in one of its own, which takes a hundred times as long, and where nothing of this
    checkout is there to be imported."""
    (folder / "assign.py").write_text(script, "utf-8")
    if rows:
        (folder / "rows.csv").write_bytes(rows.encode() if isinstance(rows, str) else rows)
    command, code = ["assign.py", *(words or ("rows.csv", "out.csv"))], 0
    if alone:
        command = [sys.executable, "-I", "-W", "error", *command]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        patch.chdir(folder)
        patch.setattr(sys, "argv", command)
        try:
            runpy.run_path("assign.py", run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            if isinstance(end.code, str):
                err.write(end.code)
    return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())


def _segments(folder: Path) -> list[str]:
    with (folder / "out.csv").open(newline="") as file:
        head, *lines = csv.reader(file)
    assert head == ["row", "segment"]
    assert [line[0] for line in lines] == [str(place) for place in range(1, len(lines) + 1)]
    return [line[1] for line in lines]


@pytest.mark.parametrize("kind", _DOMAINS)
def test_every_row_gets_the_segment_that_dpviz_gives_it(tmp_path: Path, kind: str) -> None:
    domain = _DOMAINS[kind]
    values, centers = _drawn(domain, 3_000, beyond=1.7), _drawn(domain, 7, beyond=0.9, seed=1)
    rows = "\n".join(["hours,x,income,age", *(f"{h!r},,{i!r},{a!r}" for a, i, h in values.tolist())])
    script = write_assign_script(domain, centers, title="People")
    if kind == "common":  # rows are read in blocks
        script = script.replace("_AT_ONCE = 50_000", "_AT_ONCE = 999")
    done = _run(tmp_path, script, rows, alone=kind == "unit")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "3000 rows, each with its segment, are in out.csv.\n"
    points, clipped = domain.to_unit(values), domain.region.clip(domain.to_unit(values))
    ours, unclipped = (assign(one, domain.to_unit(centers)) + 1 for one in (clipped, points))
    assert [int(segment) for segment in _segments(tmp_path)] == ours.tolist() != unclipped.tolist()
    assert len(set(ours.tolist())) == 7


def test_rows_on_a_log_and_a_root_scale_get_the_segment_that_dpviz_gives_them(tmp_path: Path) -> None:
    """Amounts beyond the bounds are moved to them; no amount is too small for a logarithm then."""
    codings = {"income": Stretched("log"), "hours": Stretched("root")}
    lower = np.array([18.0, 10.0, -20.0])
    for weights, radius in (({}, None), ({"income": 2.0, "age": 0.3}, 0.9)):
        domain = make_coded_domain(_NAMES, lower, _UPPER, codings=codings, weights=weights, radius=radius)
        rng = np.random.default_rng(3)
        values = np.c_[rng.uniform(0, 120, 2_000), rng.lognormal(8, 3, 2_000), rng.normal(0, 60, 2_000)]
        values[:3, 1] = 0.0, -5.0, 1e9
        centers = domain.from_unit(rng.uniform(-0.8, 0.8, (7, 3)) * domain.region.half)
        rows = "\n".join(["age,income,hours", *(",".join(map(repr, row)) for row in values.tolist())])
        assert _run(tmp_path, write_assign_script(domain, centers, title=""), rows).returncode == 0
        points = domain.region.clip(domain.to_unit(domain.limit(values)))
        ours = assign(points, domain.to_unit_coordinates(centers)) + 1
        assert len(set(ours.tolist())) > 3 and [int(one) for one in _segments(tmp_path)] == ours.tolist()
        (tmp_path / "out.csv").unlink()


def test_a_row_without_a_number_has_no_segment(tmp_path: Path) -> None:
    domain = _DOMAINS["unit"]
    rows = "age,income,hours\n30,1000,40\n,1000,40\nthirty,1000,40\n30,inf,40\n\n30\n30,-9.0,40\n99,199000,79\n"
    centers = np.array([[30.0, 1_000.0, 40.0], [99.0, 199_000.0, 79.0]])
    declared = FileFormat(style=NumberStyle(missing=("-9", "none")))
    done = _run(tmp_path, write_assign_script(domain, centers, title="", file=declared), rows)
    assert done.returncode == 0
    assert _segments(tmp_path) == ["1", "", "", "", "", "", "2"]
    assert done.stdout == "7 rows are in out.csv; 5 of them lack a number, and have no segment.\n"


FILES = {
    "marks": (FileFormat(delimiter=";", style=NumberStyle(",", ".", "€")), "A;I;H\n30;1.000,5 €;40,0\n90;150.000;1"),
    "semicolons": (FileFormat(), "A;I;H\n30;1000;40\n90;150000;1\n"),
    "blanks": (FileFormat(), '\ufeffA, I ,"H"\n"30", 1000,40\n90,150000,1\n'),
    "long": (FileFormat(), f"A,I,H,told\n30,1000,40,{'x' * 200_000}\n90,150000,1,{'y' * 200_000}\n"),
    "no head": (FileFormat(delimiter="whitespace", header=False, names=_NAMES), "30  1000\t40\n90 150000 1\n"),
    "renamed": (FileFormat(names=_NAMES), "a,b,c\n30,1000,40\n90,150000,\u22121\n"),
    "utf-16": (FileFormat(encoding="utf-16"), "A,I,H\n30,1000,40\n90,150000,1\n"),
    "brackets": (FileFormat(style=NumberStyle(negative="()")), "A,I,H\n30,1000,40\n90,150000,(1)\n"),
    "minus behind": (FileFormat(style=NumberStyle(negative="-")), "A,I,H\n30,1000,40\n90,150000,1-\n"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_read_as_it_was_declared(tmp_path: Path, kind: str) -> None:
    declared, rows = FILES[kind]
    for short, name in zip("AIH", _NAMES, strict=True):
        rows = rows.replace(short, name, 1)
    centers = np.array([[90.0, 150_000.0, 0.0], [30.0, 1_000.0, 40.0]])
    script = write_assign_script(_DOMAINS["unit"], centers, title="", file=declared)
    done = _run(tmp_path, script, rows.encode("utf-16" if kind == "utf-16" else "utf-8"))
    assert (done.returncode, done.stderr) == (0, "")
    assert _segments(tmp_path) == ["2", "1"]


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    names = ('"""', "'; import os; os.abort() #", "$title\n\\")
    rows = StringIO(newline="")
    csv.writer(rows).writerows([[name.strip() for name in names], [0.1, 0.1, 0.1], [0.9, 0.9, 0.9]])
    centers = np.array([[0.1] * 3, [0.9] * 3])
    script = write_assign_script(Domain.of(names, 0, 1), centers, title='"""\nraise SystemExit(3)\n"""')
    done = _run(tmp_path, script, rows.getvalue(), alone=True)
    assert (done.returncode, done.stderr, _segments(tmp_path)) == (0, "", ["1", "2"])


def test_no_file_is_lost_and_what_is_missing_is_said(tmp_path: Path) -> None:
    script = write_assign_script(_DOMAINS["unit"], np.zeros((1, 3)) + 20.0, title="")
    rows = "age,income\n1,2\n"
    for words, told in (
        (("rows.csv", "rows.csv"), "rows.csv is there already"),
        (("rows.csv", "out.csv"), "There is no column 'hours' in the file"),
        (("none.csv", "other.csv"), "none.csv cannot be read or written: No such file"),
        (("rows.csv",), "python assign.py ROWS.csv SEGMENTS.csv"),
    ):
        done = _run(tmp_path, script, rows, *words)
        assert done.returncode == 1 and told in done.stderr
    assert (tmp_path / "rows.csv").read_text() == rows
    with pytest.raises(RequestError, match=r"give \(k, 3\)"):
        write_assign_script(_DOMAINS["unit"], np.zeros((2, 2)), title="")
