"""Command lines: right ones with something wrong in them, on files with something wrong in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.fuzzing.case import Case, command, short
from benchmarks.fuzzing.csv_bytes import hostile_file, well_formed_file
from benchmarks.fuzzing.hostile import ENCODINGS, NUMBER_TEXTS, TEXTS, happens, one, some
from benchmarks.fuzzing.secrets import Secrets
from dpviz.algorithms.registry import CARDS

# Each option with some values that are right; wrong ones come from elsewhere.
_TABLE: Mapping[str, Sequence[str]] = {
    "--columns": ("x,y", "x", '"x","y"', "x,nowhere"),
    "--bounds": ("-1,1", "0,1", "-1e308,1e308", "-1,1,2", "1,-1", "data.json", "nowhere.json", ".", "/dev/null"),
    "--radius": ("1", "0.1", "1e308"),
    "--scaling": ("unit", "common"),
    "--relation": ("add_remove", "replace"),
    "--n-public": ("60", "1", "1000000"),
    "--label": ("label", "", "x"),
    "--id-column": ("id", "", "x"),
    "--rows-per-person": ("1", "2"),
    "--encoding": ENCODINGS,
    "--delimiter": (",", ";", "\\t", "whitespace"),
    "--header": ("yes", "no"),
    "--names": ("x,y", "x,y,z", "a"),
    "--decimal": (".", ","),
    "--grouping": ("", ",", ".", "'"),
    "--sign": ("", "%", "€"),
    "--delta": ("0", "1e-6", "0.5"),
    "--seed": ("0", "7", "18446744073709551615"),
}
_RUN: Mapping[str, Sequence[str]] = {
    **_TABLE,
    "--algorithm": (*CARDS, "auto", "dbscan"),
    "--k": ("1", "3", "10"),
    "--epsilon": ("0.1", "1", "100"),
    "--out": ("centers.csv", "data.csv", ".", "no/folder/here.csv", "/dev/full", "data.json"),
}
_SWEEP: Mapping[str, Sequence[str]] = {
    **_TABLE,
    "--algorithms": (
        "auto",
        "dplloyd,eugkm",
        "dplloyd:rounds=2",
        "dplloyd:rounds=2:preset=gaussian",
        ":",
        "a:b",
        "auto:",
    ),
    "--epsilons": ("1", "0.1,3"),
    "--ks": ("2", "1,3"),
    "--ns": ("all", "20", "20,all", "999999"),
    "--deltas": ("0", "1e-6,1e-5"),
    "--repeats": ("1", "2"),
    "--jobs": ("1",),
    "--out": ("study", ".", "data.csv", "data.csv/inside", "/dev/full", "/proc/nowhere"),
}
_ADVISE: Mapping[str, Sequence[str]] = {
    "--n": ("1000", "12000", "1"),
    "--d": ("2", "6", "100"),
    "--k": ("2", "5"),
    "--target": ("1.1", "2"),
    "--delta": ("0", "1e-6"),
    "--relation": ("add_remove", "replace"),
    "--rows-per-person": ("1", "3"),
}
_DECLARE: Mapping[str, Sequence[str]] = {
    "--out": ("data.json", "new.json", "data.csv", "/dev/full", "no/folder/x.json")
}
_NEEDED: Mapping[str, Sequence[str]] = {
    "run": ("--k", "--epsilon", "--bounds"),
    "sweep": ("--algorithms", "--epsilons", "--ks", "--out", "--bounds", "--repeats", "--jobs"),
    "advise": ("--n", "--d", "--k"),
}
_OPTIONS = {"run": _RUN, "sweep": _SWEEP, "advise": _ADVISE, "declare": _DECLARE}
_FLAGS: Mapping[str, Sequence[str]] = {
    "run": ("--evaluate", "--json", "--help"),
    "sweep": ("--resume",),
    "advise": ("--json",),
    "declare": (),
}
# Work without end may be asked for; what a mistake may not do is start it.
_TOO_MUCH = {"--repeats", "--jobs"}


def command_case(rng: np.random.Generator) -> Case:
    """A command line with up to two mistakes, on a file that is as it should be, or not."""
    if happens(rng, 0.06):
        words = (*TEXTS, "run", "sweep", "declare", "advise", "--k", "--help", "--version", "algorithms")
        argv = [one(rng, words) for _ in range(int(rng.integers(0, 5)))]
        return Case("command line", short(argv, most=300), lambda folder: command(argv), for_a_page=False)
    which = one(rng, ("run", "run", "run", "run", "declare", "declare", "sweep", "advise"))
    file = well_formed_file(rng) if happens(rng, 0.6) else hostile_file(rng)
    declaration_file = one(
        rng, (None, {"bounds": {"x": [-1, 1], "y": [-1, 1]}}, {"lower": -1, "upper": 1, "label": "label"})
    )
    argv = _argv(rng, which)
    wide = any("1e308" in part for part in argv)  # then numbers of the file lie within the bounds

    def do(folder: Path) -> str:
        (folder / "data.csv").write_bytes(file.raw)
        if declaration_file is not None:
            (folder / "data.json").write_text(json.dumps(declaration_file))
        return command(argv) + _written(folder, {"data.csv"})

    hidden = Secrets((), file.secrets.words) if wide else file.secrets
    if "yes" in argv:  # the first line is declared to be public
        hidden = hidden.without_those_in(file.raw.replace(b"\0", b"")[:200].decode("latin-1"))
    about = f"{file.about}; {short(argv, most=500)}; {short(declaration_file)}"
    return Case("command line", about, do, hidden, for_a_page=False)


def _argv(rng: np.random.Generator, which: str) -> list[str]:
    options = _OPTIONS[which]
    asked = [*_NEEDED.get(which, ()), *some(rng, tuple(options), 3)]
    given = {name: one(rng, options[name]) for name in asked}
    if which == "run":
        given |= {"--k": "2", "--epsilon": "1", "--bounds": "-1,1"} if happens(rng, 0.5) else {}
    for name in some(rng, tuple(given), 2) if happens(rng, 0.7) else ():
        given[name] = one(rng, TEXTS) if name in _TOO_MUCH or happens(rng, 0.4) else one(rng, NUMBER_TEXTS)
    if happens(rng, 0.1) and given:
        del given[one(rng, tuple(given))]
    flags = some(rng, _FLAGS[which], 2)
    places = (*("data.csv",) * 12, "nowhere.csv", ".", "", "\0", "x" * 5_000, "/dev/null")
    data = [] if which == "advise" else [one(rng, places)]
    if which == "run" and happens(rng, 0.2):
        flags += ["--set", f"{one(rng, ('rounds', 'preset', 'rows', '', *TEXTS[:9]))}={one(rng, NUMBER_TEXTS)}"]
    return [which, *data, *(part for name, value in given.items() for part in (name, value)), *flags]


def _written(folder: Path, own: set[str]) -> str:
    """What was written to files that are to be passed on: centres and proposals."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in own]
    return "\n".join(path.read_text("utf-8", errors="replace") for path in found)
