"""What releases of faulty versions promise today: a table that ``verify`` consults, and a bound on faulty libraries."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

from dpviz import __version__
from dpviz.api.cli import read_command, verify_command
from dpviz.api.console import FoundWrong
from dpviz.core import Accounting, Entry
from dpviz.core.mechanisms import Exponential, Gaussian, Peeling
from dpviz.releases import verifying
from dpviz.releases.package import make_zip
from dpviz.releases.verifying import PROGRAMS, Advisory, list_advisories, read_advisories
from dpviz.words import render
from tests.cases import about
from tests.releases.forging import released, verdict_on

ROOT = Path(__file__).parents[2]
ADDED = {
    "name": "2099-1",
    "program": "dpviz",
    "before": "99",
    "fault": "sizes were drawn with half of their noise",
    "promise": "twice the ε of the card",
}


def _serve(command, path):
    parser = argparse.ArgumentParser()
    command.add(parser)
    return command.serve(parser.parse_args([str(path)]))


@pytest.fixture
def added(monkeypatch):
    table = (*read_advisories(), Advisory.of(ADDED))
    monkeypatch.setattr(verifying, "read_advisories", lambda: table)


def test_an_advisory_that_is_added_is_named_wherever_a_release_is_checked(added, tmp_path):
    verdict = verdict_on(released())
    assert verdict.holds, "the release is what it says"
    (said,) = verdict.advisories
    assert ADDED["fault"] in said and ADDED["promise"] in said and ADDED["name"] in said
    assert json.loads(json.dumps(verdict.to_dict()))["advisories"] == [said]
    assert said in verify_command.format_verdict(verdict)
    path = tmp_path / "release.zip"
    path.write_bytes(make_zip(released()))
    with pytest.raises(FoundWrong, match=ADDED["fault"]):
        _serve(verify_command, path)
    assert ADDED["fault"] in _serve(read_command, path)


def test_of_a_release_that_none_concerns_nothing_is_said():
    verdict = verdict_on(released())
    assert verdict.advisories == () and "promises less" not in verify_command.format_verdict(verdict)
    assert "promises less" not in render("verdict.txt.j2", verdict=verdict, untold=())


def _booked(mechanism, accounting):
    return Entry.of(mechanism, "Count", accounting, delta=1e-6, note="x")


def test_choices_that_another_law_drew_are_named_by_library_accounting_and_kind_of_draw():
    choice, noise = Exponential(1.0, 2.0), Gaussian(1.0, 2.0)
    for library, mechanism, accounting, named in (
        ("OpenDP 0.15.1", choice, Accounting.ZCDP, True),
        ("OpenDP 0.15.1", Peeling(choice, 3), Accounting.PLD, True),
        ("OpenDP 0.16.0rc1", choice, Accounting.ZCDP, True),
        ("OpenDP 0.16.0", choice, Accounting.ZCDP, False),
        ("OpenDP 0.16", choice, Accounting.ZCDP, False),
        ("OpenDP 0.20.1", choice, Accounting.ZCDP, False),
        ("OpenDP 0.15.1", choice, Accounting.PURE, False),
        ("OpenDP 0.15.1", noise, Accounting.ZCDP, False),
    ):
        with about(library, mechanism.name, accounting.value):
            entries = [_booked(noise, Accounting.ZCDP), _booked(mechanism, accounting)]
            assert bool([*list_advisories(version=__version__, noise=library, entries=entries)]) is named


def test_a_version_concerns_an_advisory_from_since_on_and_before_it_was_mended():
    one = Advisory("1", "dpviz", "1.10", "f", "p", since="1.2")
    for version, concerned in (("1.1.9", False), ("1.2", True), ("1.2.0", True), ("1.9.3", True), ("1.10.0", False)):
        assert one.concerns({"dpviz": version}, []) is concerned, version
    assert one.concerns({"dpviz": "1.10.0.dev1"}, [])


def test_the_table_is_whole_and_every_name_in_it_stands_once():
    names = [one.name for one in read_advisories()]
    assert names == sorted(names, key=lambda name: [*map(int, name.split("-"))]) and len(set(names)) == len(names)
    for one in read_advisories():
        with about(one.name):
            assert re.fullmatch(r"20\d\d-\d+", one.name) and one.program in PROGRAMS
            assert one.fault and one.promise and not one.promise.endswith(".")


def test_no_library_that_an_advisory_is_about_can_be_installed():
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    (place,) = (at for at, line in enumerate(lines) if line.startswith("opendp"))
    assert "security bound" in lines[place - 1]
    lower = re.search(r">=([\d.]+)", lines[place])[1]
    versions = {"dpviz": __version__, "OpenDP": lower}
    for one in read_advisories():
        with about(one.name):
            assert not Advisory(one.name, one.program, one.before, "f", "p").concerns(versions, [])


def test_the_policy_and_the_guide_name_the_table():
    for page in ("SECURITY.md", "docs/howto/advisories.md"):
        assert "dpviz/releases/advisories.yaml" in (ROOT / page).read_text("utf-8"), page
