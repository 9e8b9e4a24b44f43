"""An installed wheel is the whole product: it is built, installed into an environment of its own, and used there."""

import json
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser

from tests import light_install
from tests.browser.server import ROOT, own_environment, served
from tests.browser.visitor import WIDE, Visitor

_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
_SAMPLES, _RESULTS = ROOT / "sample_data", ROOT / "docs" / "reproduced"


class Installed(NamedTuple):
    """An environment with dpviz in it, and an empty folder to work in."""

    python: Path
    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """``python COMMAND`` or, for its program, ``dpviz COMMAND``."""
        program = [str(self.python.with_name(command[0]))]
        return subprocess.run(
            [*program, *command[1:]], cwd=self.folder, env=own_environment(), capture_output=True, text=True
        )

    def ask(self, code: str) -> str:
        """What ``code`` prints."""
        done = self.run("python", "-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout as a wheel."""
    out = tmp_path_factory.mktemp("wheel")
    build = ("wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(out), str(ROOT))
    subprocess.run([*_PIP, *build], check=True, env=own_environment())
    (built,) = out.glob("*.whl")
    return built


def _installed(what: list[str], folder: Path) -> Installed:
    """A new environment with ``what`` in it; all that dpviz needs comes from the environment of the tests."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    new = Installed(folder / "venv" / "bin" / "python", folder / "empty")
    new.folder.mkdir()
    place = Path(new.ask("import sysconfig; print(sysconfig.get_path('purelib'))"))
    (place / "needs.pth").write_text(sysconfig.get_path("purelib") + "\n")
    options = ("--no-deps", "--no-index", "--no-build-isolation")
    subprocess.run([*_PIP, "--python", str(new.python), "install", *options, *what], check=True, env=own_environment())
    return new


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in an environment of its own."""
    return _installed([str(wheel)], tmp_path_factory.mktemp("installed"))


@pytest.mark.slow
def test_a_wheel_holds_the_dashboard_the_samples_and_the_results_and_nothing_else_of_the_checkout(wheel: Path) -> None:
    packed = {PurePosixPath(name) for name in zipfile.ZipFile(wheel).namelist()}
    beside = {path.relative_to("dpviz/beside").as_posix() for path in packed if path.is_relative_to("dpviz/beside")}
    wanted = [ROOT / "app.py", ROOT / ".streamlit" / "config.toml", *(ROOT / "pages").glob("*.py")]
    wanted += [path for path in _SAMPLES.iterdir() if path.suffix in (".csv", ".json", ".npz")]
    wanted += [*(ROOT / "lessons").glob("*.yaml")]
    wanted += [path for path in _RESULTS.rglob("*") if path.suffix == ".csv" or path.name == "verdicts.json"]
    assert beside == {path.relative_to(ROOT).as_posix() for path in wanted}
    rest = {path.relative_to(ROOT).as_posix() for path in (ROOT / "dpviz").rglob("*") if path.is_file()}
    package = {path.as_posix() for path in packed if path.parts[0] == "dpviz"} - {
        f"dpviz/beside/{one}" for one in beside
    }
    assert package == {name for name in rest if "__pycache__" not in name}
    assert {path.parts[0].split("-")[0] for path in packed} == {"dpviz"}


def test_a_wheel_needs_what_the_requirements_say(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    needed = {line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")}
    extras: dict[str, set[str]] = {}
    for line in needed:
        library = re.split(r"[\[<>;]", line)[0]
        extras.setdefault(line.partition("extra == ")[2].strip("'"), set()).add(library)
    required = [
        line for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines() if not line.startswith("#")
    ]
    named = {re.split(r"[\[<>]", line)[0] for line in required}
    assert len(named) == len(required)
    assert extras == {
        "": named - light_install.EXTRAS,
        "app": {"streamlit", "plotly"},
        "release": {"opendp", "cryptography"},
        "cluster": {"dask"},
        "duckdb": {"duckdb"},
        "spark": {"pyspark"},
        "all": named & light_install.EXTRAS,
    }


# What the command line says in the environment of the wheel, in one process.
_ASKS = """
import contextlib, io, json, pathlib
import dpviz
from dpviz.__main__ import main
from dpviz.app.charts.studies.stored_verdicts import read_runs, read_verdicts

def said(*words):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(list(words)) in (0, None), words
    return printed.getvalue()

settings = ("--k", "3", "--epsilon", "1", "--seed", "1", "--json")
sample = json.loads(said("run", "fifteen", *settings, "--delta", "1e-6", "--evaluate"))
mine = pathlib.Path("fifteen")
mine.write_text("x,y\\n1,2\\n")
own = json.loads(said("run", "fifteen", "--bounds", "0,9", "--k", "1", "--epsilon", "1", "--json"))
mine.unlink()
with contextlib.redirect_stderr(io.StringIO()) as elsewhere:
    assert main(["reproduce", "--list"]) == 2
print(json.dumps({
    "place": dpviz.__file__, "sample": sample, "own": own, "elsewhere": elsewhere.getvalue(),
    "stored": {claim.id: len(read_runs(claim.id)) for claim in read_verdicts().claims},
}))
"""


@pytest.mark.slow
def test_what_is_installed_is_the_wheel_and_finds_samples_by_name_and_results(installed: Installed) -> None:
    told = json.loads(installed.ask(_ASKS))
    assert Path(told["place"]).is_relative_to(installed.folder.parent)
    assert installed.run("dpviz", "--version").stdout.startswith("dpviz ")
    sample = told["sample"]
    assert (len(sample["released"]["centers"]), sample["columns"]) == (3, ["x", "y"])
    assert "ratio" in sample["revealed"]
    assert len(told["stored"]) == 14 and min(told["stored"].values()) > 0
    assert told["elsewhere"].count("\n") == 1 and "python -m experiments" in told["elsewhere"]
    assert told["own"]["n_public"] is None  # the file of that name, not the sample


@pytest.mark.slow
@pytest.mark.browser
def test_the_dashboard_opens_from_an_empty_folder_and_a_sample_runs(installed: Installed, browser: Browser) -> None:
    log = installed.folder.parent / "log.txt"
    command = (str(installed.python.with_name("dpviz")), "open", "fifteen", "--port")
    context = browser.new_context(viewport=WIDE)
    with served(command, log, installed.folder, own_environment()) as address:
        visit = Visitor(context, address)
        visit.goes_to("/")
        visit.sees("Fifteen clusters")
        visit.sees_animation()
        visit.sees_step("centres")
        visit.is_content()
        context.close()
        taken = installed.run("dpviz", "open", "--port", address.rpartition(":")[2])
        assert (taken.returncode, taken.stderr.count("\n")) == (2, 1)
        assert "cannot be used" in taken.stderr
    printed = log.read_text(errors="replace")
    assert address in printed
    assert "Traceback" not in printed and "Uncaught" not in printed, printed
    assert not list(installed.folder.iterdir()), "nothing is left behind"


@pytest.mark.slow
def test_an_editable_install_is_the_checkout(tmp_path: Path) -> None:
    editable = _installed(["--editable", str(ROOT)], tmp_path)
    assert editable.ask("from dpviz.words.resources import RESOURCES; print(RESOURCES)") == str(ROOT)
    assert not list((tmp_path / "venv").rglob("site-packages/dpviz"))
