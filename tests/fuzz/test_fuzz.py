"""A share of ``python -m benchmarks.fuzz`` with fixed seeds, and what it found before."""

from pathlib import Path

import pytest

from benchmarks.fuzzing.catalogue import case_of
from benchmarks.fuzzing.judge import judged
from benchmarks.fuzzing.workers import verdicts
from tests.fuzz.known import FOUND

# These open pages: seconds each.
_SLOW = "link"


def told(broken):
    return "\n".join(f"--case {one.index} ({one.family}): {one.outcome} {one.where}\n    {one.about}" for one in broken)


@pytest.mark.parametrize("first", [0, 50, 100])
def test_hostile_input_ends_in_a_result_or_a_clear_sentence(first):
    cases = {index: case_of(0, index) for index in range(first, first + 50)}
    found = [judged(case, index) for index, case in cases.items() if case.family != _SLOW]
    assert {verdict.outcome for verdict in found} >= {"result", "refused"}
    broken = [verdict for verdict in found if not verdict.kept]
    assert not broken, told(broken)


@pytest.mark.slow
def test_more_hostile_input_in_processes_of_its_own():
    broken = [verdict for verdict in verdicts(1, range(1_500)) if not verdict.kept]
    assert not broken, told(broken)


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_once_stays_mended(name):
    case = FOUND[name]
    verdict = judged(case)
    assert verdict.outcome == case.family, f"{verdict.outcome} {verdict.where}"


def test_the_cases_run_where_nothing_is_lost(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for index in range(10):
        judged(case_of(2, index), index)
    assert Path.cwd() == tmp_path
    assert not list(tmp_path.iterdir())
