"""``dpviz read``: what was released, as tables with noise beside each number; checked first, and without the data."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from dpviz.api.console import FoundWrong, Parser, create_out, refuse_taken
from dpviz.core import format_table
from dpviz.releases import ReadRelease, read_release
from dpviz.runs import profiles
from dpviz.tables import codings
from dpviz.words import render

_MOST_COLUMNS = 8


def add(command: Parser) -> None:
    """Its options."""
    command.description = (
        "Check the zip of a release and say what it tells: centres, sizes and their noise, what may be concluded and "
        "what not. Ends with 1 where a check fails, and says first what is wrong."
    )
    command.add_argument("zip", metavar="ZIP", help="the zip of a release")
    command.add_argument("--compare", metavar="OTHER.zip", help="a second release of the same columns, bounds and k")
    command.add_argument("--out", metavar="TIDY.csv", help="write every number into this new file, a row each")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print."""
    release = read_release(Path(arguments.zip))
    other = None if arguments.compare is None else read_release(Path(arguments.compare))
    if arguments.out is not None:
        refuse_taken(Path(arguments.out))
        create_out(Path(arguments.out), release.to_csv().encode())
    if arguments.json:
        said = release.to_dict()
        if other is not None:
            said["comparison"] = _list_comparison(release, other)
        text = json.dumps(said, ensure_ascii=False)
    else:
        tables = () if release.profile is None else list_center_tables(release.profile)
        compare = partial(_format_comparison, release)
        text = render("read.txt.j2", release=release, other=other, tables=tables, compare=compare).strip("\n")
    text = "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)  # steers no terminal
    if not release.holds or (other is not None and not other.holds):
        raise FoundWrong(text)
    return text


def list_center_tables(made: profiles.Profile) -> Iterator[str]:
    """Centres with the sd of their noise, so many columns side by side; sizes first."""
    sizes = ["?" if made.sizes is None else _format_sd(made.sizes[i], _find_sd_of_size(made, i)) for i in range(made.k)]
    # Both coordinates of a cycle are one value of it.
    said = [j for j, one in enumerate(made.columns) if not (isinstance(one.declared, codings.Cycle) and one.nth)]
    for start in range(0, len(said), _MOST_COLUMNS):
        columns = said[start : start + _MOST_COLUMNS]
        names = [_format_head(made.columns[j]) for j in columns]
        rows = [[str(i + 1), sizes[i], *(_format_center(made, i, j) for j in columns)] for i in range(made.k)]
        table = format_table(["segment", "rows", *names], rows)
        uneven = any(made.columns[j].kind != "number" for j in columns)
        beside = ", or in brackets where it is not even on both sides" if uneven else ""
        yield f"Released centres, ± one standard deviation of the noise{beside}\n{table}"


def _format_head(column: profiles.ProfileColumn) -> str:
    if isinstance(column.declared, codings.Cycle | codings.Dates):
        return column.whole
    return f"{column.name} ({column.unit})" if column.unit else column.name


def _format_center(made: profiles.Profile, i: int, j: int) -> str:
    """A coordinate with its noise; on a log or root scale with both ends, which are not even around it."""
    value, sd = float(made.centers[i, j]), float(made.center_sd[i, j])
    if not isinstance(made.columns[j].declared, codings.Stretched) and made.columns[j].declared != codings.NUMBER:
        return f"{made.format_center(i, j)}{made.format_noise(i, j, sd) if np.isfinite(sd) else ' ± ?'}"
    if made.columns[j].kind == "number" or not np.isfinite(sd):
        return _format_sd(value, sd)
    low, high = (_choose_digits(float(end[i, j]), 3) for end in made.find_ends(1.0))
    return f"{_choose_digits(value, 3)} ({low} to {high})"


def _find_sd_of_size(made: profiles.Profile, place: int) -> float:
    return float("nan") if made.size_sd is None else float(made.size_sd[place])


def _format_sd(value: float, sd: float) -> str:
    return f"{_choose_digits(value, 3)} ± {_choose_digits(sd, 2) if np.isfinite(sd) else '?'}"


def _choose_digits(value: float, most: int) -> str:
    """So many significant digits, thousands grouped."""
    return f"{float(f'{value:.{most}g}'):,.12g}"


def _format_comparison(release: ReadRelease, other: ReadRelease) -> str:
    found = release.compare_with(other)
    table = found.table()
    said = f"{found.title}\n{found.words}"
    if not len(table):
        return said
    rows = [[row[0], *(f"{value:.1f}" for value in row[1:])] for row in table.itertuples(index=False)]
    return f"{said}\nDifferences in standard deviations of both noises\n{format_table(list(table.columns), rows)}"


def _list_comparison(release: ReadRelease, other: ReadRelease) -> dict[str, object]:
    found = release.compare_with(other)
    return {
        "title": found.title,
        "words": found.words,
        "passes": found.passes,
        "partner": (found.partner + 1).tolist(),
        "limit": found.limit,
        "beyond": found.beyond,
        "of_centers": found.of_centers.tolist() if found.passes else None,
        "of_sizes": found.of_sizes.tolist() if found.passes and found.of_sizes is not None else None,
        "second": other.verdict.to_dict(),
    }
