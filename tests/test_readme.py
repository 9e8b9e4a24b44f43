"""What the README and the pages of how-to show is true: examples run, commands are understood, links lead somewhere."""

import doctest
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import distributed
import duckdb
import pandas as pd
import pytest
import yaml

import dpviz
from dpviz.algorithms.registry import CARDS
from dpviz.api.console import read_arguments
from dpviz.app.lessons.facts import FACTS, Computed, list_refusals, list_wrong_says
from dpviz.app.lessons.reading import PARTS, TABLES, read_lesson
from experiments.__main__ import make_parser
from tests.cases import about
from tests.command_line import call, told_by

ROOT = Path(__file__).resolve().parents[1]
README, CONTRIBUTING, CHANGELOG, SECURITY, CONDUCT, SUPPORT = (
    (ROOT / f"{name}.md").read_text("utf-8")
    for name in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY", "CODE_OF_CONDUCT", "SUPPORT")
)
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
# The pages that show what to type; what else stands in docs/ has tests of its own.
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in (ROOT / "README.md", ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "howto").glob("*.md")))
}
BLOCKS = {
    name: re.findall(r"^```([\w{}]*)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL) for name, text in PAGES.items()
}
_SHOWN = "".join(text for blocks in BLOCKS.values() for _, text in blocks)
COMMANDS = list(
    dict.fromkeys(
        [
            *re.findall(r"^(?:python -m )?dpviz (.+)$", _SHOWN, flags=re.MULTILINE),
            *re.findall(r"`(?:python -m )?dpviz ([a-z]+(?: [^`]+)?)`", "".join(PAGES.values()) + CONTRIBUTING),
        ]
    )
)
# They build on each other: one test walks all of them.
WALK = BLOCKS["docs/howto/release.md"][0][1]
# A minute and more: those run on every core for a while.
LARGE = "run rows."
LONG = ("audit", "sweep", "open")
DATABASE = "crm.duckdb"


@pytest.mark.parametrize(
    "name", [name for name, blocks in BLOCKS.items() if any(kind == "pycon" for kind, _ in blocks)]
)
def test_every_example_in_python_says_what_it_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    examples = "".join(text for language, text in BLOCKS[name] if language == "pycon")
    assert examples.count(">>>") > 4
    test = doctest.DocTestParser().get_doctest(examples, {}, name, name, 0)
    told: list[str] = []
    doctest.DocTestRunner().run(test, out=told.append)
    assert not told, "".join(told)


def test_no_example_is_without_a_test() -> None:
    assert not [name for name, blocks in BLOCKS.items() for language, _ in blocks if language == "python"]


def test_every_command_is_understood() -> None:
    for command in COMMANDS:
        with about(command):
            assert read_arguments(_words(command)).command == command.split()[0]


def test_every_command_of_the_papers_is_understood() -> None:
    shown = re.findall(r"python -m experiments ([^`\n]+)", "".join(PAGES.values()) + CONTRIBUTING)
    assert len(shown) > 2
    for command in shown:
        with about(command):
            asked = make_parser().parse_args(_words(command))
            assert asked.out or asked.list


@pytest.mark.parametrize(
    "command",
    [
        one
        for one in COMMANDS
        if not one.startswith((*LONG, LARGE)) and "FILE" not in one and "://" not in one and one not in WALK
    ],
)
def test_every_quick_command_does_what_it_is_shown_for(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    said = call(capsys, *_words(command))
    assert said.code == 0, said.err
    assert said.out


@pytest.mark.slow
def test_the_walk_from_a_private_csv_to_a_release_that_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twelve commands; between the second and the third the owner edits the declaration."""
    commands = WALK.strip().splitlines()
    assert len(commands) == 12
    monkeypatch.chdir(tmp_path)
    for command in commands:
        with about(command):
            match shlex.split(command):
                case ["cp", there, here]:
                    shutil.copy(ROOT / there, here)
                case ["unzip", "-q", archive, "-d", folder]:  # not on every machine
                    with zipfile.ZipFile(archive) as files:
                        files.extractall(folder)
                case ["python", "-m", "dpviz", *words]:
                    said = told_by(*words)
                    assert said.code == 0, said.err
                case ["python", *words]:
                    subprocess.run([sys.executable, *words], check=True, capture_output=True)
                case words:
                    raise AssertionError(words)
        if " declare " in command:
            _complete(tmp_path / "people.json")
    assert said.json["holds"]
    assert len((tmp_path / "segments.csv").read_text().splitlines()) == 12_001


def _complete(declaration: Path) -> None:
    """What the owner knows: bounds, and where they come from."""
    said = json.loads(declaration.read_text("utf-8"))
    known = json.loads((ROOT / "sample_data" / "people.json").read_text("utf-8"))
    said |= {"bounds": {name: known["bounds"][name] for name in said["bounds"]}, "bounds_origin": "the questionnaire"}
    declaration.write_text(json.dumps(said), encoding="utf-8")


@pytest.mark.slow
def test_a_table_beyond_memory_or_on_a_cluster_gives_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The three commands on a small table: as it fits, as if it did not, and by the workers of a cluster."""
    table = pd.read_csv(ROOT / "sample_data" / "fifteen.csv")[["x", "y"]]
    table.to_csv(tmp_path / "rows.csv", index=False)
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=700)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpviz.tables.arrow_intake._MOST_BYTES", 100)
    monkeypatch.setattr("dpviz.tables.csv_intake.MAX_BYTES", 1000)
    said = []
    # Workers in this process: that they may be other ones is tried where rows are dealt out.
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "protocol": "tcp://"}
    with distributed.LocalCluster(**workers, dashboard_address=None) as cluster:
        for command in (one for one in COMMANDS if one.startswith(LARGE)):
            there = command.replace("tcp://127.0.0.1:8786", cluster.scheduler_address)
            said.append(call(capsys, *_words(there), "--seed", "1", "--json"))
            assert said[-1].code == 0, said[-1].err
        distributed.get_client().close()
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    said.append(call(capsys, *_words(command.split(" --cluster")[0]), "--seed", "1", "--json"))
    assert len(said) == 4
    assert len({json.dumps(json.loads(one.out)["released"]) for one in said}) == 1


@pytest.mark.slow
def test_a_table_of_a_database_is_run_declared_and_released(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The three commands, in their order: between the second and the third the owner edits the declaration."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect(DATABASE) as connection:
        connection.execute(f"CREATE TABLE customers AS SELECT x, y FROM '{ROOT}/sample_data/fifteen.csv'")
    assert call(capsys, "account", "new", "crm.sqlite", "--name", "crm", "--cap-epsilon", "2").code == 0
    commands = [one for one in COMMANDS if DATABASE in one]
    assert [command.split()[0] for command in commands] == ["run", "declare", "release"]
    for command in commands:
        with about(command):
            said = call(capsys, *_words(command), *(["--yes"] if command.startswith("release") else []))
            assert said.code == 0, said.err
        if command.startswith("declare"):
            declared = json.loads(Path("customers.json").read_text("utf-8"))
            bounds = {"x": [0, 1000], "y": [0, 1000]}
            Path("customers.json").write_text(json.dumps(declared | {"bounds": bounds, "bounds_origin": "by design"}))
    assert call(capsys, "verify", "release.zip").code == 0


def test_the_lesson_that_is_shown_can_be_given_and_the_vocabulary_is_whole(tmp_path: Path) -> None:
    page = "docs/howto/lessons.md"
    (shown,) = (text for language, text in BLOCKS[page] if language == "yaml")
    (tmp_path / "more-people.yaml").write_text(shown, encoding="utf-8")
    lesson = read_lesson(tmp_path / "more-people.yaml")
    computed = Computed.open_subject(lesson.sample)
    assert not list_refusals(lesson)
    assert not [sentence for scene in lesson.scenes for sentence in list_wrong_says(scene, computed)]
    told = " ".join(PAGES[page].split())
    missing = [word for word in (*FACTS, *TABLES, *PARTS) if word not in told]
    assert not missing


def _words(command: str) -> list[str]:
    return shlex.split(command.replace("[", "").replace("]", ""))


def test_links_and_pictures_of_the_documents_are_there() -> None:
    for text in (README, CONTRIBUTING, CHANGELOG, SECURITY, CONDUCT, SUPPORT):
        places = re.findall(r"\]\(([^)#]+)\)", text)
        assert all((ROOT / place).exists() for place in places if not place.startswith("http")), places


def test_the_version_is_the_same_everywhere() -> None:
    """The build reads it where ``dpviz`` says it; what cannot read it there repeats it."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" in told["project"]["dynamic"] and told["tool"]["hatch"]["version"]["path"] == "dpviz/__init__.py"
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text("utf-8"))
    (latest, *_) = re.findall(r"^## \[(.+?)\]", CHANGELOG, flags=re.MULTILINE)
    assert {recipe["context"]["version"], CITATION["version"], latest} == {dpviz.__version__}


def test_every_figure_of_the_comparison_and_of_the_paper_has_a_command() -> None:
    """Each row of figures names one; whatever is named can be run; the paper cites each of its references."""
    figures = (ROOT / "docs" / "compare.md").read_text("utf-8").split("## Figures")[1]
    rows = [line.split(" | ") for line in figures.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 6
    assert all(row[-1].startswith(("`python -m ", "the same")) for row in rows)
    paper = (ROOT / "paper.md").read_text("utf-8")
    commands = re.findall(r"`python -m ([\w.]+)([^`]*)`", figures + paper)
    assert len(commands) > 10
    for module, words in commands:
        with about(module):
            place = ROOT / module.replace(".", "/")
            assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file()
            if module == "dpviz":
                assert read_arguments(shlex.split(words)).command
    keys = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper.bib").read_text("utf-8"), flags=re.MULTILINE))
    assert keys == set(re.findall(r"@(\w+)", paper.partition("\n---\n")[2]))
    assert {"Summary", "Statement of need", "State of the field", "References"} <= set(
        re.findall(r"^# (.+)$", paper, flags=re.MULTILINE)
    )


def test_a_newcomer_reads_of_a_version_in_twenty_lines() -> None:
    opening = CHANGELOG.split("\n## ")[1].split("\n### ")[0].splitlines()[1:]
    assert len([line for line in opening if line]) <= 20
    assert "What a release made by this version promises:" in opening


def test_every_paper_of_a_card_is_cited() -> None:
    titles = [reference["title"] for reference in CITATION["references"]]
    for card in CARDS.values():
        assert card.id == "auto" or any(title in card.paper for title in titles), card.paper
    assert CITATION["license"] == "MIT"


def test_the_commands_for_contributors_are_those_of_the_clean_check() -> None:
    """Whoever follows CONTRIBUTING meets no surprise afterwards."""
    lines = [line.strip() for line in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()]
    checked = [line for line in lines if line.startswith(("ruff", "mypy", "python -m docs"))]
    assert len(checked) == 4 and [command for command in checked if command not in CONTRIBUTING] == []


def test_the_checks_before_a_commit_are_those_of_the_clean_check() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    checked = (ROOT / ".ci" / "run").read_text("utf-8")
    assert next(one["entry"] for one in hooks if one["id"] == "mypy") in checked
    assert {one["id"] for one in hooks} >= {"ruff", "ruff-format", "mypy"}
    hosted = yaml.safe_load((ROOT / ".github" / "workflows" / "checks.yml").read_text("utf-8"))
    assert any(step.get("run") == "bash .ci/run" for step in hosted["jobs"]["checks"]["steps"])


def test_the_readme_fits_three_screens_and_shows_the_two_commands_first() -> None:
    assert len(README.splitlines()) <= 90
    first, second = README.split("```")[1].strip().splitlines()
    assert first == "pip install -r requirements.txt && streamlit run app.py"
    assert second == "pip install -r requirements.txt -r tests/requirements.txt && python -m pytest"
