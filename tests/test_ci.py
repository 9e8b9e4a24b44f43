"""The clean check: stages side by side, of which one that fails makes it red; what it is made of is pinned by hash."""

import fcntl
import re
import subprocess
from pathlib import Path

import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement

from tests.waiting import eventually

ROOT = Path(__file__).resolve().parents[1]
CI = ROOT / ".ci"


def run_stages(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    whole = f'set -euo pipefail\nsource "{CI / "stages.sh"}"\ntrap end_stages EXIT\n{script}'
    return subprocess.run(["bash", "-c", whole], capture_output=True, text=True, check=False, cwd=folder)


def test_a_stage_that_fails_makes_all_red_and_shows_its_log(tmp_path: Path) -> None:
    script = """
good() { echo all is well; }
broken() { echo begun; false; echo never; }
start one good; start two broken; start three good
finish three two one
echo never
"""
    ran = run_stages(script, tmp_path)
    lines = ["== three: passed", "all is well", "== two: FAILED, exit code 1", "begun", "== one: passed", "all is well"]
    assert (ran.returncode, ran.stdout.splitlines(), ran.stderr) == (1, lines, "")
    green = run_stages(script.replace("false;", ""), tmp_path)
    assert green.returncode == 0 and green.stdout.splitlines()[-1] == "never"


def is_free(lock: Path) -> bool:
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def test_nothing_goes_on_where_a_run_ends_early(tmp_path: Path) -> None:
    script = """
holds() { exec 9>held; flock 9; touch started; sleep 1000; echo woken; }
start long holds
until [ -e started ]; do sleep 0.01; done
start short false
finish short
"""
    ran = run_stages(script, tmp_path)
    assert (ran.returncode, ran.stdout) == (1, "== short: FAILED, exit code 1\n")
    assert eventually(lambda: is_free(tmp_path / "held"))


def test_every_stage_of_the_clean_check_is_started_and_finished() -> None:
    text = (CI / "run").read_text("utf-8")
    defined = set(re.findall(r"^(\w+)\(\) \{$", text, flags=re.MULTILINE))
    started = [tuple(line.split()) for line in re.findall(r"^start (.+)$", text, flags=re.MULTILINE)]
    finished = [name for line in re.findall(r"^finish (.+)$", text, flags=re.MULTILINE) for name in line.split()]
    assert defined == {command for _, command in started} and len(defined) == 6
    assert sorted(finished) == sorted(name for name, _ in started)
    assert "trap 'end_stages; " in text and "set -euo pipefail" in text


def test_a_library_is_locked_by_hash_at_a_version_that_the_requirements_allow() -> None:
    """One entry a line of requirements; nothing is locked without a hash, and no host is named."""
    text = (CI / "lock.txt").read_text("utf-8")
    entries = [entry.replace(" \\\n   ", "") for entry in re.split(r"\n(?! )", text.strip())]
    locked = {}
    for entry in entries:
        named = re.fullmatch(r"([\w.-]+)==([\w.]+)(?: ; [^-]+)?(?: --hash=sha256:[0-9a-f]{64})+", entry)
        assert named, entry[:80]
        locked[_normalize(named[1])] = named[2]
    here = dict(default_environment(), python_version="3.11", sys_platform="linux")
    for file in (ROOT / "requirements.txt", ROOT / "tests" / "requirements.txt"):
        for line in file.read_text("utf-8").splitlines():
            if not line.startswith("#"):
                asked = Requirement(line)
                assert asked.marker is None or asked.marker.evaluate(here)
                assert asked.specifier.contains(locked[_normalize(asked.name)]), line


def _normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_actions_and_images_are_pinned_by_digest() -> None:
    """A tag may name other bytes tomorrow; the version stands behind, for whoever reads it and for Dependabot."""
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert len(workflows) == 3
    for path in workflows:
        text = path.read_text("utf-8")
        used = re.findall(r"uses: (.+)", text)
        assert used and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one) for one in used), path.name
        images = [job["container"] for job in yaml.safe_load(text)["jobs"].values() if "container" in job]
        assert all(map(_is_pinned, images)), path.name
    started = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    assert started and all(map(_is_pinned, started))


def _is_pinned(image: str) -> bool:
    return re.fullmatch(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}", image) is not None
