"""What the site says of the code is there: proofs name their tests, walks name files, formats name every key."""

import ast
import re
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from docs.generators import api_pages, command_pages, documents, glossary_page, key_pages, notebooks, question_page
from docs.generators.links import list_broken_links
from docs.generators.run_document import RunDocument
from dpviz import advise
from dpviz.algorithms.registry import CARDS
from dpviz.api.console import COMMANDS
from dpviz.core.check import RequestError
from dpviz.releases.package import IN_ORDER
from dpviz.tables.declarations import apply_declaration
from dpviz.tables.loaded_table import IntakeError
from dpviz.words.documents import read_document
from dpviz.words.glossary import read_glossary
from dpviz.words.questions import read_questions
from tests.cases import about
from tests.command_line import call

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_RUN = ("run", "fifteen", "--algorithm", "eugkm", "--k", "2", "--epsilon", "1", "--seed", "1", "--json", "--evaluate")
PROOFS = sorted(path for path in (DOCS / "proofs").glob("*.md") if path.stem != "index")


def test_every_proof_has_a_theorem_and_names_the_tests_that_try_to_break_it() -> None:
    assert len(PROOFS) >= 8
    for path in PROOFS:
        with about(path.name):
            text = path.read_text("utf-8")
            headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
            assert headings == ["Theorem", "Proof", "The test that tries to break it", "References"]
            named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
            assert len(named) >= 4
            for file, test in named:
                assert _is_made(ast.parse((ROOT / file).read_text("utf-8")).body, [test]), f"{file}::{test}"


_ABOUT = re.compile(r"`([\w/]+\.py)`(?:\s\(([^)]+)\))?")


def _list_code(path: Path) -> list[tuple[Path, list[str]]]:
    """The files that a proof is about, each with its functions; a folder is that of the first one, if none is said."""
    (said,) = re.findall(r"^Code: (.+?)\n\n", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    named = [(Path(file), re.findall(r"`([\w.]+)`", functions)) for file, functions in _ABOUT.findall(said)]
    folder = named[0][0].parent
    return [(ROOT / (file if file.parts[0] == "dpviz" else folder / file), functions) for file, functions in named]


def test_code_that_a_proof_is_about_is_where_it_says_and_names_it_in_place_of_a_proof_of_its_own() -> None:
    for path in PROOFS:
        named = _list_code(path)
        assert sum(bool(functions) for _, functions in named) >= 1, f"{path.name} names no function"
        for file, functions in named:
            tree = ast.parse(file.read_text("utf-8"))
            assert f"docs/proofs/{path.name}" in (ast.get_docstring(tree) or ""), file.name
            moved = [name for name in functions if not _is_made(tree.body, name.split("."))]
            assert not moved, f"{path.name} is about {moved}, which {file.name} does not make any more"


def _is_made(body: list[ast.stmt], name: list[str]) -> bool:
    """Whether a function, or one of a class, is made here and not elsewhere."""
    made = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name[0]]
    return any(not name[1:] or (isinstance(node, ast.ClassDef) and _is_made(node.body, name[1:])) for node in made)


@pytest.mark.parametrize(
    "page", ["architecture.md", *(f"proofs/{path.name}" for path in PROOFS), "howto/algorithms.md"]
)
def test_every_file_that_a_page_names_is_there(page: str) -> None:
    named = re.findall(r"`((?:[\w-]+/)*[\w]+\.(?:py|yaml|js))`", (DOCS / page).read_text("utf-8"))
    assert named and not [one for one in named if not _is_there(one)]


def _is_there(named: str) -> bool:
    """Beside the root, in the package, or in any folder of it where only a file's name is given."""
    return (ROOT / named).exists() or (ROOT / "dpviz" / named).exists() or any((ROOT / "dpviz").rglob(named))


def test_the_formats_name_every_key(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    pages = (DOCS / "reference" / "formats.md").read_text("utf-8") + "".join(key_pages.make_pages(ROOT).values())
    told = set(re.findall(r"`\"?([\w.]+)\"?`", pages))
    for wrong in ('{"no such key": 1}', '{"file": {"no such key": 1}}', '{"release": {"no such key": 1}}'):
        with pytest.raises(IntakeError) as refused:
            apply_declaration(wrong)
        allowed = re.findall(r'"([\w]+)"', str(refused.value).split("allowed are")[1])
        assert len(allowed) > 10 and not sorted(set(allowed) - told)
    run = call(capsys, *_RUN).json
    read_document(RunDocument, run, RequestError)
    keys = {*run, *run["released"], *run["ledger"]}
    assert not sorted(keys - {"format"} - told) and not sorted({*IN_ORDER} - told)


def test_generated_pages_are_whole() -> None:
    (commands,) = command_pages.make_pages(ROOT).values()
    assert all(f"\n## dpviz {name}\n" in commands for name in COMMANDS)
    assert "--cap-epsilon" in commands and "%(default)s" not in commands
    (asked,) = question_page.make_pages(ROOT).values()
    assert asked.count("\n## ") == len(read_questions()) and all(one.says in asked for one in read_questions())
    (words,) = glossary_page.make_pages(ROOT).values()
    assert all(f"{{#{term.id}}}" in words for term in read_glossary().values())
    papers = {f"{name}.md" for name in ("changelog", "conduct", "contributing", "security", "support")}
    assert set(documents.make_pages(ROOT)) == papers
    listed = (DOCS / "algorithms" / "index.md").read_text("utf-8")
    assert all(f"| [`{name}`]({name}.md) |" in listed or f"| [`{name}`]({name}.md) (" in listed for name in CARDS)


@pytest.mark.slow
def test_every_public_function_is_in_the_reference() -> None:
    text = "".join(api_pages.make_pages(ROOT).values())
    places = set(re.findall(r'id="([\w.]+)"', text))
    missing = [
        f"{module}.{name}"
        for path in sorted((ROOT / "dpviz").rglob("*.py"))
        for module in [path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")]
        for name in _public(ast.parse(path.read_text("utf-8")))
        if f"{module}.{name}" not in places
    ]
    assert len(places) > 2000
    assert "<strong>Guarantee.</strong>" in text and "**Guarantee" not in text
    assert not missing


def _public(tree: ast.Module | ast.ClassDef, inside: str = "") -> list[str]:
    """Names of public functions, classes and methods of a module."""
    names = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            names.append(f"{inside}{node.name}")
            if isinstance(node, ast.ClassDef):
                names += _public(node, f"{inside}{node.name}.")
    return names


def test_examples_are_the_tutorials_as_they_ran() -> None:
    """If a tutorial has changed: python -m docs.generators.notebooks"""
    for path in (DOCS / "tutorials").glob("*.ipynb"):
        ran, written = (nbformat.read(one, as_version=4) for one in (ROOT / "examples" / path.name, path))
        notebooks.fit_for_examples(written)
        assert [cell.source for cell in ran.cells] == [cell.source for cell in written.cells]
        code = [cell for cell in ran.cells if cell.cell_type == "code"]
        assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
        outputs = [output for cell in code for output in cell.outputs]
        assert outputs and not any("<iframe" in str(output) or output.output_type == "error" for output in outputs)
        targets = re.findall(r"\]\((\.\./[^)#]+)", "".join(cell.source for cell in ran.cells))
        assert all((ROOT / "examples" / target).exists() for target in targets)


def test_what_the_examples_say_of_stored_results_is_what_these_say_now() -> None:
    """If a stored study or verdict has changed: python -m docs.generators.notebooks"""
    counts = str(pd.read_csv(DOCS / "reproduced" / "verdicts.csv").groupby("verdict").size()).splitlines()[1:-1]
    said = [advise(n=12_000, d=6, k=5, delta=1e-6, target=1.1).sentence, *counts]
    told = "".join(path.read_text("utf-8") for path in (ROOT / "examples").glob("*.ipynb"))
    assert not [line for line in said if line not in told]


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<h1 id="top">A</h1><a href="b.html#here">b</a><img src="dot.png">', "utf-8")
    (tmp_path / "b.html").write_text(
        '<p id="here">B</p><a href="a.html#top">a</a><a href="https://x.org">x</a>', "utf-8"
    )
    (tmp_path / "dot.png").write_bytes(b"")
    assert not list_broken_links(tmp_path)
    (tmp_path / "c.html").write_text(
        '<a href="d.html">d</a><a href="a.html#there">a</a><script src="https://x.org/a.js"></script>', "utf-8"
    )
    assert list_broken_links(tmp_path) == [
        "c.html: fetches https://x.org/a.js",
        "c.html: d.html",
        "c.html: a.html#there has no such place",
    ]
