"""The table of attacks: what was wrong in another library, how it is tried here, and a twin that has the fault.

An attack asserts that nothing is told which was not paid for. Its twin plants the fault in a function of dpviz, under
which the attack must fail. What is said of other libraries are facts of public threads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import getattr_static

import numpy as np
import pytest

from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable

Twin = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Attack:
    """One public fault, tried on dpviz: ``thread`` is its project and number, which ``docs/reference/attacks.md`` lists
    with what went wrong there and what is asserted here.
    """

    thread: str
    run: Callable[[], None]
    twin: Twin

    @property
    def id(self) -> str:
        return f"{self.thread}: {self.run.__name__}"


ATTACKS: list[Attack] = []


def attack(thread: str, *, twin: Twin) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Try a public fault by a function, which must fail under its twin."""

    def put(run: Callable[[], None]) -> Callable[[], None]:
        ATTACKS.append(Attack(thread, run, twin))
        return run

    return put


def planted(place: object, name: str) -> Callable[[Callable[..., object]], Twin]:
    """A twin: in place of a function of a class or module stands a wrong one, which is given the right one first."""

    def make(wrong: Callable[..., object]) -> Twin:
        def twin(monkeypatch: pytest.MonkeyPatch) -> None:
            found = getattr_static(place, name)
            kind = type(found) if isinstance(found, classmethod | property) else lambda function: function
            right = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
            monkeypatch.setattr(place, name, kind(lambda *given, **named: wrong(right, *given, **named)))

        return twin

    return make


LINE = Domain.of(["x"], -1.0, 1.0)
LINE_TABLE = PrivateTable(np.array([[0.1], [0.4]]), LINE)
