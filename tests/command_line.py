"""What the tests of the command line share: a small file, and ways to call."""

import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from dpviz.__main__ import main
from tests.contract.tables import make_blobs


class Said(NamedTuple):
    """Exit code and both streams of one call."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


def call(capsys: pytest.CaptureFixture[str], *argv: object, main: Callable[[list[str]], int] = main) -> Said:
    """``dpviz ARGV``, or another program's command line, in this process."""
    capsys.readouterr()
    code = main([str(part) for part in argv])
    return Said(code, *capsys.readouterr())


def told_by(*argv: object, main: Callable[[list[str]], int] = main) -> Said:
    """``dpviz ARGV``, or another program's command line, in this process, for what several tests share."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = main([str(part) for part in argv])
    return Said(code, out.getvalue(), err.getvalue())


def write_points(
    path: Path, *, n: int = 400, declaration_file: dict[str, Any] | None = None, label: bool = False
) -> Path:
    """A file with columns x, y (and label) inside [-1, 1]."""
    rows = make_blobs(n)
    header, columns = "x,y", rows
    if label:
        header, columns = "x,y,label", np.column_stack([rows, rows[:, 0] > 0])
    np.savetxt(path, columns, delimiter=",", header=header, comments="", fmt="%.6f")
    if declaration_file is not None:
        path.with_suffix(".json").write_text(json.dumps(declaration_file))
    return path
