"""``dpviz read``: what was released, as tables with noise beside each number; checked first, and without the data."""

import argparse
import json
from functools import partial
from pathlib import Path

from dpviz.api.console import FoundWrong, create_out, list_center_tables, refuse_taken
from dpviz.core import format_table
from dpviz.releases import ReadRelease, read_release
from dpviz.words import render


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


def _format_comparison(release: ReadRelease, other: ReadRelease) -> str:
    found = release.compare_with(other)
    table = found.table()
    said = f"{found.title}\n{found.words}"
    if not len(table):
        return said
    rows = [[row[0], *(f"{value:.1f}" for value in row[1:])] for row in table.itertuples(index=False)]
    return f"{said}\nSecond less first, in standard deviations of both\n{format_table(list(table.columns), rows)}"


def _list_comparison(release: ReadRelease, other: ReadRelease) -> dict[str, object]:
    found = release.compare_with(other)
    return {
        **{name: getattr(found, name) for name in ("title", "words", "passes")},
        "partner": (found.partner + 1).tolist(),
        "limit": found.limit,
        "beyond": found.beyond,
        "of_centers": found.of_centers.tolist() if found.passes else None,
        "of_sizes": found.of_sizes.tolist() if found.passes and found.of_sizes is not None else None,
        "second": other.verdict.to_dict(),
    }
