"""The clean check goes in stages side by side: one that fails makes it red and is shown; none goes on afterwards."""

from __future__ import annotations

import fcntl
import re
import subprocess
from pathlib import Path

from tests.waiting import eventually

CI = Path(__file__).resolve().parents[1] / ".ci"


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
    assert defined == {command for _, command in started} and len(defined) == 5
    assert sorted(finished) == sorted(name for name, _ in started)
    assert "trap 'end_stages; " in text and "set -euo pipefail" in text
