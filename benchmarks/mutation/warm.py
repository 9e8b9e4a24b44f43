"""Functions of modules that are loaded already get other code, so that a child need not load package and tests again.

Most mistakes stand in the body of a function: its code is exchanged in place, wherever the function is held. What
changes a class, a default or a constant of a module is not done here; whoever imported it has a copy.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FunctionType


class LoadedFunctions:
    """Functions of the package by their code; ``load`` adds those that tests bring."""

    def __init__(self, package: Path) -> None:
        self._package = str(package)
        self._by_code: dict[CodeType, list[FunctionType]] = defaultdict(list)

    def load(self, modules: Iterable[str]) -> None:
        """Import them; one that cannot be imported a child will meet as a test that cannot be collected."""
        new = [name for name in modules if name not in sys.modules]
        if not new:
            return
        for name in new:
            with suppress(Exception):
                importlib.import_module(name)
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename.startswith(self._package):
                self._by_code[one.__code__].append(one)
        gc.freeze()  # a child that collects garbage would copy whatever it looks through, and it is not found again

    def change(self, path: Path, source: str) -> bool:
        """Give functions of this file the code that they have in ``source``; whether that is all that differs."""
        is_, would_be = (compile(text, str(path), "exec", dont_inherit=True) for text in (path.read_text(), source))
        return self._change(is_, would_be)

    def _change(self, is_: CodeType, would_be: CodeType) -> bool:
        if _unlike(is_, would_be):
            if not is_.co_flags & CO_OPTIMIZED or is_.co_freevars != would_be.co_freevars:
                return False
            if not self._by_code[is_]:
                return False
            for function in self._by_code[is_]:
                function.__code__ = would_be
            return True
        return all(self._change(*pair) for pair in zip(_inside(is_), _inside(would_be), strict=True))


def _unlike(is_: CodeType, would_be: CodeType) -> bool:
    """Whether the code itself differs; of a function, also that of functions within, which it makes when it runs."""
    if _own(is_) != _own(would_be) or len(_inside(is_)) != len(_inside(would_be)):
        return True
    if not is_.co_flags & CO_OPTIMIZED:
        return False
    return any(_unlike(*pair) for pair in zip(_inside(is_), _inside(would_be), strict=True))


def _own(code: CodeType) -> tuple[object, ...]:
    """What it does, wherever its lines stand."""
    plain = [repr(value) for value in code.co_consts if not isinstance(value, CodeType)]
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code, code.co_exceptiontable, code.co_flags, code.co_argcount, names, plain)


def _inside(code: CodeType) -> list[CodeType]:
    return [value for value in code.co_consts if isinstance(value, CodeType)]
