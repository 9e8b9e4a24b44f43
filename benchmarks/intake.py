"""Reading a file as declared, line by line, beside pandas' reader, which looks at whole columns: 1M x 10 numbers.

python -m benchmarks.intake [--rows 1000000]
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.timing import machine, median_seconds
from dpviz.table.csv_intake import load_csv
from dpviz.table.file_format import FileFormat, NumberStyle

COLUMNS = 10
GERMAN = FileFormat(style=NumberStyle(",", "."))


def files(rows: int) -> dict[str, tuple[bytes, FileFormat]]:
    """The same numbers in the ways people write them."""
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(rows, COLUMNS)).round(4) * 100)
    numbers.columns = [f"x{place}" for place in range(COLUMNS)]
    plain = numbers.to_csv(index=False).encode()
    head, _, body = plain.partition(b"\n")
    quoted = b"\n".join(b'"' + line.replace(b",", b'","') + b'"' for line in body.splitlines())
    return {
        "plain": (plain, FileFormat()),
        "one line in ten with text": (head + b"\n" + body.replace(b"\n", b"\nu,v\n", rows // 10), FileFormat()),
        "decimal commas": (plain.replace(b",", b";").replace(b".", b","), GERMAN),
        "every field quoted": (head + b"\n" + quoted, FileFormat()),
        "quoted, line by line": (head + b"\n" + quoted.replace(b'","', b'", "'), FileFormat()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    print(machine())
    made = files(rows)
    plain, _ = made["plain"]
    pandas = median_seconds(lambda: pd.read_csv(io.BytesIO(plain)), 3)
    print(f"{rows:,} x {COLUMNS}: pandas.read_csv on the plain file {pandas:.2f} s")
    for name, (raw, declared) in made.items():
        read: Callable[[], object] = lambda raw=raw, declared=declared: load_csv(raw, declared=declared)  # noqa: E731
        seconds = median_seconds(read, 3)
        print(f"{name:<28}{seconds:>8.2f} s{seconds / pandas:>8.2f} x pandas on the plain file", flush=True)


if __name__ == "__main__":
    main()
