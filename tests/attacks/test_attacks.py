"""Public faults of other libraries of differential privacy, tried on dpviz; each attack must find its planted twin."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.attacks import ledger_attacks, noise_attacks, sensitivity_attacks  # noqa: F401  they fill the table
from tests.attacks.cases import ATTACKS, PROJECTS, make_page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "attacks.md"


def test_there_are_many_each_of_a_public_thread_of_its_own_with_a_twin():
    assert len(ATTACKS) >= 25
    assert max(Counter((one.project, one.number) for one in ATTACKS).values()) == 1
    assert {one.project for one in ATTACKS} == {*PROJECTS}
    assert len({one.twin for one in ATTACKS}) == len({one.run for one in ATTACKS}), "two attacks have one twin"
    for one in ATTACKS:
        assert one.fault and one.tried and not one.fault.endswith(".") and not one.tried.endswith("."), one.id


@pytest.mark.parametrize("one", ATTACKS, ids=lambda one: one.id)
def test_no_attack_succeeds_and_each_finds_its_twin(one, monkeypatch):
    one.run()
    one.twin(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        one.run()


def test_the_page_lists_these():
    if os.environ.get("RENEW_PROOF") == "1":
        PAGE.write_text(make_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == make_page()
