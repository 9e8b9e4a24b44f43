"""Charges to try accounts with, and the sentence of a file that is no account."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpviz.core.check import RequestError
from dpviz.releases.account import Account, Charge


def a_charge(epsilon: float = 0.5, delta: float = 0.0, **changes: Any) -> Charge:
    """A charge of a release of two columns."""
    usual = {"algorithm": "auto", "k": 5, "unit": "1 row", "relation": "add_remove", "who": "somebody"}
    bounds = {"columns": ("age", "income"), "lower": (0.0, 0.0), "upper": (100.0, 1e5)}
    return Charge(**{"epsilon": epsilon, "delta": delta} | usual | bounds | changes)


def refusal(path: Path, **options: float) -> str:
    """The sentence that every way to use a file ends in."""
    account = Account(path, **options)
    sentences = set()
    for use in (lambda: Account.open(path, **options), account.standing, lambda: account.charge(a_charge())):
        with pytest.raises(RequestError) as refused:
            use()
        sentences.add(str(refused.value))
    (sentence,) = sentences
    assert "\n" not in sentence and sentence.endswith(".") and path.name in sentence
    return sentence
