"""Settings of studies: YAML and links, written by the page, changed by hand, or written to do harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import yaml

from benchmarks.fuzzing.case import Case, short
from benchmarks.fuzzing.hostile import NUMBER_TEXTS, NUMBERS, TEXTS, any_value, happens, one, some
from dpviz.algorithms.registry import CARDS
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import StudyGrid

_FIRST_KEYS = ("dpviz", "version", "algorithms", "epsilon_from", "epsilon_to", "k", "delta", "repeats")
_WORDS = ("dpviz", "version", "algorithms")
_LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
RAW_YAML: tuple[str, ...] = (
    *("", "null", "[]", "{}", "---", "--- {}\n--- {}", "a: b: c", "\t", "\0", "? : :", "!!binary x", "&a *a", "*x"),
    "%YAML 9",
    *("!!python/object/apply:os.system [echo]", "!!set {a, b}", "a: !!timestamp 2020-13-45", "a: 0x_", "a: 1:99:99"),
    *("? [a]\n: b", "? {a: b}\n: c", "<<: [{a: b}]", "<<: 1", "a: .inf", "2020-01-01: x", "=: 1", "a: =", "{" * 3_000),
    *("[" * 30_000, "- " * 9_000, "a: " + "9" * 6_000, "x" * 200_000, "k: 1\nk: 2", "a: 0b", "a: 0o", "a: !!int ''"),
    *("a: !!float x", "a: !!bool x", "a: 2020-01-01 99:00:00", "a: -", "a: !!omap [1]", "a: !!pairs [1]", _LAUGHS),
    "a: &a [*a]\ndpviz: trade-off study\nversion: 1",
    "dpviz: trade-off study\nversion: 1\nalgorithms: &a [{algorithm: auto, params: *a}]\nepsilon_from: 1\n"
    "epsilon_to: 2\nk: 2\ndelta: 0\nrepeats: 1",
)
_SCALARS = (
    *NUMBER_TEXTS,
    ".inf",
    "-.inf",
    ".nan",
    "1:30",
    "2020-01-01",
    "!!null",
    "~",
    "*a",
    "&a 1",
    "0o17",
    "0b1",
    "1e6",
)


def settings_case(rng: np.random.Generator) -> Case:
    """Settings read from a text; those that are accepted must read back to the same."""
    text = one(rng, RAW_YAML) if happens(rng, 0.15) else _mistaken(rng)

    def do(folder: Path) -> str:
        grid = StudyGrid.from_yaml(text)
        if (
            StudyGrid.from_yaml(grid.to_yaml()) != grid
            or StudyGrid.from_query(dict(parse_qsl(grid.to_query(), True))) != grid
        ):
            raise AssertionError("settings that do not read back")
        return "\n".join((grid.to_query(), *(contender.label for contender in grid.contenders)))

    return Case("settings", short(text, most=500), do)


def _mistaken(rng: np.random.Generator) -> str:
    contenders = tuple(_contender(rng) for _ in range(int(rng.integers(0, 4))))
    found = _first_version(rng, contenders) if happens(rng, 0.3) else _today(rng, contenders)
    for key in some(rng, tuple(found), 2):
        found[key] = one(rng, NUMBERS) if key not in _WORDS and happens(rng, 0.7) else any_value(rng)
    if happens(rng, 0.1):
        found[one(rng, TEXTS)] = any_value(rng)
    if happens(rng, 0.1):
        del found[one(rng, tuple(found))]
    text = json.dumps(found) if happens(rng, 0.5) else _as_yaml(found)
    if happens(rng, 0.3):
        lines = text.split("\n")
        place = int(rng.integers(0, len(lines)))
        lines[place] = lines[place].split(":")[0] + ": " + one(rng, _SCALARS)
        text = "\n".join(lines)
    return text


def _today(rng: np.random.Generator, contenders: tuple[Contender, ...]) -> dict[str, Any]:
    ns = one(rng, ((None,), (None, 50)))
    good = StudyGrid(
        contenders, (4, 2), StudyGrid.list_epsilons(0.1, 3.0), (one(rng, (0.0, 1e-6)),), ns, repeats=5, seed=3
    )
    found: dict[str, Any] = yaml.safe_load(good.to_yaml())
    return found


def _first_version(rng: np.random.Generator, contenders: tuple[Contender, ...]) -> dict[str, Any]:
    algorithms = [{"algorithm": contender.algorithm, "params": dict(contender.params)} for contender in contenders]
    values = ("trade-off study", 1, algorithms, 0.1, 3.0, 4, one(rng, (0.0, 1e-6)), 5)
    return dict(zip(_FIRST_KEYS, values, strict=True))


def _as_yaml(found: dict[str, Any]) -> str:
    try:
        return yaml.safe_dump(found, allow_unicode=True)
    except (yaml.YAMLError, ValueError):  # half characters, or numbers too long to be written
        return json.dumps({key: str(type(value)) for key, value in found.items()})


def _contender(rng: np.random.Generator) -> Contender:
    card = one(rng, tuple(CARDS.values()))
    param_fields = card.params.param_fields()
    chosen = some(rng, param_fields, 2) if param_fields else []
    params = {param_field.name: any_value(rng) if happens(rng, 0.15) else param_field.default for param_field in chosen}
    return Contender(card.id, {name: _plain(value) for name, value in params.items()})


def _plain(value: Any) -> Any:
    """``value`` as YAML can write it."""
    try:
        yaml.safe_dump(value)
    except (yaml.YAMLError, ValueError):
        return "x"
    return value
