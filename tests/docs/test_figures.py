"""Figures of the documents are those of the code, of a stored result, or of the table that they speak of."""

import pytest

from benchmarks import database, intake
from benchmarks.fuzzing import judge
from dpviz.algorithms.registry import list_private_cards
from dpviz.app.ui.data import table_link
from dpviz.core.accounting import Accounting
from dpviz.core.mechanisms import Laplace
from dpviz.core.revealed_rows import MOST_SAMPLED
from dpviz.releases import smallest_groups, transcript
from dpviz.releases.tallies import DRAWS
from dpviz.tables import proposal
from dpviz.tables.csv_intake import LONGEST_LINE
from dpviz.words import foreign
from dpviz.words.questions import read_questions
from experiments import redraw
from experiments.registry import CLAIMS
from tests.house_rules import ROOT

_WORDS = {8: "eight", 12: "twelve", 13: "thirteen", 14: "fourteen", 18: "eighteen"}
ALGORITHMS = _WORDS[len(list_private_cards())]
ROOMS = _WORDS[len([*(ROOT / "dpviz").glob("*/__init__.pyi")])]
EXAMPLE = "examples/dpviz-honest/dpviz_honest/__init__.py"
LINES = len((ROOT / EXAMPLE).read_text("utf-8").splitlines())


def _megabytes(size: float) -> str:
    return f"{size / 1e6:g} MB"


SAID = {
    "README.md": [f"{ALGORITHMS} private algorithms and k-means++ for comparison"],
    "paper.md": [f"{ALGORITHMS} private clustering algorithms"],
    "CHANGELOG.md": [
        f"{ALGORITHMS} private algorithms, each with its paper",
        f"{_WORDS[len(read_questions())]} questions about a release are answered",
        f"the package has {ROOMS} rooms",
        f"({Laplace(1.0, 1.0).cost(Accounting.ZCDP):.3f} in place of 0.5 at ε = 1)",
        f"`draws.csv` holds {DRAWS} versions",
        f"(transcripts have format {transcript._FORMAT})",
        f"so many rows in {100 * smallest_groups.SURE:g} of 100 releases",
        f"the likeliest {_WORDS[proposal.MOST_CHOSEN]} are chosen",
    ],
    "docs/architecture.md": [f"## {ROOMS} rooms, a door each", f"| {ALGORITHMS} methods, a file each"],
    "docs/compare.md": [f"| {ALGORITHMS} private algorithms |", f"(above {database.MOST_MEGABYTES} it fails)"],
    "docs/howto/algorithms.md": [f"`{EXAMPLE}` is a whole one in {LINES} lines"],
    "docs/howto/large.md": [
        f"a CSV file beyond {_megabytes(foreign.CSV.most_bytes)} is read in pieces",
        f"Parquet of more than {_megabytes(foreign.PARQUET.most_bytes)}",
        f"a fair sample of {MOST_SAMPLED:,}",
        f"need less than {database.MOST_MEGABYTES} MB",
    ],
    "docs/howto/release.md": [f"so many rows at least in {100 * smallest_groups.SURE:g} of 100 releases"],
    "docs/howto/reproduce.md": [
        f"{_WORDS[len(CLAIMS)]} groups of claims",
        f"nine in ten of {redraw.DRAWS} tables",
        f"numpy's PCG64, seed {redraw.SEED}",
        f"up to {2 ** (redraw.LOOKS - 1):,} times as often, in at most {_WORDS[redraw.LOOKS]} looks",
        f"leaves out a two-hundredth of {redraw.PATH_DRAWS} tables",
    ],
    "docs/limits.md": [
        f"a public file above {_megabytes(table_link._MOST_AT_ONCE)} waits for a press",
        f"that of {MOST_SAMPLED:,} rows that stand for all",
    ],
    "docs/reference/draws.md": [
        f"`draws.csv` holds {DRAWS} versions",
        f"taken off it, {DRAWS // 2} times; {DRAWS // 2} mirror images",
    ],
    "docs/reference/formats.md": [
        f"a line of more than {LONGEST_LINE >> 20} MB is a record without values",
        f"read part by part beyond {_megabytes(foreign.PARQUET.most_bytes)}",
        f"at most {_megabytes(foreign.DECLARATION.most_bytes)}. Everything in it is public",
    ],
    "docs/reference/measuring.md": [
        f"exits with 1 above {database.MOST_MEGABYTES} MB",
        f"more than {intake.MOST:g} times as long",
        f"under {judge.SECONDS:g} s and {judge.MEGABYTES / 1000:g} GB",
    ],
}


def _read(page: str) -> str:
    return " ".join((ROOT / page).read_text("utf-8").split())


@pytest.mark.parametrize("page", SAID)
def test_a_figure_is_that_of_the_code(page: str) -> None:
    text = _read(page).casefold()
    assert [said for said in SAID[page] if " ".join(said.split()).casefold() not in text] == []
