"""A run as files: released values only, so that nothing revealed can leave by this door."""

from __future__ import annotations

import csv
import io
import json

from dpviz.check import RequestError
from dpviz.runs.run import Run

# A cell that begins with one of these would be a formula to a spreadsheet.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

SEEDED = "The noise is seeded, so that a study can be repeated: whoever knows the seed can take it off. Not a release."


def centers_csv(run: Run) -> str:
    """The released centres in data units, a row each; with their noisy sizes where the last step measured them.

    Raises
    ------
    RequestError
        For a run without privacy: its centres are revealed, not released.
    """
    if not run.private:
        raise RequestError(f"{run.algorithm} has no privacy and releases no centres: export a private algorithm's run.")
    weights = run.noisy_weights
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    header = ["cluster", *run.domain.columns, *(["noisy_size"] if weights is not None else [])]
    writer.writerow([_as_text(name) for name in header])
    for number, center in enumerate(run.centers.tolist(), start=1):
        size = [float(weights[number - 1])] if weights is not None else []
        writer.writerow([number, *center, *size])
    return text.getvalue()


def run_json(run: Run, *, seeded: bool = False) -> str:
    """The run in the form of ``run --json``, released values only."""
    report = run.to_dict()
    if seeded:
        report["warnings"].append(SEEDED)
    return json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)


def file_stem(run: Run) -> str:
    """A file name that says what the run was: algorithm, k and ε."""
    plain = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in run.algorithm)
    return f"{plain}_k{run.k}_eps{run.epsilon:g}"


def _as_text(name: str) -> str:
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name
