"""Tables that anybody may look at: files of ``sample_data/``, tables made on demand, scikit-learn's digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dpviz.beside import BESIDE
from dpviz.table.bag_of_words import bag_of_words, bag_of_words_sidecar
from dpviz.table.csv_intake import LoadedTable, load_csv, numeric_table
from dpviz.table.declaration import Declaration, FileKind
from dpviz.table.fixed_points import thermometers, thermometers_sidecar
from dpviz.table.sidecar import read_sidecar
from dpviz.table.simulate import gaussian_mixture, gaussian_mixture_sidecar, simulate

__all__ = ["SAMPLES", "LoadedSample", "Sample", "sample", "simulate"]

FOLDER = BESIDE / "sample_data"
# How many clusters were put into each.
_FILES = {"fifteen": 15, "city": 8, "people": 6, "colours": 6, "outlier": 3, "towns": 2, "laboratories": 2}


class LoadedSample(NamedTuple):
    """A sample and what is declared about it."""

    table: LoadedTable
    declaration: Declaration


@dataclass(frozen=True)
class Sample:
    """One entry of the list of samples; nothing is read or made before ``load``.

    ``clusters`` is how many were put into it: public, as the sample is.
    """

    id: str
    title: str
    description: str
    clusters: int
    load: Callable[[], LoadedSample]


def sample(sample_id: str) -> Sample:
    """The sample of that id; KeyError if there is none."""
    return {entry.id: entry for entry in SAMPLES}[sample_id]


def _file_samples() -> list[Sample]:
    found = []
    for stem, clusters in _FILES.items():
        path = FOLDER / f"{stem}.csv"
        if path.is_file() and path.with_suffix(".json").is_file():
            declared = read_sidecar(path.with_suffix(".json"))
            found.append(Sample(stem, declared.title, declared.description, clusters, partial(_load_file, path)))
    return found


def _load_file(path: Path) -> LoadedSample:
    declared = read_sidecar(path.with_suffix(".json"))
    text = [name for name in (declared.id_column, declared.label_column) if name is not None]
    table = load_csv(path, declared=declared.file, numbers=declared.columns, text=text, name=declared.title)
    return LoadedSample(table, declared)


def _made(
    sample_id: str, clusters: int, table: Callable[[], LoadedTable], sidecar: Callable[[], Declaration]
) -> Sample:
    """A sample whose rows are made when they are asked for."""
    declared = sidecar()
    return Sample(sample_id, declared.title, declared.description, clusters, lambda: LoadedSample(table(), declared))


def _load_digits() -> LoadedSample:
    from sklearn.datasets import load_digits  # slow to import

    digits = load_digits()
    values = np.column_stack([digits.data, digits.target])
    table = numeric_table(values, [*_DIGITS.columns, "label"], name=_DIGITS.title)
    return LoadedSample(table, _DIGITS)


_DIGITS = Declaration(
    title="Handwritten digits",
    description="1,797 scanned digits of 8 x 8 pixels: 64 columns and few rows, a hard case for privacy.",
    columns=tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8)),
    lower=(0.0,) * 64,
    upper=(16.0,) * 64,
    bounds_origin="The format: each pixel counts the dark ones among 4 x 4 scanned dots, 0 to 16.",
    scaling="common",
    unit_of_privacy="one scanned digit (one row)",
    n_public=1_797,
    kind=FileKind.PUBLIC,
    source="E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits (UCI), bundled with scikit-learn.",
    licence="CC BY 4.0",
    label_column="label",
)

SAMPLES: tuple[Sample, ...] = (
    *_file_samples(),
    _made("thermometers", 2, thermometers, thermometers_sidecar),
    _made("mixture64", 64, gaussian_mixture, gaussian_mixture_sidecar),
    _made("words", 5, bag_of_words, bag_of_words_sidecar),
    Sample("digits", _DIGITS.title, _DIGITS.description, 10, _load_digits),
)
