"""A share of ``python -m benchmarks.fuzz`` with fixed seeds, and what it found before."""

from itertools import count
from pathlib import Path

import pytest

from benchmarks.fuzzing.catalogue import DOORS, KINDS, case_of
from benchmarks.fuzzing.judge import judged
from benchmarks.fuzzing.workers import verdicts
from dpviz.words import foreign
from tests import waiting
from tests.cases import about
from tests.fuzz.known import FOUND

# These open pages: seconds each.
_SLOW = "link"
_SEED, _IN_A_PROCESS = 1, 30


def _told(broken):
    return "\n".join(f"--case {one.index} ({one.family}): {one.outcome} {one.where}\n    {one.about}" for one in broken)


def test_hostile_input_ends_in_a_result_or_a_clear_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cases = {index: case_of(0, index) for index in range(80)}
    found = [judged(case, index, seconds=waiting.SECONDS) for index, case in cases.items() if case.family != _SLOW]
    assert {verdict.outcome for verdict in found} >= {"result", "refused"}
    assert len({verdict.family for verdict in found}) >= 11
    broken = [verdict for verdict in found if not verdict.kept]
    assert not broken, _told(broken)
    # Whatever they have written lay where nothing is lost.
    assert Path.cwd() == tmp_path and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_more_hostile_input_in_a_process_of_its_own_and_a_page():
    link = next(index for index in count() if case_of(_SEED, index).family == _SLOW)
    found = list(verdicts(_SEED, [*range(_IN_A_PROCESS), max(link, _IN_A_PROCESS)]))
    broken = [verdict for verdict in found if not verdict.kept]
    assert not broken, _told(broken)
    assert {"link"} < {verdict.family for verdict in found}


def test_every_door_has_cases():
    met = {door for doors in DOORS.values() for door in doors}
    assert DOORS.keys() <= KINDS.keys()
    by_contracts = {foreign.NOTEBOOK, foreign.SPARK, foreign.PLUG_IN, foreign.OURS}
    assert {door.name for door in foreign.DOORS} == {door.name for door in met | by_contracts}


def test_what_was_found_once_stays_mended():
    for name, case in FOUND.items():
        verdict = judged(case, seconds=waiting.SECONDS)
        with about(name, verdict.where):
            assert verdict.outcome == case.family
