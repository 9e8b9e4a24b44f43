"""What is announced before a row is read changes on purpose only."""

from __future__ import annotations

import yaml

from tests.algorithms.announced import STORED, announced
from tests.cases import about


def test_numbers_that_were_measured_or_chosen_are_those_that_are_stored() -> None:
    stored = yaml.safe_load(STORED.read_text(encoding="utf-8"))
    for kind, cases in announced().items():
        assert cases.keys() == stored[kind].keys()
        for name, numbers in cases.items():
            with about(name, "if this is meant: python -m tests.algorithms.announced"):
                assert numbers == stored[kind][name]
