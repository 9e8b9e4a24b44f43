"""Every door by which something comes in or goes out: who reads there, how much, and which errors damage may raise.

Readers take their limits and expected errors from here, the fuzz judges by it, ``docs/limits.md`` prints it, and a rule
of the house finds whoever opens or parses a file and is not named.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Door:
    """One way in or out.

    Attributes
    ----------
    name : str
        What a sentence calls that which comes through.
    readers : tuple of str
        The modules that may open or parse it, below ``dpviz/`` or in ``experiments/``.
    damage : tuple of str
        Full names of the errors that a damaged one may raise in a library; any other is a defect of ours.
    most_bytes, most_unpacked, most_lines, most_cells : int
        As it is given, and after it was unpacked; 0 where it has no such size, or none is set. A cell of text counts
        as eight, because that is what memory makes of it.
    smaller : str
        What to do where memory runs out.
    """

    name: str
    readers: tuple[str, ...]
    damage: tuple[str, ...] = ()
    most_bytes: int = 0
    most_unpacked: int = 0
    most_lines: int = 0
    most_cells: int = 0
    smaller: str = "give a smaller one"

    def expects(self, error: BaseException) -> bool:
        """Whether damage may raise this."""
        return any(_name_type(kind) in self.damage for kind in type(error).__mro__)

    def holds_cells(self, given_bytes: int, cells: int) -> bool:
        """Whether so many cells are read of so many bytes as they were given.

        A table has a byte or so for a cell; what promises far more of them than its size is packed to fill memory, or
        has short lines under a long header.
        """
        in_proportion = max(_CELLS_OF_ANY_FILE, _CELLS_A_BYTE * given_bytes)
        return cells <= min(in_proportion, self.most_cells or in_proportion)


# Measured on a run of DPLloyd: reading and preparing a cell takes some forty to sixty bytes at the peak.
_CELLS_OF_ANY_FILE, _CELLS_A_BYTE = 8_000_000, 8
OF_TEXT = 8
"""So many numbers a cell of text weighs in memory."""


def _name_type(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


_FEWER = "keep fewer rows or only the columns that you need, or use a machine with more"
# The last two: NumPy reads the head of an array as a line of Python.
_ARCHIVE = (
    *("zipfile.BadZipFile", "zlib.error", "EOFError", "NotImplementedError", "struct.error", "KeyError"),
    *("SyntaxError", "tokenize.TokenError"),
)
_ARROW = ("pyarrow.lib.ArrowException", "OSError")
_TEXT = ("UnicodeError",)

CSV = Door(
    "CSV file",
    ("tables/csv_intake.py",),
    (*_TEXT, "_csv.Error"),
    most_bytes=200_000_000,  # as much as the server of the pages takes: .streamlit/config.toml
    most_lines=20_000_000,
    most_cells=50_000_000,
    smaller=_FEWER,
)
GZIP = Door(
    "gzip file",
    ("tables/csv_intake.py",),
    ("EOFError", "zlib.error", "gzip.BadGzipFile", *CSV.damage),
    most_bytes=200_000_000,
    most_unpacked=200_000_000,
    most_lines=20_000_000,
    most_cells=50_000_000,
    smaller=_FEWER,
)
PARQUET = Door(
    "Parquet file",
    ("tables/arrow_intake.py",),
    (*_ARROW, *_TEXT, "ValueError"),
    most_bytes=100_000_000,  # in memory: what is larger is read a piece at a time
    most_unpacked=1_000_000_000,
    most_cells=50_000_000,
    smaller=_FEWER,
)
DATABASE = Door("database", ("tables/duckdb_intake.py",), ("_duckdb.Error", *_ARROW, *_TEXT), smaller=_FEWER)
SPARK = Door("table of Spark", ("tables/spark_intake.py",), ("Exception",), smaller=_FEWER)
SPARSE = Door(
    "sparse matrix",
    ("tables/sparse_intake.py",),
    (*_ARCHIVE, *_TEXT, "ValueError", "RuntimeError", "TypeError"),
    most_bytes=600_000_000,
    most_unpacked=600_000_000,
    most_cells=75_000_000,
    smaller=_FEWER,
)
RELEASE = Door(
    "zip of a release",
    ("releases/package.py", "releases/verifying.py"),
    (*_ARCHIVE, *_TEXT, "ValueError", "RuntimeError", "OSError"),
    most_bytes=100_000_000,
    most_unpacked=100_000_000,
)
TRANSCRIPT = Door(
    "transcript",
    ("releases/transcript.py",),
    (*RELEASE.damage, "TypeError", "AttributeError", "OverflowError"),  # other values where a dict or a number was
    most_bytes=100_000_000,
    most_unpacked=100_000_000,
)
ACCOUNT = Door("account", ("releases/account.py", "releases/account_file.py"), ("sqlite3.Error",))
DECLARATION = Door(
    "declaration",
    ("tables/declarations.py",),
    ("json.decoder.JSONDecodeError", *_TEXT),
    most_bytes=1_000_000,
)
LESSON = Door("lesson", ("app/lessons/reading.py",), _TEXT, most_bytes=100_000)
STUDY_FILE = Door("file of a study", ("runs/study/grid.py",), most_bytes=20_000)
STUDY_FOLDER = Door(
    "folder of a study",
    ("runs/study/folder.py",),
    ("ValueError", "OverflowError", "TypeError", "_csv.Error"),  # a cell that is not there is no text
    most_bytes=10_000_000,  # of its manifest
)
EXPERIMENTS = Door(
    "folder of reproduced claims",
    ("experiments/claim_folder.py", "experiments/stored_results.py", "app/charts/studies/stored_verdicts.py"),
    ("ValueError", "KeyError", "TypeError"),
    most_bytes=100_000_000,  # of each table
)
LINK = Door("link", ("app/ui/data/table_link.py", "tables/drawings.py"), most_bytes=20_000)
NOTEBOOK = Door("table of a notebook", ("tables/given_rows.py",), smaller=_FEWER)
PLUG_IN = Door("package of an algorithm", ("algorithms/plugins.py",), ("Exception",))
_NO_SUCH_KEY = "cryptography.exceptions.UnsupportedAlgorithm"
KEY = Door("key file", ("releases/signature.py",), ("ValueError", "TypeError", _NO_SUCH_KEY), most_bytes=65_536)
STDOUT = Door("output", ("__main__.py", "runs/owner_files.py"), ("OSError",))
OURS = Door(
    "file of dpviz itself, or the answer of a process of its own",
    (
        *(
            "words/foreign.py",
            "words/glossary.py",
            "words/questions.py",
            "words/wording.py",
            "algorithms/card.py",
            "algorithms/auto/auto.py",
        ),
        *("tables/file_format.py", "tables/owner_words.py"),
        *("runs/advice/advice.py", "runs/sample_curves.py", "runs/worker.py", "runs/python_script.py"),
        "runs/audits/auditing.py",
        *(
            "releases/verifying.py",
            "releases/release_texts.py",
            "releases/release_request.py",
            "releases/release_sentences.py",
        ),
        *(
            "releases/render.py",
            "app/charts/deployments.py",
            "app/ui/bench/catalogue.py",
            "app/charts/player/player_page.py",
            "app/ui/bench/components.py",
        ),
        *("app/ui/reader.py", "app/ui/playground/board.py", "app/ui/release/released_panel.py"),
        *("experiments/google_coreset.py", "experiments/planner.py"),
    ),
)

DOORS = (
    *(CSV, GZIP, PARQUET, DATABASE, SPARK, SPARSE, RELEASE, TRANSCRIPT, ACCOUNT, DECLARATION, LESSON),
    *(STUDY_FILE, STUDY_FOLDER, EXPERIMENTS, LINK, NOTEBOOK, PLUG_IN, KEY, STDOUT, OURS),
)
"""All of them."""
