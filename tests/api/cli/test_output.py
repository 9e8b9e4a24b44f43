"""Where an output ends: a full disk, too little memory, Ctrl-C after the charge; each time what is paid is told."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from dpviz.__main__ import main
from dpviz.core.check import RequestError
from dpviz.releases.account import Account
from tests import waiting
from tests.cases import about
from tests.command_line import write_points
from tests.house_rules import ROOT
from tests.releases.people import account_in, write_people

ASKED = ("--k", "3", "--epsilon", "1", "--delta", "1e-6", "--yes")


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    write_people(tmp_path)
    account_in(tmp_path)
    write_points(tmp_path / "points.csv", declaration_file={"bounds": {"x": [-1, 1], "y": [-1, 1]}})
    return tmp_path


def start(desk: Path, program: str, *argv: str) -> subprocess.Popen[str]:
    around = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    words = [sys.executable, "-c", program, *argv]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, cwd=desk, env=around, text=True, stdout=pipe, stderr=pipe)


RELEASE = ("release", "people.json", "people.csv", *ASKED, "--account", "people.sqlite", "--out", "release.zip")
RUN = ("run", "points.csv", "--k", "3", "--epsilon", "1")
SWEEP = ("sweep", "points.csv", "--ks", "2", "--epsilons", "1", "--algorithms", "dplloyd", "--repeats", "1")
COMMANDS: list[tuple[tuple[str, ...], str]] = [
    *(((word,), "make room") for word in ("--help", "algorithms")),
    (("advise", "--n", "1000", "--d", "2", "--k", "3"), "make room"),
    (("declare", "points.csv"), "make room"),
    (RUN, "ε = 1 is spent, and its centres lie nowhere"),
    ((*RUN, "--out", "centers.csv"), "ε = 1 is spent, and its centres lie in --out"),
    ((*SWEEP, "--jobs", "1", "--out", "study"), "make room"),
    (("account", "new", "new.sqlite", "--name", "A", "--cap-epsilon", "1"), "make room"),
    (("account", "show", "people.sqlite"), "make room"),
    (RELEASE, "charge 1 is spent and the release lies in --out; do not release again"),
    *(((word, "release.zip"), "make room") for word in ("verify", "read")),
]


def test_a_full_disk_behind_any_command_is_a_sentence_that_tells_what_is_paid(desk, monkeypatch, capsys):
    monkeypatch.chdir(desk)
    for argv, told in COMMANDS:
        with Path("/dev/full").open("w") as full, monkeypatch.context() as patch, about(" ".join(argv)):
            patch.setattr(sys, "stdout", full)
            code = main(list(argv))
            lines = capsys.readouterr().err.splitlines()
            assert code == 2 and "The output could not be written (the disk is full)" in lines[-1]
            assert told in lines[-1] and all(line.startswith("dpviz: ") for line in lines)
    assert Account.open(desk / "people.sqlite").standing().spent_epsilon == 1


LIMITED = """
import resource, sys
from dpviz.__main__ import main
main(["run", "points.csv", "--k", "3", "--epsilon", "1"])
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 40_000_000,) * 2)
sys.exit(main(["run", *sys.argv[1:], "--k", "3", "--epsilon", "1", "--bounds", "0,1"]))"""


def test_too_little_memory_is_called_that(desk):
    (desk / "large.csv").write_bytes(b"x,y\n" + b"1,1\n" * 4_000_000)
    process = start(desk, LIMITED, "large.csv")
    _, said = process.communicate()
    assert process.returncode == 2 and "Memory ran out" in said and "defect" not in said


# It says that it stands where a signal finds it, behind the charge, and waits there for nothing else.
STOPPED = """
import signal, sys
import dpviz.releases.releasing as releasing
from dpviz.__main__ import main
releasing.draw = lambda *args, **kwargs: signal.pause()
sys.exit(main(sys.argv[1:]))"""


def test_ctrl_c_after_the_charge_says_what_is_spent(desk):
    process = start(desk, STOPPED, *RELEASE)

    def is_charged() -> bool:
        with suppress(RequestError):
            return bool(Account.open(desk / "people.sqlite").standing().entries)
        return False

    assert waiting.eventually(lambda: is_charged() or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate()
    *_, charge, stopped = said.splitlines()
    assert (process.returncode, out, stopped) == (130, "", "dpviz: Stopped.")
    assert "Charge 1 of the account" in charge and "is spent (ε = 1, δ = 1e-06), and nothing was released" in charge
