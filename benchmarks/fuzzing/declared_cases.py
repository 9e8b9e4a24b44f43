"""Sidecars: JSON that declares something, or anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzzing.case import Case, short
from benchmarks.fuzzing.csv_bytes import well_formed_file
from benchmarks.fuzzing.hostile import any_value, happens, one, some
from dpviz.runs.open_table import declare
from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import apply_declaration, read_declaration, to_json

_COMPLETE: Mapping[str, Any] = {
    "title": "People",
    "description": "Who came",
    "file": {"encoding": "utf-8", "delimiter": ",", "decimal": ".", "columns": {"x": {"sign": "%"}}},
    "numbers": ["x", "y"],
    "bounds": {"x": [-1, 1], "y": [-1, 1]},
    "bounds_origin": "documentation",
    "origins": {"x": "a guess"},
    "scaling": "unit",
    "radius": 1.5,
    "unit_of_privacy": "a person",
    "relation": "add_remove",
    "n_public": 60,
    "public": True,
    "label": "label",
    "id_column": "id",
    "rows_per_person": 2,
    "proposed": True,
    "source": "here",
    "licence": "CC0",
}
_FORMS: tuple[Mapping[str, Any], ...] = (
    _COMPLETE,
    {"bounds": {"x": [-1, 1], "y": [-1, 1]}},
    {"lower": -1, "upper": 1},
    {"lower": [-1, 0], "upper": [1, 1], "columns": ["x", "y"], "origins": {}},
    {"lower": -1, "upper": 1, "file": {"header": False, "names": ["x", "y"]}},
)
_RAW: tuple[str, ...] = (
    *("", " ", "null", "[]", "{}", "0", '"x"', "{", '{"bounds"', "{'bounds': 1}", "\ufeff{}", '{"a":1}{"a":2}', "NaN"),
    *('{"lower": NaN, "upper": Infinity}', '{"lower": -1e999, "upper": 1e999}', '{"lower": 0, "lower": 1, "upper": 2}'),
    '{"lower": 0, "upper": ' + "9" * 400 + "}",
    '{"lower": 0, "upper": ' + "9" * 6_000 + "}",
    '{"bounds": {"\\ud800": [0, 1]}}',
    '{"title": "\\ud800", "lower": 0, "upper": 1}',
    '{"label": "\\ud800", "lower": 0, "upper": 1}',
    '{"file": ' * 5_000 + "1" + "}" * 5_000,
    "[" * 100_000,
    '{"bounds": ' + "[" * 200 + "]" * 200 + "}",
    '{"title": "' + "t" * 900_000 + '", "lower": 0, "upper": 1}',
    '{"title": "' + "t" * 1_100_000 + '"}',
    '{"numbers": [' + ",".join(f'"c{i}"' for i in range(50_000)) + '], "lower": 0, "upper": 1}',
    '{"bounds": {' + ",".join(f'"c{i}": [0, 1]' for i in range(30_000)) + "}}",
)


def sidecar_case(rng: np.random.Generator) -> Case:
    """A declaration with mistakes: read, written, read again, and used to open a file."""
    text = one(rng, _RAW) if happens(rng, 0.15) else _mistaken(rng)
    file = well_formed_file(rng)

    def do(folder: Path) -> str:
        path = folder / "data.json"
        path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
        declaration = read_declaration(path)
        written = to_json(declaration)
        if apply_declaration(written) != declaration:
            raise AssertionError("a declaration file that does not read back")
        table = declare(open_csv(file.raw), declaration)
        return "\n".join((written, table.title, *table.domain.columns, *table.loaded.notes))

    return Case("declaration file", short(text, most=600), do, file.secrets)


def _mistaken(rng: np.random.Generator) -> str:
    stated = json.loads(json.dumps(one(rng, _FORMS)))
    if len(stated) > 5:
        stated = {key: stated[key] for key in stated if happens(rng, 0.7)} or stated
    for _ in range(int(rng.integers(0, 4))):
        mistake = one(rng, _MISTAKES)
        mistake(rng, stated)
    text = json.dumps(stated, ensure_ascii=happens(rng, 0.5))
    return text[: int(rng.integers(0, len(text) + 1))] if happens(rng, 0.05) else text


def _another_value(rng: np.random.Generator, stated: dict[str, Any]) -> None:
    if stated:
        stated[one(rng, tuple(stated))] = any_value(rng)


def _another_inside(rng: np.random.Generator, stated: dict[str, Any]) -> None:
    inside = [value for value in stated.values() if isinstance(value, dict) and value]
    if inside:
        chosen = one(rng, inside)
        chosen[one(rng, tuple(chosen))] = any_value(rng)


def _another_bound(rng: np.random.Generator, stated: dict[str, Any]) -> None:
    key = one(rng, ("lower", "upper", "bounds"))
    stated[key] = {"x": [any_value(rng), 1]} if key == "bounds" else any_value(rng)


def _another_key(rng: np.random.Generator, stated: dict[str, Any]) -> None:
    stated[one(rng, (*_COMPLETE, "Bounds", "", "__proto__", "epsilon"))] = any_value(rng)


def _one_less(rng: np.random.Generator, stated: dict[str, Any]) -> None:
    for key in some(rng, tuple(stated), 2):
        del stated[key]


def _file_inside(rng: np.random.Generator, stated: dict[str, Any]) -> None:
    keys = (
        "encoding",
        "delimiter",
        "header",
        "names",
        "decimal",
        "grouping",
        "sign",
        "negative",
        "skip",
        "units_line",
        "several_lines",
        "columns",
        "x",
    )
    stated["file"] = {key: any_value(rng) for key in some(rng, keys, 3)}


_MISTAKES: tuple[Callable[[np.random.Generator, dict[str, Any]], None], ...] = (
    *(_another_value, _another_inside, _another_bound, _another_key, _one_less, _file_inside),
)
