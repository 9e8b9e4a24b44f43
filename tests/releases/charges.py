"""Charges to try accounts with, and the sentence of a file that is no account."""

import sqlite3
from collections.abc import Callable
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


def at_each_statement(
    monkeypatch: pytest.MonkeyPatch, do: Callable[[Any, str], object], *, behind: bool = False
) -> None:
    """Whoever uses SQLite does this before each statement, or behind it, on the connection itself."""
    connect = sqlite3.connect

    class Watched(sqlite3.Connection):
        def execute(self, statement: str, *more: Any) -> sqlite3.Cursor:
            if not behind:
                do(super(), statement)
            found = super().execute(statement, *more)
            if behind:
                do(super(), statement)
            return found

    monkeypatch.setattr(sqlite3, "connect", lambda *words, **named: connect(*words, factory=Watched, **named))


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
