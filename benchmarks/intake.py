"""Reading a file as declared, line by line, beside pandas' reader, which looks at whole columns: 1M x 10 numbers.

python -m benchmarks.intake [--rows 1000000]

Each kind of file is read by both from the same bytes, in turns, and the least of five times counts. Exits with 1 where
decimal commas or quoted cells take more than 2.5 times as long as with pandas, or an upload of 18 MB more than 5
seconds; with 2, and no verdict, where others keep the machine busy.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.timing import busy, judge, machine
from dpviz.runs.open_table import declare
from dpviz.tables.csv_intake import load_csv, open_csv
from dpviz.tables.declarations import ColumnBounds, Declaration
from dpviz.tables.file_format import FileFormat, NumberStyle
from dpviz.tables.proposal import propose

COLUMNS = 10
MOST, MOST_SECONDS = 2.5, 5.0
_TIMES, _UPLOAD_BYTES = 5, 18_000_000


class Kind(NamedTuple):
    """One way to write the same numbers: the bytes, what is declared of them, what pandas is told."""

    raw: bytes
    declared: FileFormat
    pandas: dict[str, Any]
    promised: bool = False


def kinds(rows: int) -> dict[str, Kind]:
    """The same numbers in the ways people write them."""
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(rows, COLUMNS)).round(4) * 100)
    numbers.columns = [f"x{place}" for place in range(COLUMNS)]
    plain = numbers.to_csv(index=False).encode()
    head, _, body = plain.partition(b"\n")
    commas = plain.replace(b",", b";").replace(b".", b",")
    lines = body.splitlines()
    quoted = b"\n".join(b'"' + line.replace(b",", b'","') + b'"' for line in lines)
    in_quotes = b"\n".join(b'"' + line.replace(b".", b"\0").replace(b",", b'","') + b'"' for line in lines)
    in_quotes = in_quotes.replace(b"\0", b",")
    german = FileFormat(style=NumberStyle(",", "."))
    grouped = (numbers * 1_000).map("{:,.2f}".format).to_csv(index=False, sep=";").encode()
    return {
        "plain": Kind(plain, FileFormat(), {}),
        "one line in ten with text": Kind(
            head + b"\n" + body.replace(b"\n", b"\nu,v\n", rows // 10), FileFormat(), {"on_bad_lines": "skip"}
        ),
        "decimal commas": Kind(commas, german, {"sep": ";", "decimal": ","}, promised=True),
        "every field quoted": Kind(head + b"\n" + quoted, FileFormat(), {}, promised=True),
        "grouped thousands": Kind(grouped, FileFormat(style=NumberStyle(".", ",")), {"sep": ";", "thousands": ","}),
        "decimal commas, quoted": Kind(head + b"\n" + in_quotes, german, {"decimal": ","}, promised=True),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    print(machine())
    kept = True
    for name, kind in kinds(rows).items():
        theirs, ours = least_seconds(
            lambda kind=kind: pd.read_csv(io.BytesIO(kind.raw), low_memory=False, **kind.pandas),
            lambda kind=kind: load_csv(kind.raw, declared=kind.declared),
        )
        ratio = ours / theirs
        kept &= ratio <= MOST or not kind.promised
        promise = f" (at most {MOST:g})" if kind.promised else ""
        print(f"{name:<28}{ours:>8.2f} s, pandas{theirs:>7.2f} s:{ratio:>6.2f} x{promise}", flush=True)
    upload = kinds(rows=_UPLOAD_BYTES // 100)["decimal commas"].raw[:_UPLOAD_BYTES]
    began = time.perf_counter()
    use(upload)
    seconds = time.perf_counter() - began
    kept &= seconds <= MOST_SECONDS
    print(
        f"{len(upload) / 1e6:.0f} MB with decimal commas, from bytes to an open table {seconds:.2f} s "
        f"(at most {MOST_SECONDS:g}): {judge(kept)}"
    )
    return 2 if busy() else int(not kept)


def use(raw: bytes) -> None:
    """Everything between an upload and a table that algorithms may run on: proposal, bounds, rows."""
    file = open_csv(raw)
    declared = propose(file).join_to(Declaration())
    bounds = [ColumnBounds(-500.0, 500.0, "law or physics")] * len(declared.columns)
    declare(file, replace(declared.with_bounds(declared.columns, bounds)))


def least_seconds(*read: Callable[[], object]) -> list[float]:
    """The least processor time of each, in turns."""
    best = [float("inf")] * len(read)
    for _ in range(_TIMES):
        for place, one in enumerate(read):
            began = time.process_time()
            one()
            best[place] = min(best[place], time.process_time() - began)
    return best


if __name__ == "__main__":
    sys.exit(main())
