"""Public faults of other libraries of differential privacy, tried on dpviz; each attack must find its planted twin."""

import re
from pathlib import Path

import pytest

from tests.attacks import ledger_attacks, noise_attacks, sensitivity_attacks  # noqa: F401  they fill the table
from tests.attacks.cases import ATTACKS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "attacks.md"
ROW = re.compile(
    r"^\| \[(.+ (\d+))\]\(https://github\.com/\S+/issues/\2\) \| [^|]+[^|.] \| [^|]+[^|.] \|$", re.MULTILINE
)


def test_the_page_lists_many_each_of_a_public_thread_of_its_own_and_all_of_them_are_tried():
    page = PAGE.read_text(encoding="utf-8")
    listed = [thread for thread, _ in ROW.findall(page)]
    assert 25 <= len(listed) == len(set(listed)) == page.count("\n| [")
    assert sorted(listed) == sorted(one.thread for one in ATTACKS)
    assert len({one.twin for one in ATTACKS}) == len({one.run for one in ATTACKS}), "two attacks have one twin"


@pytest.mark.parametrize("one", ATTACKS, ids=lambda one: one.id)
def test_no_attack_succeeds_and_each_finds_its_twin(one, monkeypatch):
    one.run()
    one.twin(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        one.run()
