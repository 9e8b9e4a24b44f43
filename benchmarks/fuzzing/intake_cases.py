"""Files against the intake: read by default, as declared, looked at for a proposal, opened, and run on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzzing.case import Case, short
from benchmarks.fuzzing.csv_bytes import HostileFile, hostile_file, well_formed_file
from benchmarks.fuzzing.hostile import ENCODINGS, STRANGE_ENCODINGS, TEXTS, happens, one, some
from dpviz.algorithms.registry import CARDS
from dpviz.runs.one_run import run
from dpviz.runs.open_table import declare
from dpviz.runs.record import ReleaseRecord
from dpviz.tables.csv_intake import load_csv, open_csv
from dpviz.tables.declarations import Declaration, FileKind, apply_declaration, to_json
from dpviz.tables.file_format import FileFormat, NumberStyle
from dpviz.tables.loaded_table import LoadedTable
from dpviz.tables.proposal import propose


def read_case(rng: np.random.Generator) -> Case:
    """A file read without any declaration."""
    file = hostile_file(rng)
    return Case("read", file.about, lambda folder: _said(load_csv(file.raw)), file.secrets)


def declared_case(rng: np.random.Generator) -> Case:
    """A file read by a declaration that may not fit it, or be none."""
    file = hostile_file(rng)
    stated = _any_format(rng, file)
    numbers = some(rng, (*file.names, "x", "nowhere"), 3) if happens(rng, 0.2) else None
    text = some(rng, file.names, 2) if file.names and happens(rng, 0.3) else None

    def do(folder: Path) -> str:
        return _said(load_csv(file.raw, declared=FileFormat(**stated), numbers=numbers, text=text))

    secrets = file.secrets if stated.get("header") is not True else file.secrets.without_those_in(_top(file, stated))
    return Case("read as declared", f"{file.about}; {short(stated)}", do, secrets)


def proposal_case(rng: np.random.Generator) -> Case:
    """A look at a file; what is proposed must be a declaration that reads back, and reads the file."""
    file = hostile_file(rng)

    def do(folder: Path) -> str:
        path = folder / "data.csv"
        path.write_bytes(file.raw)
        found = propose(open_csv(path))
        proposed = Declaration(file=found.file, numbers=found.numbers, proposed=True)
        text = to_json(proposed)
        if apply_declaration(text) != proposed:
            raise AssertionError("a proposal that does not read back")
        table = open_csv(path).read(found.file, numbers=found.numbers, text=found.text)
        return "\n".join((text, *found.names, *found.notes, _said(table)))

    return Case("propose", file.about, do, file.secrets)


def run_case(rng: np.random.Generator) -> Case:
    """A file opened as declared and an algorithm run on it."""
    file = hostile_file(rng) if happens(rng, 0.5) else well_formed_file(rng)
    columns = tuple(dict.fromkeys(some(rng, file.names, 3))) or ("x", "y")
    roles = [name for name in file.names if name not in columns]
    identified = bool(roles) and happens(rng, 0.4)
    stated: dict[str, Any] = {
        "columns": columns,
        "lower": (-1.0,) * len(columns),
        "upper": (1.0,) * len(columns),
        "relation": one(rng, ("add_remove", "add_remove", "replace")),
        "scaling": one(rng, ("unit", "common")),
        "id_column": one(rng, roles) if identified else None,
        "rows_per_person": one(rng, (1, 2, 50)) if identified else 1,
        "label_column": one(rng, roles) if roles and happens(rng, 0.3) else None,
        "n_public": one(rng, (None, None, 1, 7, 60, 10_000)),
        "kind": one(rng, (FileKind.PRIVATE, FileKind.PUBLIC)),
    }
    card = one(rng, tuple(CARDS))
    k, epsilon, delta = one(rng, (1, 2, 3, 10)), one(rng, (0.01, 0.5, 1.0, 20.0)), one(rng, (0.0, 1e-6))
    seed = int(rng.integers(0, 1_000))

    def do(folder: Path) -> str:
        table = declare(open_csv(file.raw), Declaration(**stated))
        finished = run(card, table.private, k=k, epsilon=epsilon, delta=delta, seed=seed)
        if not np.isfinite(finished.centers).all():
            raise AssertionError("a centre that is no number")
        return "\n".join(
            (
                json.dumps(ReleaseRecord.of(finished, table).to_dict(), allow_nan=False),
                *table.loaded.notes,
                *map(repr, finished.frames),
            )
        )

    about = f"{file.about}; {card}, k = {k}, ε = {epsilon}, δ = {delta}; {short(stated, most=400)}"
    return Case("run", about, do, file.secrets)


def _said(table: LoadedTable) -> str:
    """All that a person is told of a table before any run."""
    return "\n".join((table.name, *table.numeric_columns, *table.text_columns, *table.notes, repr(table)))


def _top(file: HostileFile, stated: dict[str, Any]) -> str:
    """What is public by being declared the header, however long the lines above it are: it, and a line ``sep=``."""
    lines = stated.get("skip", 0) + 2
    try:
        declared = file.unpacked.decode(stated.get("encoding", "utf-8"), errors="replace")
    except (LookupError, ValueError):
        declared = ""
    texts = declared, file.unpacked.replace(b"\0", b"").decode("latin-1")
    return "\n".join(line for text in texts for line in text.split("\n", lines)[:lines])


def _any_format(rng: np.random.Generator, file: HostileFile) -> dict[str, Any]:
    choices: dict[str, Any] = {
        "encoding": one(rng, ENCODINGS if happens(rng, 0.9) else STRANGE_ENCODINGS),
        "delimiter": one(rng, (",", ";", "\t", "|", " ", "whitespace", "", *TEXTS[:16])),
        "header": one(rng, (None, True, False)),
        "names": tuple(file.names) if happens(rng, 0.5) else tuple(some(rng, TEXTS, 3)),
        "style": _any_style(rng),
        "styles": {name: _any_style(rng) for name in some(rng, file.names, 2)} if file.names else {},
        "several_lines": happens(rng, 0.5),
        "skip": one(rng, (0, 0, 0, 1, 2, 2_000)),
        "units_line": happens(rng, 0.2),
    }
    return {key: choices[key] for key in some(rng, tuple(choices), 4)}


def _any_style(rng: np.random.Generator) -> NumberStyle:
    sign = one(rng, ("", "%", "$", "€", "kg", "\u2212", ".", "[", "(?", "\\", "x" * 9, "e", " ", "\0", "ß"))
    grouping = one(rng, ("", ",", ".", "'", " ", "_", "lakh"))
    return NumberStyle(one(rng, (".", ",", ";")), grouping, sign, one(rng, ("", "", "()", "-", "+")))
