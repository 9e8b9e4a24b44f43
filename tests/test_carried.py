"""What carries dpviz elsewhere: the steps of the Dockerfile work as a script, and the recipe asks for what pip does."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.browser.server import ROOT, own_environment, served

RECIPE = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


class Step(NamedTuple):
    """One instruction of the Dockerfile."""

    name: str
    said: str


LINES = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
STEPS = [Step(*line.split(maxsplit=1)) for line in LINES if line and not line.startswith("#")]


def last(name: str) -> str:
    return [step.said for step in STEPS if step.name == name][-1]


def test_the_container_has_no_rights_listens_to_itself_and_says_whether_it_is_well() -> None:
    names = [step.name for step in STEPS]
    user = last("USER")
    assert user not in ("root", "0") and f"useradd --create-home --uid 10001 {user}" in [step.said for step in STEPS]
    assert names.index("USER") < names.index("CMD") and names.index("USER") > names.index("COPY")
    assert "0.0.0.0" not in last("CMD") and not any(step.name == "ENV" for step in STEPS)
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert settings["server"]["address"] == "localhost"
    assert last("EXPOSE") in last("HEALTHCHECK") and last("EXPOSE") in last("CMD")
    copied = {word for step in STEPS if step.name == "COPY" for word in step.said.split()[:-1]}
    allowed = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"}
    assert copied == allowed


@pytest.mark.slow
def test_its_steps_work_as_a_script(tmp_path: Path) -> None:
    """Only what is copied is installed, by its own line; then it is served, and asked whether it is well.

    Libraries come from the environment of the tests: nothing is fetched.
    """
    source, home = tmp_path / "source", tmp_path / "home"
    source.mkdir()
    home.mkdir()
    for step in (step for step in STEPS if step.name == "COPY"):
        *given, place = step.said.split()
        for name in given:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, source / place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, source / place)
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    ask = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip())
    (packages / "needs.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (install,) = (step.said for step in STEPS if step.said.startswith("python -m pip"))
    assert re.fullmatch(r'python -m pip install --no-cache-dir "\.\[app,release\]"', install)
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--quiet"]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", *options, ".[app,release]"]
    subprocess.run(pip, cwd=source, check=True, env=own_environment())
    shutil.rmtree(source)

    program, *words = json.loads(last("CMD"))
    command = [str(environment / "bin" / program), *words]
    assert command[-2] == "--port"
    check = json.loads(last("HEALTHCHECK").partition(" CMD ")[2])
    with served(command[:-1], tmp_path / "log.txt", home, own_environment()) as address:
        here = [part.replace(f":{last('EXPOSE')}/", f":{address.rpartition(':')[2]}/") for part in check]
        well = subprocess.run([str(python), *here[1:]], capture_output=True, check=False)
        assert well.returncode == 0, well.stderr
    assert subprocess.run([str(python), *here[1:]], capture_output=True, check=False).returncode != 0


def test_the_recipe_asks_for_what_the_light_install_does() -> None:
    lines = (ROOT / "requirements.txt").read_text("utf-8").partition("# extra:")[0].splitlines()
    needed = sorted(re.sub(r"(?=[<>])", " ", line, count=1) for line in lines if not line.startswith("#"))
    python, *asked = RECIPE["requirements"]["run"]
    assert sorted(asked) == needed
    assert python.startswith("python ") and RECIPE["context"]["python_min"] in PROJECT["requires-python"]
    assert RECIPE["build"]["python"]["entry_points"] == [
        f"{name} = {place}" for name, place in PROJECT["scripts"].items()
    ]
    lowest = (ROOT / "tests" / "lowest.txt").read_text("utf-8").splitlines()
    floors = {re.split("[<>=]+", line)[0]: re.split("[<>=,]+", line)[1] for line in lines if not line.startswith("#")}
    pinned = dict(line.split("==") for line in lowest if not line.startswith("#"))
    assert pinned.keys() == floors.keys()
    assert all(f"{version}.".startswith(f"{floors[name]}.") for name, version in pinned.items())
