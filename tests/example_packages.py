"""Packages that bring algorithms, without installing any: the examples of the checkout, and made-up entry points."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import pytest

from dpviz.algorithms import plugins
from dpviz.algorithms.card import Card
from dpviz.algorithms.registry import CARDS

EXAMPLES = Path(__file__).parents[1] / "examples"


@cache
def example(name: str) -> ModuleType:
    """The module of the example ``dpviz-NAME``, read from the checkout."""
    file = EXAMPLES / f"dpviz-{name}" / f"dpviz_{name}" / "__init__.py"
    spec = importlib.util.spec_from_file_location(f"dpviz_{name}", file, submodule_search_locations=[str(file.parent)])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look their own module up
    spec.loader.exec_module(module)
    return module


class Entry(NamedTuple):
    """An entry point that is installed nowhere."""

    name: str
    load: Callable[[], object]
    package: str = "some-package"

    @property
    def value(self) -> str:
        return f"{self.package}:{self.name}"

    @property
    def dist(self) -> SimpleNamespace:
        return SimpleNamespace(name=self.package, version="1.2")


@contextmanager
def bringing(*found: Entry | Card) -> Iterator[plugins.Brought]:
    """The registry as it is where these entry points, and no others, are installed; a card is one that loads."""
    entries = [Entry(one.id, lambda one=one: one) if isinstance(one, Card) else one for one in found]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins, "entry_points", lambda group: entries)
        patch.setattr(CARDS, "_brought", None)
        yield CARDS.brought
