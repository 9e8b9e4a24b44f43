"""A release of a small table of people, for tests: declared, charged, pressed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from dpviz.releases import releasing
from dpviz.releases.account import Account
from dpviz.releases.release_request import ReleaseRequest
from dpviz.releases.releasing import Preflight, preflight
from dpviz.runs.open_table import OpenTable, declare
from dpviz.runs.request import Contender, Division, Request
from dpviz.tables.declarations import Declaration, FileKind, apply_declaration_file, find_words
from dpviz.tables.named import open_file

DECLARED: dict[str, Any] = {
    "title": "Visitors",
    "bounds": {"age": [0, 100], "income": [0, 90000]},
    "origins": {"age": "law or physics", "income": "documentation"},
    "n_public": 900,
}
WORDS: dict[str, Any] = {
    "intended_use": "Planning of bus lines",
    "curators": ["Town of Bremen"],
    "region": "Bremen",
    "justification": "Bounds from the law",
    "authors": ["A. Muster"],
}
"""The owner's words that a card asks for."""


def write_people(folder: Path, **declared: Any) -> tuple[Path, Path]:
    """A CSV of 900 persons in three groups, and its declaration."""
    rng = np.random.default_rng(3)
    middle = np.array([[20, 15_000], [45, 60_000], [75, 30_000]])[np.arange(900) % 3]
    rows = np.round(middle + rng.normal(0, [3, 3_000], (900, 2)))
    data, declaration = folder / "people.csv", folder / "people.json"
    data.write_text("age,income\n" + "\n".join(f"{age:.0f},{income:.0f}" for age, income in rows) + "\n")
    declaration.write_text(json.dumps({**DECLARED, **declared}))
    return data, declaration


def declare_people(folder: Path, **declared: Any) -> tuple[Path, Declaration]:
    """The same, the declaration read as it has to be for a release."""
    data, declaration = write_people(folder, **declared)
    return data, apply_declaration_file(declaration).validate()


def open_people(folder: Path, **declared: Any) -> OpenTable:
    """The same with the owner's words, opened as a private table."""
    data, said = declare_people(folder, **{"release": WORDS, **declared})
    return declare(open_file(data), replace(said, kind=FileKind.PRIVATE))


def account_in(folder: Path, *, cap_epsilon: float = 2.0, cap_delta: float = 1e-5) -> Account:
    return Account.new(folder / "people.sqlite", name="people", cap_epsilon=cap_epsilon, cap_delta=cap_delta)


def order_for(
    declaration: Declaration,
    *,
    algorithm: str = "auto",
    epsilon: float = 1.0,
    delta: float = 1e-6,
    segments: float = 0.0,
    **said: Any,
) -> ReleaseRequest:
    request = Request(Contender.from_text(algorithm), 3, epsilon, delta)
    return ReleaseRequest(request, find_words(declaration, today="2026-11-24", **said), Division(segments))


def ready_in(
    folder: Path, *, declared: dict[str, Any] | None = None, seed: int | None = None, **asked: Any
) -> Preflight:
    """A release that nothing stands against, with an account beside it."""
    data, said = declare_people(folder, **(declared or {}))
    account, release_request = account_in(folder), order_for(said, **asked)
    if seed is not None:
        release_request = replace(release_request, request=replace(release_request.request, seed=seed))
    return preflight(release_request, open_file(data), said, account)


@contextmanager
def unrehearsed() -> Iterator[None]:
    """Releases inside are made in a third of the time: not rehearsed before the charge, nor checked before they leave.

    For tests that verify what left, or ask about something else; what both are for is in ``test_releasing.py``.
    """
    passed = SimpleNamespace(findings=())
    with patch.object(releasing, "rehearse", lambda *_: None), patch.object(releasing, "verify", lambda _: passed):
        yield
