"""The table of attacks: what was wrong in another library, how it is tried here, and a twin that has the fault.

An attack asserts that nothing is told which was not paid for. Its twin plants the fault in a function of dpviz, under
which the attack must fail. What is said of other libraries are facts of public threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import getattr_static

import numpy as np
import pytest

from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable

Twin = Callable[[pytest.MonkeyPatch], None]

PROJECTS = {
    "OpenDP": "opendp/opendp",
    "SmartNoise": "opendp/smartnoise-sdk",
    "SmartNoise core": "opendp/smartnoise-core",
    "diffprivlib": "IBM/differential-privacy-library",
    "Opacus": "meta-pytorch/opacus",
    "Google": "google/differential-privacy",
    "PipelineDP": "OpenMined/PipelineDP",
    "PySyft": "OpenMined/PySyft",
    "PrivCount": "privcount/privcount",
    "Synthcity": "vanderschaarlab/synthcity",
    "Fed-BioMed": "fedbiomed/fedbiomed",
    "JAX Privacy": "google-deepmind/jax_privacy",
}


@dataclass(frozen=True)
class Attack:
    """One public fault, tried on dpviz.

    ``number`` is that of the public thread in its project, ``fault`` what went wrong there, ``tried`` what is asserted
    here.
    """

    project: str
    number: int
    fault: str
    tried: str
    run: Callable[[], None]
    twin: Twin

    @property
    def id(self) -> str:
        return f"{self.project} {self.number}: {self.run.__name__}"

    @property
    def thread(self) -> str:
        """Where it was told."""
        return f"https://github.com/{PROJECTS[self.project]}/issues/{self.number}"


ATTACKS: list[Attack] = []


def attack(
    project: str, number: int, *, fault: str, tried: str, twin: Twin
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Put a function into the table."""

    def put(run: Callable[[], None]) -> Callable[[], None]:
        ATTACKS.append(Attack(project, number, fault, tried, run, twin))
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


HEAD = """# Attacks

Other libraries of differential privacy had these faults, told in public threads. Each of them is tried on dpviz in
every run of the tests (`tests/attacks`). Each attack has a twin: a function of dpviz in which the fault is planted, and
under which the attack must fail; without its twin none succeeds. This page is made from the table of the tests, and a
test compares them.

| where | what went wrong there | what is tried here |
|---|---|---|
"""


def make_page() -> str:
    """The documentation of all attacks."""
    return HEAD + "\n".join(_list_lines()) + "\n"


def _list_lines() -> Iterator[str]:
    for one in sorted(ATTACKS, key=lambda one: (one.project.casefold(), one.number, one.run.__name__)):
        yield f"| [{one.project} {one.number}]({one.thread}) | {one.fault} | {one.tried} |"
