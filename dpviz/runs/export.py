"""A record as files: released values only, so that nothing revealed can leave this way; each says what it is."""

import json
from collections.abc import Container, Sequence

import pandas as pd

from dpviz.runs.one_run import SIMULATION, Run
from dpviz.runs.record import ReleaseRecord
from dpviz.runs.run_sentences import make_refusal
from dpviz.tables import format_csv, format_frame

_CLUSTER, _SIZE, _NOTE = "cluster", "noisy_size", "note"

REVEALED_NOTE = (
    f"{SIMULATION}: the noise of every run follows from a seed. REVEALED: losses are read from rows without privacy. "
    "Not a release."
)
"""What stands in a file of a study."""


def format_centers_csv(record: ReleaseRecord, *, numbered: bool = True) -> str:
    """The released centres in data units, a row each.

    Where a release should not be rested on, a last column ``note`` says why in every row: whoever reads the numbers by
    the names of their columns reads them as ever.
    """
    if record.centers is None:
        raise make_refusal("not_private", who=record.algorithm)
    columns: dict[str, Sequence[object]] = dict(zip(record.columns, record.centers.T.tolist(), strict=True))
    if numbered:
        columns = {_choose_another(_CLUSTER, columns): range(1, record.k + 1), **columns}
        if record.weights is not None:
            columns[_choose_another(_SIZE, columns)] = record.weights.tolist()
    if record.note:
        columns[_choose_another(_NOTE, columns)] = [record.note] * record.k
    return format_csv([[*columns], *zip(*columns.values(), strict=True)])


def format_run_json(record: ReleaseRecord) -> str:
    """The record in the form of ``run --json``."""
    return json.dumps(record.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def format_frame_csv(frame: pd.DataFrame, *, note: str = "") -> bytes:
    """A table as a CSV file that no spreadsheet takes for formulas; each row ends with the ``note``, if any."""
    return format_frame(frame.assign(**{_choose_another(_NOTE, frame): note}) if note else frame).encode("utf-8")


def name_file(record: ReleaseRecord, *, revealed: bool = False) -> str:
    """A file name that says what the run was: its marks, whether rows are in it, then algorithm, k and ε."""
    marks = (*record.marks, "revealed") if revealed else record.marks
    return "_".join((*marks, _join_stem(record.algorithm, record.k, record.epsilon)))


def name_revealed_file(stem: str, ending: str = "csv") -> str:
    """The name of a file of a study."""
    return f"{SIMULATION}_revealed_{stem}.{ending}"


def name_picture(run: Run) -> str:
    """The same for a picture of a run."""
    stem = _join_stem(run.algorithm, run.k, run.epsilon)
    return stem if run.hardened and not run.seeded else f"{SIMULATION}_{stem}"


def _join_stem(algorithm: str, k: int, epsilon: float) -> str:
    plain = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in algorithm)
    return f"{plain}_k{k}_eps{epsilon:g}"


def _choose_another(name: str, taken: Container[str]) -> str:
    """``name``, or one like it that no column has."""
    while name in taken:
        name += "_"
    return name
